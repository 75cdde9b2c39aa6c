// The one distance of a space: along great circles of a stated sphere on the globe, straight in a plane. Circles, "nearby"
// and matching all use it, so that they agree to the last bit on one machine.
// Source: haversine of the angle and of its complement to half a turn, joined by atan2, which is accurate for near and for
// opposite points alike, and gives the same number in both directions. The sphere has the mean radius of IUGG 1980.

import type { Point } from './point.ts'
import { indexedX, type Space } from './space.ts'

/** Mean radius of the earth, meters (IUGG 1980, R1). */
export const earthRadiusMeters = 6_371_008.8

const radiansPerDegree = Math.PI / 180

/** Distance of two points: meters on the globe, the plane's unit in a plane. Symmetric. */
export function distanceBetween (space: Space, a: Point, b: Point): number {
  if (space.kind === 'planar') {
    const dx = a[0] - b[0]
    const dy = a[1] - b[1]
    return Math.sqrt(dx * dx + dy * dy)
  }
  const turn = longitudeBetween(indexedX(space, a[0], a[1]), indexedX(space, b[0], b[1]))
  return earthRadiusMeters * angleBetween(a[1], b[1], turn)
}

/** Shortest turn from one longitude to another, degrees in [0, 180]; exact where it crosses +-180. */
export function longitudeBetween (a: number, b: number): number {
  const turn = Math.abs(a - b)
  return turn > 180 ? 360 - turn : turn
}

/** Angle in radians between two latitudes that are `turn` degrees of longitude apart. */
function angleBetween (latitudeA: number, latitudeB: number, turn: number): number {
  const cosines = Math.cos(latitudeA * radiansPerDegree) * Math.cos(latitudeB * radiansPerDegree)
  const halfDifference = Math.sin((latitudeA - latitudeB) / 2 * radiansPerDegree)
  const halfSum = Math.sin((latitudeA + latitudeB) / 2 * radiansPerDegree)
  const halfTurn = turn / 2 * radiansPerDegree
  const near = halfDifference * halfDifference + cosines * Math.sin(halfTurn) ** 2
  const far = halfSum * halfSum + cosines * Math.cos(halfTurn) ** 2
  return 2 * Math.atan2(Math.sqrt(near), Math.sqrt(far))
}
