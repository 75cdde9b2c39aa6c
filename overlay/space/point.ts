// A point: [longitude, latitude] in degrees on the globe (the order of RFC 7946), [x, y] in a plane.
// The validator stands at every door by which a user's coordinates come in; comparisons are written so that NaN fails.
// It does not wrap, clamp or swap: what is out of bounds is refused, because a guess would store a place nobody meant.

import { InvalidSpaceError, show } from './invalid-space.ts'
import { boundsOf, type Space } from './space.ts'

/** [longitude, latitude] in degrees, or [x, y] in the plane's unit. */
export type Point = readonly [number, number]

/**
 * A point as given by a user, checked against the bounds of its space.
 *
 * @param field - name of the field, for the message
 * @throws InvalidSpaceError
 */
export function checkPoint (space: Space, value: unknown, field: string): Point {
  const order = orderOf(space)
  if (!Array.isArray(value) || value.length !== 2) {
    throw new InvalidSpaceError(field, `${show(value)} is no point; expected ${order}, two numbers`)
  }
  // + 0 turns -0 into 0
  return [checkX(space, value[0], `${field}[0]`) + 0, checkY(space, value[1], `${field}[1]`) + 0]
}

/** A longitude or x. @throws InvalidSpaceError */
export function checkX (space: Space, value: unknown, field: string): number {
  const { minX, maxX } = boundsOf(space)
  return checkCoordinate(space, value, field, space.kind === 'lonlat' ? 'longitude' : 'x', minX, maxX)
}

/** A latitude or y. @throws InvalidSpaceError */
export function checkY (space: Space, value: unknown, field: string): number {
  const { minY, maxY } = boundsOf(space)
  return checkCoordinate(space, value, field, space.kind === 'lonlat' ? 'latitude' : 'y', minY, maxY)
}

function checkCoordinate (space: Space, value: unknown, field: string, name: string, min: number, max: number): number {
  if (typeof value !== 'number') throw new InvalidSpaceError(field, `${name} ${show(value)} is not a number; the order is ${orderOf(space)}`)
  if (!(value >= min && value <= max)) {
    throw new InvalidSpaceError(field, `${name} ${show(value)} is outside [${min}, ${max}]; the order is ${orderOf(space)}`)
  }
  return value
}

function orderOf (space: Space): string {
  return space.kind === 'lonlat' ? '[lon, lat]' : '[x, y]'
}
