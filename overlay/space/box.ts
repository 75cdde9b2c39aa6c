// A box as one to four rectangles of whole cells. On the globe a box with west > east crosses +-180 and is two rectangles;
// east = 180 adds column 0, where points at 180 are indexed; a box that touches +-90 holds the pole whatever its longitudes
// and adds the pole's cell. Source: RFC 7946 section 5.2. Edges are inclusive.
// Because one monotone quantizer places points and edges, the rectangles are exact: no cell more than the edges touch.

import type { Box } from './extent.ts'
import type { Region } from './region.ts'
import { columnOf, rowOf, type Space } from './space.ts'

export function boxRegion (space: Space, box: Box, levels: number): Region {
  const rectangles = boxRectangles(space, box, levels).flat()
  const count = rectangles.length
  return {
    holds: point => boxHolds(space, box, point[0], point[1]),
    meets: (column, row, side) => {
      for (let at = 0; at < count; at += 4) {
        if (column <= (rectangles[at + 2] as number) && column + side > (rectangles[at] as number) &&
          row <= (rectangles[at + 3] as number) && row + side > (rectangles[at + 1] as number)) return true
      }
      return false
    },
    within: (column, row, side) => {
      for (let at = 0; at < count; at += 4) {
        if (column >= (rectangles[at] as number) && column + side - 1 <= (rectangles[at + 2] as number) &&
          row >= (rectangles[at + 1] as number) && row + side - 1 <= (rectangles[at + 3] as number)) return true
      }
      return false
    }
  }
}

/** The exact filter of a box: edges inclusive, ±180 is one meridian, at ±90 longitude is ignored. */
export function boxHolds (space: Space, box: Box, x: number, y: number): boolean {
  if (!(y >= box.south && y <= box.north)) return false
  if (space.kind === 'planar') return x >= box.west && x <= box.east
  if (y === 90 || y === -90) return true
  return turnHolds(box, x) || ((x === 180 || x === -180) && turnHolds(box, -x))
}

function turnHolds (box: Box, longitude: number): boolean {
  return box.west <= box.east
    ? longitude >= box.west && longitude <= box.east
    : longitude >= box.west || longitude <= box.east
}

/** Least column, least row, greatest column, greatest row; all inclusive. */
type Rectangle = [number, number, number, number]

/** The cells in which points of the box are indexed, and no others. Rectangles may overlap. */
export function boxRectangles (space: Space, box: Box, levels: number): Rectangle[] {
  const south = rowOf(space, box.south, levels)
  const north = rowOf(space, box.north, levels)
  if (space.kind === 'planar') return [[columnOf(space, box.west, levels), south, columnOf(space, box.east, levels), north]]
  const rectangles: Rectangle[] = []
  const flat = box.south === 90 || box.north === -90 // nothing but a pole
  if (!flat) for (const [west, east] of columnRuns(space, box, levels)) rectangles.push([west, south, east, north])
  const pole = columnOf(space, 0, levels)
  if (box.north === 90) rectangles.push([pole, north, pole, north])
  if (box.south === -90) rectangles.push([pole, south, pole, south])
  return rectangles
}

/** The runs of columns of a box on the globe: one or two, disjoint. */
function columnRuns (space: Space, box: Box, levels: number): Array<[number, number]> {
  const last = (1 << levels) - 1
  // points at 180 are indexed at -180: a western edge at 180 means that meridian
  const west = box.west === 180 ? -180 : box.west
  const crosses = box.west > box.east
  if (!crosses && box.west === 180) return [[0, 0]]
  const first = columnOf(space, west, levels)
  const end = columnOf(space, box.east, levels)
  if (crosses) {
    if (box.west === 180) return [[0, end]]
    return first <= end + 1 ? [[0, last]] : [[0, end], [first, last]]
  }
  return box.east === 180 && first > 0 ? (first === 1 ? [[0, last]] : [[0, 0], [first, end]]) : [[first, end]]
}
