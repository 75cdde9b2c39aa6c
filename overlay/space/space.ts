// The space of a collection: the globe in degrees (lon/lat, RFC 7946) or a plane with stated bounds (a game, a floor).
// It carries coordinates to the columns and rows of the curve by one monotone quantizer, used for points and for edges of
// extents alike; so an extent's integer columns are a superset of what its exact filter holds.
// The globe has three rules: a point at exactly 180 lies at -180; a point at exactly +-90 lies at longitude 0; a coordinate
// that only rounding carries over the far edge stays in the last cell. It does not validate; see point.ts and extent.ts.

import { curveIndex, curveLevels } from './curve.ts'
import { InvalidSpaceError, show } from './invalid-space.ts'
import type { Point } from './point.ts'

/** Longitude in [-180, 180], latitude in [-90, 90], degrees. */
export interface LonLat { readonly kind: 'lonlat' }

/** A plane; bounds inclusive, in a unit of the user's. */
export interface Planar { readonly kind: 'planar', readonly minX: number, readonly minY: number, readonly maxX: number, readonly maxY: number }

export type Space = LonLat | Planar

export const lonLat: LonLat = { kind: 'lonlat' }

/** Bounds of a plane: far enough from what a double can hold that squares neither overflow nor vanish. guess */
const planarMagnitudeMax = 1e100
const planarSideMin = 1e-100

/** The corners of a space. */
export function boundsOf (space: Space): { minX: number, minY: number, maxX: number, maxY: number } {
  return space.kind === 'lonlat' ? globe : space
}

const globe = { minX: -180, minY: -90, maxX: 180, maxY: 90 }

/** Column of a longitude or x, in [0, 2^levels). Monotone; the far edge and what lies beyond stay in the last column. */
export function columnOf (space: Space, x: number, levels = curveLevels): number {
  const fraction = space.kind === 'lonlat' ? (x + 180) / 360 : (x - space.minX) / (space.maxX - space.minX)
  return quantize(fraction, levels)
}

/** Row of a latitude or y, in [0, 2^levels). Monotone; the far edge and what lies beyond stay in the last row. */
export function rowOf (space: Space, y: number, levels = curveLevels): number {
  const fraction = space.kind === 'lonlat' ? (y + 90) / 180 : (y - space.minY) / (space.maxY - space.minY)
  return quantize(fraction, levels)
}

function quantize (fraction: number, levels: number): number {
  const cells = 1 << levels
  const cell = Math.floor(fraction * cells)
  return cell >= cells ? cells - 1 : cell <= 0 ? 0 : cell
}

/** Column under which a point is indexed; unlike an edge's column it knows the rules for 180 and the poles. */
export function pointColumn (space: Space, point: Point, levels = curveLevels): number {
  return columnOf(space, indexedX(space, point[0], point[1]), levels)
}

/** The longitude or x under which a point is indexed and measured: 180 becomes -180, a pole lies at 0. */
export function indexedX (space: Space, x: number, y: number): number {
  if (space.kind === 'planar') return x
  if (y === 90 || y === -90) return 0
  return x === 180 ? -180 : x
}

/**
 * Place of a point on the curve.
 *
 * @throws RangeError if the point lies outside the space (checkPoint tells users so before)
 */
export function indexOf (space: Space, point: Point, levels = curveLevels): number {
  const { minX, minY, maxX, maxY } = boundsOf(space)
  const [x, y] = point
  if (!(x >= minX && x <= maxX && y >= minY && y <= maxY)) throw new RangeError(`point [${x}, ${y}] is outside its space`)
  return curveIndex(columnOf(space, indexedX(space, x, y), levels), rowOf(space, y, levels), levels)
}

/** Western or lower edge of a column; `column` = 2^levels gives the eastern edge of the space. Exact on the globe. */
export function columnEdge (space: Space, column: number, levels = curveLevels): number {
  const share = column / (1 << levels)
  return space.kind === 'lonlat' ? share * 360 - 180 : edge(share, space.minX, space.maxX)
}

/** Southern or lower edge of a row; `row` = 2^levels gives the northern edge of the space. Exact on the globe. */
export function rowEdge (space: Space, row: number, levels = curveLevels): number {
  const share = row / (1 << levels)
  return space.kind === 'lonlat' ? share * 180 - 90 : edge(share, space.minY, space.maxY)
}

/** The sum may round past the bound itself. */
function edge (share: number, min: number, max: number): number {
  return share === 1 ? max : Math.min(max, min + (max - min) * share)
}

/**
 * How far a coordinate may lie outside the computed edges of its own cell, because the quantizer rounds: an x in
 * `column` satisfies columnEdge(column) - slack <= x <= columnEdge(column + 1) + slack. Twice the sum of the half-ulps of
 * the operations on both sides.
 */
export function slackOf (space: Space): { x: number, y: number } {
  const { minX, minY, maxX, maxY } = boundsOf(space)
  return {
    x: 4 * Number.EPSILON * Math.max(Math.abs(minX), Math.abs(maxX), maxX - minX),
    y: 4 * Number.EPSILON * Math.max(Math.abs(minY), Math.abs(maxY), maxY - minY)
  }
}

/**
 * A space as given by a user: `{kind: 'lonlat'}` or `{kind: 'planar', minX, minY, maxX, maxY}`.
 *
 * @throws InvalidSpaceError
 */
export function checkSpace (value: unknown, field: string): Space {
  const given = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  if (given['kind'] === 'lonlat') return lonLat
  if (given['kind'] !== 'planar') throw new InvalidSpaceError(field, `${show(value)} is no space; expected {kind: "lonlat"} or {kind: "planar", minX, minY, maxX, maxY}`)
  const bound = (name: string): number => {
    const side = given[name]
    if (typeof side !== 'number' || !(Math.abs(side) <= planarMagnitudeMax)) {
      throw new InvalidSpaceError(`${field}.${name}`, `${show(side)} is not a number of magnitude up to ${planarMagnitudeMax}`)
    }
    return side + 0
  }
  const space: Planar = { kind: 'planar', minX: bound('minX'), minY: bound('minY'), maxX: bound('maxX'), maxY: bound('maxY') }
  if (!(space.maxX - space.minX >= planarSideMin)) throw new InvalidSpaceError(`${field}.maxX`, `${show(space.maxX)} must exceed minX ${show(space.minX)} by at least ${planarSideMin}`)
  if (!(space.maxY - space.minY >= planarSideMin)) throw new InvalidSpaceError(`${field}.maxY`, `${show(space.maxY)} must exceed minY ${show(space.minY)} by at least ${planarSideMin}`)
  return space
}
