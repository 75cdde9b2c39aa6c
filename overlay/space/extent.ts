// An extent is the shape of a spatial query: a box, a circle or a polygon. Edges are inclusive everywhere.
// Here are the shapes, the validator for what users give, and the exact filter. Nothing is swapped or mended: a box whose
// west exceeds its east crosses +-180 on the globe and is refused in a plane. Sources: RFC 7946 for boxes and polygons.

import { boxHolds } from './box.ts'
import { circleHolds } from './circle.ts'
import { InvalidSpaceError, show } from './invalid-space.ts'
import { checkPoint, checkX, checkY, type Point } from './point.ts'
import { regionOf } from './region.ts'
import { edgesOf } from './ring.ts'
import type { Space } from './space.ts'

/** Sides in degrees or in the plane's unit; on the globe west > east crosses ±180, west = east is a meridian. */
export interface Box { readonly kind: 'box', readonly west: number, readonly south: number, readonly east: number, readonly north: number }

/** On the globe meters along great circles (see distance.ts), in a plane its unit. */
export interface Circle { readonly kind: 'circle', readonly center: Point, readonly radiusMeters: number }

/** Closed rings, even-odd; on the globe edges are straight in lon/lat. */
export interface Polygon { readonly kind: 'polygon', readonly rings: ReadonlyArray<readonly Point[]> }

export type Extent = Box | Circle | Polygon

/** Vertices of a polygon, all rings together; each is tested for every cell on the way. guess */
export const polygonVerticesMax = 1_000
/** A closed triangle. RFC 7946 section 3.1.6. */
const ringPositionsMin = 4

/** Whether an extent holds a point, both checked; `prepare` (cover.ts) is faster for many points. */
export function holds (space: Space, extent: Extent, point: Point): boolean {
  switch (extent.kind) {
    case 'box': return boxHolds(space, extent, point[0], point[1])
    case 'circle': return circleHolds(space, extent, point[0], point[1])
    case 'polygon': return regionOf(space, extent, 1).holds(point)
  }
}

/**
 * An extent as given by a user, checked against its space.
 *
 * @param field - name of the field, for the message; parts are named `field.west`, `field.rings[0][2][1]` and so on
 * @throws InvalidSpaceError
 */
export function checkExtent (space: Space, value: unknown, field: string): Extent {
  const given = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  switch (given['kind']) {
    case 'box': return checkBox(space, given, field)
    case 'circle': return checkCircle(space, given, field)
    case 'polygon': return checkPolygon(space, given, field)
    default: throw new InvalidSpaceError(field, `${show(value)} is no extent; expected a box, a circle or a polygon`)
  }
}

function checkBox (space: Space, given: Record<string, unknown>, field: string): Box {
  const west = checkX(space, given['west'], `${field}.west`) + 0
  const south = checkY(space, given['south'], `${field}.south`) + 0
  const east = checkX(space, given['east'], `${field}.east`) + 0
  const north = checkY(space, given['north'], `${field}.north`) + 0
  if (south > north) throw new InvalidSpaceError(`${field}.south`, `${south} exceeds north ${north}; the order is west, south, east, north`)
  if (space.kind === 'planar' && west > east) throw new InvalidSpaceError(`${field}.west`, `${west} exceeds east ${east}; a plane does not wrap, the order is west, south, east, north`)
  return { kind: 'box', west, south, east, north }
}

function checkCircle (space: Space, given: Record<string, unknown>, field: string): Circle {
  const center = checkPoint(space, given['center'], `${field}.center`)
  const radius = given['radiusMeters']
  if (typeof radius !== 'number' || !(radius > 0 && radius < Infinity)) {
    throw new InvalidSpaceError(`${field}.radiusMeters`, `${show(radius)} is not a finite number above 0`)
  }
  return { kind: 'circle', center, radiusMeters: radius }
}

function checkPolygon (space: Space, given: Record<string, unknown>, field: string): Polygon {
  const rings = given['rings']
  if (!Array.isArray(rings) || rings.length === 0) throw new InvalidSpaceError(`${field}.rings`, `${show(rings)} is not a list of one or more rings`)
  let positions = 0
  for (const [at, ring] of rings.entries()) {
    if (!Array.isArray(ring) || ring.length < ringPositionsMin) {
      throw new InvalidSpaceError(`${field}.rings[${at}]`, `${show(ring)} is no ring; expected a list of at least ${ringPositionsMin} points, the last equal to the first`)
    }
    positions += ring.length - 1
    if (positions > polygonVerticesMax) throw new InvalidSpaceError(`${field}.rings`, `more than ${polygonVerticesMax} vertices; a polygon may have at most ${polygonVerticesMax} in all its rings`)
  }
  const checked = rings.map((ring: unknown[], at) => checkRing(space, ring, `${field}.rings[${at}]`))
  return { kind: 'polygon', rings: checked }
}

function checkRing (space: Space, ring: unknown[], field: string): Point[] {
  const points = Array.from(ring, (point, at) => checkPoint(space, point, `${field}[${at}]`))
  const first = points[0] as Point
  const last = points[points.length - 1] as Point
  if (first[0] !== last[0] || first[1] !== last[1]) {
    throw new InvalidSpaceError(field, `the ring is not closed: it begins at ${show(first)} and ends at ${show(last)}; repeat the first point at the end`)
  }
  edgesOf(space, points, field) // refuses a ring around a pole and one without area
  return points
}
