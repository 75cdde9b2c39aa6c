// The extent of a query as users write it: bbox=W,S,E,N, circle=LON,LAT,METERS, or in a JSON body also a polygon. Exactly
// one of them. The rules of shapes are overlay/space's; only the spelling is ours, so errors name what the user wrote.

import { checkExtent, type Extent } from '../../overlay/space/extent.ts'
import { InvalidSpaceError } from '../../overlay/space/invalid-space.ts'
import type { Space } from '../../overlay/space/space.ts'
import { badField } from './problem.ts'
import { numbers, type Query } from './query.ts'

const sides = ['west', 'south', 'east', 'north'] as const
const bboxForm = 'west,south,east,north'
const circleForm = 'lon,lat,meters'

/** @throws Problem 400 or InvalidSpaceError, with the field */
export function extentOfQuery (space: Space, query: Query): Extent {
  const { bbox, circle } = query
  return extentOf(space, {
    bbox: bbox === undefined ? undefined : numbers(bbox, 'bbox', bboxForm),
    circle: circle === undefined ? undefined : numbers(circle, 'circle', circleForm)
  }, 'bbox or circle (a polygon needs POST)')
}

/**
 * @param given - `bbox: [w, s, e, n]`, `circle: [lon, lat, meters]`, or `polygon`: a GeoJSON Polygon or its coordinates
 * @throws Problem 400 or InvalidSpaceError, with the field
 */
export function extentOfBody (space: Space, given: Readonly<Record<string, unknown>>): Extent {
  return extentOf(space, { bbox: given['bbox'], circle: given['circle'], polygon: given['polygon'] }, 'bbox, circle or polygon')
}

function extentOf (space: Space, given: { bbox?: unknown, circle?: unknown, polygon?: unknown }, expected: string): Extent {
  const named = Object.entries(given).filter(([, value]) => value !== undefined)
  const [first, second] = named
  if (first === undefined) throw badField('bbox', `an area is missing; give ${expected}, e.g. bbox=-180,-90,180,90 for all`)
  if (second !== undefined) throw badField(second[0], `${first[0]} is given too; give one of ${expected}`)
  const [field, value] = first
  const shape = field === 'bbox' ? boxOf(value) : field === 'circle' ? circleOf(value) : polygonOf(value)
  try {
    return checkExtent(space, shape, field)
  } catch (error) {
    throw error instanceof InvalidSpaceError && field === 'polygon' ? userSpelling(error) : error
  }
}

function boxOf (value: unknown): object {
  if (!Array.isArray(value) || value.length !== 4) throw badField('bbox', `expected [${bboxForm}], four numbers`)
  return { kind: 'box', ...Object.fromEntries(sides.map((side, at) => [side, value[at] as unknown])) }
}

function circleOf (value: unknown): object {
  if (!Array.isArray(value) || value.length !== 3) throw badField('circle', `expected [${circleForm}], three numbers`)
  return { kind: 'circle', center: value.slice(0, 2), radiusMeters: value[2] as unknown }
}

function polygonOf (value: unknown): object {
  if (Array.isArray(value)) return { kind: 'polygon', rings: value }
  const { type, coordinates } = (value ?? {}) as { type?: unknown, coordinates?: unknown }
  if (type !== 'Polygon') throw badField('polygon', 'expected a GeoJSON Polygon {"type": "Polygon", "coordinates": […]} or its coordinates')
  return { kind: 'polygon', rings: coordinates }
}

/** GeoJSON knows no "rings": polygon.rings[0][2] is polygon[0][2] to its writer. */
function userSpelling (error: InvalidSpaceError): InvalidSpaceError {
  const field = error.field.replace(/^polygon\.rings/, 'polygon')
  return new InvalidSpaceError(field, error.message.slice(error.field.length + 2))
}
