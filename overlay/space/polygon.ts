// A polygon: rings of straight edges, even-odd, edges inclusive, decided by an exact orientation. A point is inside if the
// meridian (or vertical) from it southwards crosses an odd number of edges; a ring's direction means nothing.
// A square of cells meets the polygon if an edge passes through it or its middle is inside. Not geodesic: see ring.ts.

import type { Polygon } from './extent.ts'
import { orientation } from './orientation.ts'
import type { Region } from './region.ts'
import { edgesOf, type Edge } from './ring.ts'
import { columnEdge, columnOf, indexedX, rowEdge, slackOf, type Space } from './space.ts'

/** Of the determinant of the side test in floating point. */
const sideErrorRelative = 16 * Number.EPSILON

export function polygonRegion (space: Space, polygon: Polygon, levels: number): Region {
  const edges = polygon.rings.flatMap((ring, at) => edgesOf(space, ring, `rings[${at}]`))
  const span = spanOf(edges)
  const holdsXY = (x: number, y: number): boolean => {
    if (!(y >= span.south && y <= span.north)) return false
    if (space.kind === 'lonlat' && Math.abs(y) === 90) return true
    return evenOdd(edges, indexedX(space, x, y), y)
  }
  const touches = edgeTest(edges, span)
  const last = (1 << levels) - 1
  const pole = columnOf(space, 0, levels)
  const slack = slackOf(space)
  const square = { west: 0, south: 0, east: 0, north: 0 }
  const set = (column: number, row: number, side: number): void => {
    square.west = columnEdge(space, column, levels) - slack.x
    square.south = rowEdge(space, row, levels) - slack.y
    square.east = columnEdge(space, column + side, levels) + slack.x
    square.north = rowEdge(space, row + side, levels) + slack.y
  }
  const middleInside = (): boolean => holdsXY((square.west + square.east) / 2, (square.south + square.north) / 2)
  const holdsPole = (column: number, row: number, side: number): boolean => space.kind === 'lonlat' &&
    column <= pole && column + side > pole &&
    ((span.north === 90 && row + side > last) || (span.south === -90 && row === 0))
  return {
    holds: point => holdsXY(point[0], point[1]),
    meets: (column, row, side) => {
      if (holdsPole(column, row, side)) return true
      set(column, row, side)
      if (square.south > span.north || square.north < span.south) return false
      return touches(square) || middleInside()
    },
    within: (column, row, side) => {
      set(column, row, side)
      return !touches(square) && middleInside()
    }
  }
}

function spanOf (edges: readonly Edge[]): { south: number, north: number } {
  let south = Infinity
  let north = -Infinity
  for (const edge of edges) {
    south = Math.min(south, edge.westY, edge.eastY)
    north = Math.max(north, edge.westY, edge.eastY)
  }
  return { south, north }
}

/** Even-odd with inclusive edges; x as indexed (on the globe in [-180, 180)). */
function evenOdd (edges: readonly Edge[], x: number, y: number): boolean {
  let inside = false
  for (const edge of edges) {
    const { west, westY, east, eastY, turns } = edge
    if (y === eastY && x === edge.eastIndexed) return true
    if (west === east && turns === 0) {
      if (x === west && y >= Math.min(westY, eastY) && y <= Math.max(westY, eastY)) return true
      continue
    }
    const beyond = turns === 1 && x < west // x lies past +-180 on this edge
    if (beyond ? x >= east : x < west || (turns === 0 && x >= east)) continue
    if (y < westY && y < eastY) continue
    if (y > westY && y > eastY) {
      inside = !inside
      continue
    }
    const side = orientation(west, westY, east, eastY, turns, x, y, beyond ? 1 : 0)
    if (side === 0) return true
    if (side > 0) inside = !inside
  }
  return inside
}

interface Square { west: number, south: number, east: number, north: number }

/** Strips of latitude (or y) by which edges are looked up. guess */
const stripsCount = 64
/** Squares that reach over more strips than this look at all edges, each once. guess */
const stripsMax = 3

/** Tests whether any edge may pass through a square. */
function edgeTest (edges: readonly Edge[], span: { south: number, north: number }): (square: Square) => boolean {
  const numbers = new Float64Array(edges.length * 4)
  edges.forEach((edge, at) => numbers.set([edge.west, edge.westY, edge.east + 360 * edge.turns, edge.eastY], at * 4))
  // monotone, so what overlaps in latitude shares a strip
  const stripAt = (y: number): number => Math.max(0, Math.min(stripsCount - 1, Math.floor((y - span.south) / (span.north - span.south) * stripsCount)))
  const all = edges.map((_edge, at) => at * 4)
  const strips = Array.from({ length: stripsCount }, (): number[] => [])
  edges.forEach(({ westY, eastY }, at) => {
    for (let strip = stripAt(Math.min(westY, eastY)); strip <= stripAt(Math.max(westY, eastY)); strip++) strips[strip]?.push(at * 4)
  })
  // on the globe an edge that reaches 180 or passes it also lies at the west of the map
  const lifts = edges.some(edge => edge.turns === 1 || edge.eastIndexed !== edge.east) ? 2 : 1
  return square => {
    const first = stripAt(square.south)
    const last = stripAt(square.north)
    for (let lift = 0; lift < lifts; lift++) {
      if (last - first >= stripsMax) {
        if (anyMeets(numbers, all, square, lift * 360)) return true
        continue
      }
      for (let strip = first; strip <= last; strip++) if (anyMeets(numbers, strips[strip] as number[], square, lift * 360)) return true
    }
    return false
  }
}

/** Whether any of the listed edges may pass through a square moved east by `lift` degrees: bounds overlap, and the middle is no farther from the line than the square reaches. */
function anyMeets (numbers: Float64Array, list: readonly number[], square: Square, lift: number): boolean {
  const west = square.west + lift
  const east = square.east + lift
  const middleY = (square.south + square.north) / 2
  const halfY = square.north - middleY
  const halfX = (square.east - square.west) / 2
  for (let n = 0; n < list.length; n++) {
    const at = list[n] as number
    const ax = numbers[at] as number
    const bx = numbers[at + 2] as number
    if (ax > east || bx < west) continue
    const ay = numbers[at + 1] as number
    const by = numbers[at + 3] as number
    if ((ay > square.north && by > square.north) || (ay < square.south && by < square.south)) continue
    const left = (bx - ax) * (middleY - ay)
    const right = (by - ay) * ((west + east) / 2 - ax)
    const reach = (bx - ax) * halfY + Math.abs(by - ay) * halfX
    if (Math.abs(left - right) <= reach + sideErrorRelative * (Math.abs(left) + Math.abs(right))) return true
  }
  return false
}
