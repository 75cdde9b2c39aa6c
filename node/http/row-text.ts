// One record as text: a JSON object, or a GeoJSON Feature. The value goes in by its content type: JSON as it was stored,
// character for character (so 9007199254740993 stays what it was), text as a string, everything else as base64 with
// "encoding": "base64". Strings are built by hand because this is the inner loop of every long answer.

import type { StoredRecord, Version } from '../../storage/storage-api.ts'
import { textOfKey, textOfUtf8, viewOf } from '../key-text.ts'

export function versionText (version: Version): string {
  return `${version.ms}-${version.counter}-${version.member}`
}

/** `{"key", "value", "encoding"?, "contentType"?, "version", "point"?, "text"?}`, without a line break. */
export function recordText (record: StoredRecord): string {
  const { contentType, point, text } = record
  return '{"key":' + JSON.stringify(textOfKey(record.key)) +
    ',"value":' + valueText(record) +
    (contentType === undefined ? '' : ',"contentType":' + typeOf(contentType).text) +
    ',"version":"' + versionText(record.version) + '"' +
    (point === undefined ? '' : ',"point":[' + point[0] + ',' + point[1] + ']') +
    (text === undefined ? '' : ',"text":' + JSON.stringify(text)) + '}'
}

/** `{"key", "version"}` */
export function keyText (record: StoredRecord): string {
  return '{"key":' + JSON.stringify(textOfKey(record.key)) + ',"version":"' + versionText(record.version) + '"}'
}

/**
 * A Feature (RFC 7946 section 3.2): id is the key, geometry the point or null. A value that was put as a Feature gives its
 * own geometry and properties; a JSON object gives properties; any other value stands in them as `value`.
 */
export function featureText (record: StoredRecord): string {
  const { point } = record
  const stored = storedFeature(record)
  const geometry = stored?.geometry ?? (point === undefined ? null : { type: 'Point', coordinates: point })
  return '{"type":"Feature","id":' + JSON.stringify(textOfKey(record.key)) +
    ',"geometry":' + JSON.stringify(geometry) +
    ',"properties":' + (stored === undefined ? propertiesText(record) : JSON.stringify(stored.properties ?? {})) +
    ',"version":"' + versionText(record.version) + '"}'
}

type Form = 'json' | 'text' | 'binary'

const featureType = 'application/geo+json'
interface ContentType {
  /** How values of it go in. */
  readonly form: Form
  /** The type itself as JSON. */
  readonly text: string
}

/** What is known of content types, so that each is looked at once. */
const types = new Map<string, ContentType>()
/** Content types remembered; beyond that they are looked at each time. */
const typesMax = 1_000

/** `"value"` of a record as JSON text, followed by its encoding where that is needed. */
function valueText (record: StoredRecord): string {
  const form = record.contentType === undefined ? 'text' : typeOf(record.contentType).form
  const text = form === 'binary' ? undefined : textOfUtf8(record.value)
  if (text !== undefined) {
    if (form === 'text') return JSON.stringify(text)
    if (isJson(text)) return oneLine(text)
  }
  return '"' + viewOf(record.value).toString('base64') + '","encoding":"base64"'
}

function propertiesText (record: StoredRecord): string {
  const value = valueText(record)
  const text = record.text === undefined ? '' : JSON.stringify(record.text)
  if (value.startsWith('{')) return value
  if (record.value.length === 0) return text === '' ? '{}' : '{"text":' + text + '}'
  return '{"value":' + value + (text === '' ? '' : ',"text":' + text) + '}'
}

function storedFeature (record: StoredRecord): { geometry?: unknown, properties?: unknown } | undefined {
  if (mediaType(record.contentType) !== featureType) return undefined
  try {
    const feature = JSON.parse(viewOf(record.value).toString('utf8')) as { type?: unknown, geometry?: unknown, properties?: unknown } | null
    return feature?.type === 'Feature' ? feature : undefined
  } catch {
    return undefined
  }
}

function typeOf (contentType: string): ContentType {
  const known = types.get(contentType)
  if (known !== undefined) return known
  const found = { form: formOf(mediaType(contentType)), text: JSON.stringify(contentType) }
  if (types.size < typesMax) types.set(contentType, found)
  return found
}

function formOf (type: string): Form {
  if (type === 'application/json' || type.endsWith('+json')) return 'json'
  return type.startsWith('text/') || type === 'application/x-www-form-urlencoded' ? 'text' : 'binary'
}

/** `text/plain; charset=utf-8` is `text/plain`. */
export function mediaType (contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1)[0]!.trim().toLowerCase()
}

/** Line breaks in JSON stand only between tokens, where a space is the same. */
function oneLine (json: string): string {
  return json.includes('\n') || json.includes('\r') ? json.replace(/[\r\n]+/g, ' ') : json
}

/** What other programs stored under that type is checked, since it is put into answers as it is. */
function isJson (text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
