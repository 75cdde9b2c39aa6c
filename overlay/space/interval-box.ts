// What an interval of the curve looks like on the map: the smallest box around it and its share of the whole, for the
// tables that show owners, and the aligned squares it falls into. A run of the curve is connected, so its box never
// needs to cross +-180. Not for filtering: an interval is usually far from filling its box.

import type { Box } from './extent.ts'
import { curveLength, curveLevels, curvePoint } from './curve.ts'
import { columnEdge, rowEdge, type Space } from './space.ts'

/** An aligned square of cells: least column and row, and side. */
export interface Square { readonly column: number, readonly row: number, readonly side: number }

/** The fewest aligned squares that make up [low, high), in curve order; at most 6 a level. */
export function * squaresOf (low: number, high: number, levels = curveLevels): Generator<Square, void, undefined> {
  checkInterval(low, high, levels)
  let at = low
  while (at < high) {
    let side = 1
    while (at % (4 * side * side) === 0 && at + 4 * side * side <= high) side *= 2
    const { column, row } = curvePoint(at, levels)
    yield { column: column - column % side, row: row - row % side, side }
    at += side * side
  }
}

/** The smallest box that holds the cells of [low, high); undefined for an empty interval. */
export function boxOfInterval (space: Space, low: number, high: number, levels = curveLevels): Box | undefined {
  let west = Infinity
  let south = Infinity
  let east = -Infinity
  let north = -Infinity
  for (const { column, row, side } of squaresOf(low, high, levels)) {
    west = Math.min(west, column)
    south = Math.min(south, row)
    east = Math.max(east, column + side)
    north = Math.max(north, row + side)
  }
  if (east < west) return undefined
  return {
    kind: 'box',
    west: columnEdge(space, west, levels),
    south: rowEdge(space, south, levels),
    east: columnEdge(space, east, levels),
    north: rowEdge(space, north, levels)
  }
}

/** Share of the curve, and so of the space, that [low, high) holds: 0 to 1. */
export function shareOfInterval (low: number, high: number, levels = curveLevels): number {
  checkInterval(low, high, levels)
  return (high - low) / curveLength(levels)
}

function checkInterval (low: number, high: number, levels: number): void {
  if (!(Number.isInteger(low) && Number.isInteger(high) && low >= 0 && low <= high && high <= curveLength(levels))) {
    throw new RangeError(`[${low}, ${high}) is no interval of a curve of ${curveLength(levels)} cells`)
  }
}
