// How the body of a put becomes value, content type, place and text. One rule:
//
//   The body is the value, byte for byte, with its Content-Type; place and text come from ?point= and ?text=.
//   Two forms carry them within, in spatial collections and when the query has none:
//     application/json      {"value": …, "point": [lon, lat], "text": "…"}: the value alone is stored
//     application/geo+json  a Feature with a Point: it is stored whole; its text is properties.text, or else its title,
//                           name or place
//
// Lines of a batch say the same as fields: {"key", "value", "contentType"?, "encoding"?, "point"?, "text"?}.

import type { Point } from '../../overlay/space/point.ts'
import { checkPoint } from '../../overlay/space/point.ts'
import type { CollectionDefinition } from '../../storage/records/collection.ts'
import { valueBytesMax } from '../../storage/init.ts'
import { didYouMean } from '../config/nearest.ts'
import { pointOfGeometry, textOfProperties, type Properties } from '../feature.ts'
import { isWellFormed, plainOf } from '../key-text.ts'
import { badField, Problem } from './problem.ts'
import { numbers, type Query } from './query.ts'
import { mediaType } from './row-text.ts'

export interface ObjectContent {
  readonly value: Uint8Array
  readonly contentType: string | undefined
  readonly point: Point | undefined
  readonly text: string | undefined
}

export const geojsonType = 'application/geo+json'
const jsonType = 'application/json'
const textType = 'text/plain; charset=utf-8'
const envelopeFields = ['value', 'contentType', 'encoding', 'point', 'text'] as const

/** @throws Problem 400, InvalidSpaceError; with the field */
export function contentOfBody (collection: CollectionDefinition, query: Query, contentType: string | undefined, body: Buffer): ObjectContent {
  const type = mediaType(contentType)
  const located = query['point'] !== undefined || query['text'] !== undefined
  if (collection.kind === 'spatial' && !located) {
    if (type === geojsonType) return contentOfFeature(collection, parseBody(body), contentType, plainOf(body))
    if (type === jsonType) {
      const envelope = objectOf(parseBody(body), 'a spatial collection takes {"value", "point", "text"}; give ?point=lon,lat to store any JSON')
      refuseUnknown(envelope, envelopeFields, '{"value": 1, "point": [13.4, 52.5], "text": "bakery van"}')
      return contentOfFields(collection, envelope)
    }
  }
  if (type === jsonType || type === geojsonType) parseBody(body)
  const point = query['point']
  return checkedFor(collection, {
    value: plainOf(body),
    contentType,
    point: point === undefined ? undefined : numbers(point, 'point', 'lon,lat'),
    text: query['text']
  })
}

/** Value, place and text from the fields of a JSON object. @throws Problem 400, InvalidSpaceError; with the field */
export function contentOfFields (collection: CollectionDefinition, fields: Readonly<Record<string, unknown>>): ObjectContent {
  const { contentType, point, text } = fields
  if (contentType !== undefined && contentType !== null && typeof contentType !== 'string') throw badField('contentType', 'must be a string')
  if (text !== undefined && text !== null && typeof text !== 'string') throw badField('text', 'must be a string')
  return checkedFor(collection, { ...valueOf(fields, contentType ?? undefined), point: point ?? undefined, text: text ?? undefined })
}

/** Refuse fields that would be lost. @throws Problem 400 */
/** @param sample - of what is right */
export function refuseUnknown (fields: Readonly<Record<string, unknown>>, known: readonly string[], sample: string): void {
  for (const name of Object.keys(fields)) {
    if (!known.includes(name)) throw new Problem(400, 'unknown-field', `unknown field ${JSON.stringify(name)}; known are ${known.join(', ')}, as in ${sample}${didYouMean(name, known)}`, { field: name })
  }
}

/** @throws Problem 400 */
export function objectOf (value: unknown, expected: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badField('body', `is no JSON object; ${expected}`)
  return value as Record<string, unknown>
}

/** @throws Problem 400 */
export function parseBody (body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown
  } catch (error) {
    throw badField('body', `is no JSON in UTF-8 (${(error as Error).message})`)
  }
}

function contentOfFeature (collection: CollectionDefinition, given: unknown, contentType: string | undefined, value: Uint8Array): ObjectContent {
  const feature = objectOf(given, 'expected a GeoJSON Feature')
  if (feature['type'] !== 'Feature') throw badField('type', 'must be "Feature"; send many by POST /v1/objects:batch')
  const properties = (feature['properties'] ?? {}) as Properties
  let point: unknown
  try {
    point = pointOfGeometry(feature['geometry'])
  } catch (error) {
    throw badField('geometry', (error as Error).message)
  }
  return checkedFor(collection, { value, contentType, point, text: textOfProperties(properties) })
}

function valueOf (fields: Readonly<Record<string, unknown>>, contentType: string | undefined): Pick<ObjectContent, 'value' | 'contentType'> {
  const { value, encoding } = fields
  if (encoding !== undefined) {
    if (encoding !== 'base64') throw badField('encoding', 'must be "base64", or absent')
    if (typeof value !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(value) || value.length % 4 !== 0) throw badField('value', 'is no base64 text')
    return { value: plainOf(Buffer.from(value, 'base64')), contentType }
  }
  if (value === undefined) return { value: new Uint8Array(0), contentType }
  const type = mediaType(contentType)
  const asJson = contentType === undefined ? typeof value !== 'string' : type === jsonType || type.endsWith('+json')
  if (asJson) {
    finite(value, 'value')
    return { value: encode(JSON.stringify(value)), contentType: contentType ?? jsonType }
  }
  if (typeof value !== 'string') throw badField('value', `must be a string for ${contentType ?? textType}`)
  if (!isWellFormed(value)) throw badField('value', 'holds half a surrogate pair, which has no UTF-8 form')
  return { value: encode(value), contentType: contentType ?? textType }
}

/** JSON has no Infinity: 1e999 would come back as null. */
function finite (value: unknown, field: string): void {
  if (typeof value === 'number' && !Number.isFinite(value)) throw badField(field, 'holds a number beyond what a double can carry')
  if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) finite(part, field)
}

function checkedFor (collection: CollectionDefinition, content: Omit<ObjectContent, 'point'> & { point: unknown }): ObjectContent {
  const { value, point, text } = content
  if (value.length > valueBytesMax) throw new Problem(413, 'value-too-large', `value: ${value.length} bytes; a value may have ${valueBytesMax}`, { field: 'value' })
  if (text !== undefined && !isWellFormed(text)) throw badField('text', 'holds half a surrogate pair, which has no UTF-8 form')
  if (collection.kind === 'spatial') {
    return { ...content, point: point === undefined ? undefined : checkPoint(collection.space, point, 'point') }
  }
  const located = point !== undefined ? 'point' : text !== undefined ? 'text' : undefined
  if (located !== undefined) throw badField(located, `${JSON.stringify(collection.name)} is an ordered collection, which has no places; use collection=places, or another spatial one`)
  return { ...content, point: undefined }
}

const encoder = new TextEncoder()

function encode (text: string): Uint8Array {
  return encoder.encode(text)
}
