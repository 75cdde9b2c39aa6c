// The cover of an extent: the few intervals of the curve that hold every point of it (and some beside it, which the exact
// filter drops). Walking the owners of an extent needs no list: start at next(0), go on at next(high of that owner), so
// each overlapping owner is visited once, whatever the extent's size. The list is for a scan within one owner.
// A circle's exact cover would have millions of intervals, so intervals() stops at the depth where `cellsMax` is reached.

import { childQuadrant, childState, curveLength, curveLevels } from './curve.ts'
import type { Extent } from './extent.ts'
import type { Point } from './point.ts'
import { regionOf, type Region } from './region.ts'
import { nowhere, seek } from './seek.ts'
import type { Space } from './space.ts'

/** Cells of a cover. guess: finer covers cost more seeks in a store than the rows they leave out */
export const coverCellsMax = 256

/**
 * At most `cellsMax` cells (so at most as many intervals), at least 1; Infinity for the exact cover, made as it is read.
 * Only what lies in [low, high) of the curve, clipped; so an owner spends the cells on its own interval.
 */
export interface CoverOptions { readonly cellsMax?: number, readonly low?: number, readonly high?: number }

/** An interval of the curve, [low, high). */
export type CurveInterval = [low: number, high: number]

export interface PreparedExtent {
  readonly space: Space
  readonly extent: Extent
  /** The exact filter, on a checked point as given. */
  holds (point: Point): boolean
  /** First index ≥ `index` whose cell meets the extent. Beyond the curve's end there is none. */
  next (index: number): number | undefined
  /** Last index ≤ `index` whose cell meets the extent. */
  prev (index: number): number | undefined
  /** Ascending, disjoint, not adjacent; a superset of the extent. */
  intervals (options?: CoverOptions): Generator<CurveInterval, void, undefined>
}

/** An extent made ready to be asked many times; both arguments checked. `levels` is for tests on small curves. */
export function prepare (space: Space, extent: Extent, levels = curveLevels): PreparedExtent {
  const region = regionOf(space, extent, levels)
  const length = curveLength(levels)
  return {
    space,
    extent,
    holds: region.holds,
    next: index => {
      checkIndex(index, length)
      return index >= length ? undefined : placeOf(seek(region, Math.max(index, 0), levels, 1))
    },
    prev: index => {
      checkIndex(index, length)
      return index < 0 ? undefined : placeOf(seek(region, Math.min(index, length - 1), levels, -1))
    },
    intervals: ({ cellsMax = coverCellsMax, low = 0, high = length } = {}) => {
      if (!(cellsMax >= 1)) throw new RangeError(`cellsMax ${cellsMax} must be at least 1`)
      if (!(low >= 0 && low <= high && high <= length)) throw new RangeError(`[${low}, ${high}) is no interval of a curve of ${length} cells`)
      const part: Part = { region, levels, low, high }
      return joined(cells(part, depthFor(part, cellsMax)))
    }
  }
}

/** Ascending disjoint intervals of the curve that hold every point of an extent; see PreparedExtent.intervals. */
export function coverExtent (space: Space, extent: Extent, options: CoverOptions = {}): Generator<CurveInterval, void, undefined> {
  return prepare(space, extent).intervals(options)
}

/** First index ≥ `index` whose cell meets the extent. */
export function nextInside (space: Space, extent: Extent, index: number): number | undefined {
  return prepare(space, extent).next(index)
}

/** Last index ≤ `index` whose cell meets the extent. */
export function prevInside (space: Space, extent: Extent, index: number): number | undefined {
  return prepare(space, extent).prev(index)
}

/** One before and one after the curve are allowed: they are what `low - 1` and `high` may be. */
function checkIndex (index: number, length: number): void {
  if (!(index >= -1 && index <= length && Number.isInteger(index))) throw new RangeError(`curve index ${index} is not an integer in [-1, ${length}]`)
}

function placeOf (index: number): number | undefined {
  return index === nowhere ? undefined : index
}

/** The part of the curve that is covered. */
interface Part { readonly region: Region, readonly levels: number, readonly low: number, readonly high: number }

/** The greatest depth at which a cover has at most `cellsMax` cells. */
function depthFor (part: Part, cellsMax: number): number {
  if (cellsMax === Infinity) return part.levels
  for (let depth = 1; depth <= part.levels; depth++) {
    const source = cells(part, depth)
    let count = 0
    while (count <= cellsMax && source.next().done !== true) count++
    if (count > cellsMax) return depth - 1
  }
  return part.levels
}

/** Joins cells that touch on the curve. */
function * joined (source: Iterable<CurveInterval>): Generator<CurveInterval, void, undefined> {
  let open: CurveInterval | undefined
  for (const [low, high] of source) {
    if (open !== undefined && open[1] === low) {
      open[1] = high
      continue
    }
    if (open !== undefined) yield open
    open = [low, high]
  }
  if (open !== undefined) yield open
}

/** The cells that meet, in curve order: whole ones as large as they come, others at `depthMax`. Depth first, own stack. */
function * cells ({ region, levels, low, high }: Part, depthMax: number): Generator<CurveInterval, void, undefined> {
  if (low === high || !region.meets(0, 0, 1 << levels)) return
  if (depthMax === 0 || region.within(0, 0, 1 << levels)) {
    yield [low, high]
    return
  }
  const children = new Int8Array(depthMax + 1)
  const states = new Uint8Array(depthMax + 1)
  const columns = new Int32Array(depthMax + 1)
  const rows = new Int32Array(depthMax + 1)
  const starts = new Float64Array(depthMax + 1)
  let depth = 0
  while (depth >= 0) {
    const child = children[depth] as number
    if (child === 4) {
      depth--
      continue
    }
    children[depth] = child + 1
    const side = 1 << (levels - depth - 1)
    const at = (states[depth] as number) * 4 + child
    const quadrant = childQuadrant[at] as number
    const column = (columns[depth] as number) + (quadrant >> 1) * side
    const row = (rows[depth] as number) + (quadrant & 1) * side
    const start = (starts[depth] as number) + child * side * side
    const end = start + side * side
    if (end <= low || start >= high || !region.meets(column, row, side)) continue
    if (depth + 1 === depthMax || region.within(column, row, side)) {
      yield [Math.max(start, low), Math.min(end, high)]
      continue
    }
    depth++
    children[depth] = 0
    states[depth] = childState[at] as number
    columns[depth] = column
    rows[depth] = row
    starts[depth] = start
  }
}
