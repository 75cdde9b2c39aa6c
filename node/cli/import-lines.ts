// What a file holds as lines of a batch: each an object {"key", "value", "point", "text", …} for POST /v1/objects:batch.
// Features are stored whole; rows of CSV, and NDJSON without keys of its own, become JSON values with the named fields
// as key, place and text. What cannot be a line is a problem of that object, or of that line of NDJSON, and names the
// place in the file.

import { pointOfGeometry, textOfProperties, type Properties } from '../feature.ts'
import { csvRows } from './csv.ts'
import type { FileFormat } from './file-format.ts'
import { jsonObjects, shownText, type FilePart } from './json-objects.ts'
import { textLines } from './text-lines.ts'

/** Which fields of an object are its key, place and text; undefined: the usual names. */
export interface Mapping {
  readonly key: string | undefined
  readonly lon: string | undefined
  readonly lat: string | undefined
  readonly text: readonly string[] | undefined
}

/** A line to send, or why there is none; and where it stood in the file. */
export type ImportLine = { readonly at: string } & ({ readonly json: string } | { readonly problem: string })

const keyNames = ['key', 'id']
const lonNames = ['lon', 'lng', 'long', 'longitude', 'x']
const latNames = ['lat', 'latitude', 'y']
const textNames = ['text', 'title', 'name']

export async function * importLines (chunks: AsyncIterable<string>, format: FileFormat, mapping: Mapping): AsyncGenerator<ImportLine> {
  if (format === 'csv') {
    for await (const { number, cells } of csvRows(chunks)) yield tried(`row ${number}`, () => lineOfRow(cells, mapping))
    return
  }
  const parts: AsyncIterable<FilePart> = format === 'ndjson' ? textLines(chunks) : jsonObjects(chunks)
  for await (const { text, line } of parts) {
    // The last line of an answer in NDJSON, saved with the rest, is no object.
    if (text.startsWith('{"end":')) continue
    yield tried(`line ${line}`, () => lineOfObject(parsed(text), text, mapping))
  }
}

function tried (at: string, line: () => object | string): ImportLine {
  try {
    const made = line()
    return { at, json: typeof made === 'string' ? made : JSON.stringify(made) }
  } catch (error) {
    return { at, problem: (error as Error).message }
  }
}

function parsed (text: string): Properties {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new TypeError(`this is no JSON: ${shownText(text)}`)
  }
  if (Array.isArray(value)) throw new TypeError(`expected an object, found the list ${shownText(text)}; a file that is a list of objects is read with --format geojson`)
  if (typeof value !== 'object' || value === null) throw new TypeError(`expected an object, found ${shownText(text)}`)
  return value as Properties
}

function lineOfObject (object: Properties, text: string, mapping: Mapping): object | string {
  if (object['type'] === 'Feature') return lineOfFeature(object, mapping)
  // A line as the batch takes it goes as it is; only line breaks between tokens must go.
  if (mapping.key === undefined && typeof object['key'] === 'string') return text.replace(/[\r\n]+/g, ' ')
  return lineOfRow(object, mapping)
}

function lineOfFeature (feature: Properties, mapping: Mapping): object {
  const properties = (feature['properties'] ?? {}) as Properties
  const id = mapping.key === undefined ? feature['id'] ?? properties['id'] : properties[mapping.key]
  const key = typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : id
  if (typeof key !== 'string' || key === '') throw new TypeError(`a Feature has no ${mapping.key ?? 'id'}; name the property that is one: --key PROPERTY`)
  const text = mapping.text === undefined ? textOfProperties(properties) : joined(properties, mapping.text)
  return { key, value: feature, contentType: 'application/geo+json', point: pointOfGeometry(feature['geometry']), text }
}

function lineOfRow (row: Properties, mapping: Mapping): object {
  const names = Object.keys(row)
  const pick = (given: string | undefined, usual: readonly string[]): string | undefined => given ?? names.find(name => usual.includes(name.toLowerCase()))
  const keyName = pick(mapping.key, keyNames)
  const key = keyName === undefined ? undefined : row[keyName]
  if (typeof key !== 'string' || key === '') throw new TypeError(`no text in the field ${keyName ?? '"key"'}; name the one that is the key: --key FIELD. Fields: ${names.join(', ')}`)
  const lonName = pick(mapping.lon, lonNames)
  const latName = pick(mapping.lat, latNames)
  const located = lonName !== undefined && latName !== undefined
  const textName = pick(undefined, textNames)
  const text = mapping.text === undefined ? (textName === undefined ? undefined : row[textName]) : joined(row, mapping.text)
  return {
    key,
    value: row,
    ...(located ? { point: [coordinate(row, lonName), coordinate(row, latName)], ...(typeof text === 'string' ? { text } : {}) } : {})
  }
}

/** CSV has numbers as text. */
function coordinate (row: Properties, name: string): number {
  const value = row[name]
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) throw new TypeError(`${name}: ${JSON.stringify(value)} is no number`)
  return number
}

function joined (properties: Properties, names: readonly string[]): string {
  return names.map(name => properties[name]).filter(value => typeof value === 'string').join(' ')
}
