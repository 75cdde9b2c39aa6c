// A circle: all points within a radius of a center, by the one distance of the space. A square of cells meets it if its
// nearest point does, and lies within it if its farthest point does; on the globe the farthest point is the one nearest to
// the point opposite the center, so one rule serves both.
// Half width in longitude is asin(sin r / cos lat), not r / cos lat: meridians close in towards a pole (at latitude 85 and
// 500 km 64.1 degrees, not 51.6). Source: spherical trigonometry, the tangent meridian of a small circle.

import { distanceBetween, earthRadiusMeters, longitudeBetween } from './distance.ts'
import type { Circle } from './extent.ts'
import type { Region } from './region.ts'
import { columnEdge, indexedX, rowEdge, slackOf, type Space } from './space.ts'

const radiansPerDegree = Math.PI / 180
/** Above the rounding of a distance on the globe (about 1e-8 m), far below a cell (0.3 m). */
const slackMeters = 1e-6
/** The same for angles, in degrees: 1e-6 m is 9e-12 degrees. */
const slackDegrees = 1e-11

export function circleRegion (space: Space, circle: Circle, levels: number): Region {
  const cellTests = space.kind === 'lonlat' ? globeTests(space, circle, levels) : planeTests(space, circle, levels)
  return { holds: point => circleHolds(space, circle, point[0], point[1]), ...cellTests }
}

/** The exact filter of a circle: edge inclusive. */
export function circleHolds (space: Space, circle: Circle, x: number, y: number): boolean {
  return distanceBetween(space, circle.center, [x, y]) <= circle.radiusMeters
}

type CellTests = Pick<Region, 'meets' | 'within'>

function globeTests (space: Space, circle: Circle, levels: number): CellTests {
  const longitude = indexedX(space, circle.center[0], circle.center[1])
  const latitude = circle.center[1]
  const near = capTest(longitude, latitude, circle.radiusMeters + slackMeters)
  // what is farther than the radius is nearer than the rest of half a turn to the opposite point
  const opposite = longitude > 0 ? longitude - 180 : longitude + 180
  const far = capTest(opposite, -latitude, Math.PI * earthRadiusMeters - circle.radiusMeters + slackMeters)
  const slack = slackOf(space)
  const over = (test: CapTest) => (column: number, row: number, side: number): boolean => test(
    columnEdge(space, column, levels) - slack.x, rowEdge(space, row, levels) - slack.y,
    columnEdge(space, column + side, levels) + slack.x, rowEdge(space, row + side, levels) + slack.y)
  const beyond = over(far)
  return { meets: over(near), within: (column, row, side) => !beyond(column, row, side) }
}

type CapTest = (west: number, south: number, east: number, north: number) => boolean

/** Tests whether a rectangle of degrees comes within `radiusMeters` of a point of the globe. */
function capTest (longitude: number, latitude: number, radiusMeters: number): CapTest {
  const angle = radiusMeters / earthRadiusMeters
  if (!(angle >= 0)) return () => false
  if (angle >= Math.PI) return () => true
  const angleDegrees = angle / radiansPerDegree + slackDegrees
  const sine = Math.sin(latitude * radiansPerDegree)
  const cosine = Math.cos(latitude * radiansPerDegree)
  const halfWidth = Math.abs(latitude) + angleDegrees >= 90
    ? 180
    : Math.asin(Math.min(1, Math.sin(angle) / cosine)) / radiansPerDegree + slackDegrees
  const haversineMax = Math.sin(angle / 2) ** 2 * (1 + 16 * Number.EPSILON) + Number.EPSILON ** 2
  return (west, south, east, north) => {
    if (south > latitude + angleDegrees || north < latitude - angleDegrees) return false
    if (longitude >= west && longitude <= east) return true
    const turn = Math.min(longitudeBetween(longitude, Math.max(west, -180)), longitudeBetween(longitude, Math.min(east, 180)))
    if (turn > halfWidth) return false
    // along the nearer meridian the distance has one minimum, where the great circle from the center meets it squarely
    const cosineOfTurn = Math.cos(turn * radiansPerDegree)
    const square = Math.atan2(sine, cosine * cosineOfTurn) / radiansPerDegree
    if (square >= south && square <= north) return haversine(latitude, square, cosine, turn) <= haversineMax
    return haversine(latitude, Math.max(south, -90), cosine, turn) <= haversineMax ||
      haversine(latitude, Math.min(north, 90), cosine, turn) <= haversineMax
  }
}

/** Squared sine of half the angle between (latitude, 0) and (other, turn), all in degrees. */
function haversine (latitude: number, other: number, cosine: number, turn: number): number {
  const difference = Math.sin((latitude - other) / 2 * radiansPerDegree)
  const across = Math.sin(turn / 2 * radiansPerDegree)
  return difference * difference + cosine * Math.cos(other * radiansPerDegree) * across * across
}

function planeTests (space: Space, circle: Circle, levels: number): CellTests {
  const [x, y] = circle.center
  const slack = slackOf(space)
  const radiusMax = circle.radiusMeters * (1 + 8 * Number.EPSILON)
  const radiusMin = circle.radiusMeters * (1 - 8 * Number.EPSILON)
  const squareOf = (column: number, row: number, side: number): [number, number, number, number] => [
    columnEdge(space, column, levels) - slack.x - x, rowEdge(space, row, levels) - slack.y - y,
    columnEdge(space, column + side, levels) + slack.x - x, rowEdge(space, row + side, levels) + slack.y - y]
  return {
    meets: (column, row, side) => {
      const [west, south, east, north] = squareOf(column, row, side)
      const dx = Math.max(0, west, -east)
      const dy = Math.max(0, south, -north)
      return Math.sqrt(dx * dx + dy * dy) <= radiusMax
    },
    within: (column, row, side) => {
      const [west, south, east, north] = squareOf(column, row, side)
      const dx = Math.max(-west, east)
      const dy = Math.max(-south, north)
      return Math.sqrt(dx * dx + dy * dy) <= radiusMin
    }
  }
}
