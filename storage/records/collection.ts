// A collection: a name and a kind. Two are there from the start, `kv` (ordered) and `places` (spatial, lon/lat), so
// nothing needs set-up; others are records under `$collections 0x00 name`. Names hold no 0x00; `$` names are ours.
// A definition never changes once made, so peers may remember it; see collections.ts.

import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { checkSpace, lonLat } from '../../overlay/space/space.ts'
import type { Space } from '../../overlay/space/space.ts'
import { InvalidRequestError } from '../errors.ts'
import { collectionNameBytesMax } from '../init.ts'

export type CollectionDefinition =
  | { readonly name: string, readonly kind: 'ordered' }
  | { readonly name: string, readonly kind: 'spatial', readonly space: Space }

/** Half a character of UTF-16: it has no UTF-8 form. */
export const loneSurrogate = /\p{Surrogate}/u

/** Ascending by name. */
export const builtInCollections: readonly CollectionDefinition[] = [
  { name: 'kv', kind: 'ordered' },
  { name: 'places', kind: 'spatial', space: lonLat }
]

/**
 * A name as users give it: 1 to 64 bytes of UTF-8 without 0x00, not beginning with `$`.
 *
 * @throws InvalidRequestError
 */
export function checkCollectionName (name: unknown, field: string): string {
  if (typeof name !== 'string') throw new InvalidRequestError(field, `${typeof name} is no name; expected a string`)
  const bytes = fromString(name).length
  if (bytes === 0 || bytes > collectionNameBytesMax) throw new InvalidRequestError(field, `a name of ${bytes} bytes; expected 1 to ${collectionNameBytesMax}`)
  if (name.includes('\0')) throw new InvalidRequestError(field, `${JSON.stringify(name)} holds a zero byte`)
  if (loneSurrogate.test(name)) throw new InvalidRequestError(field, `${JSON.stringify(name)} is no well-formed Unicode`)
  if (name.startsWith('$')) throw new InvalidRequestError(field, `${JSON.stringify(name)} begins with $; such names are reserved`)
  return name
}

/**
 * A definition as users give it.
 *
 * @throws InvalidRequestError, InvalidSpaceError
 */
export function checkDefinition (given: unknown): CollectionDefinition {
  const fields = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>
  const name = checkCollectionName(fields['name'], 'name')
  if (fields['kind'] === 'ordered') return { name, kind: 'ordered' }
  if (fields['kind'] === 'spatial') return { name, kind: 'spatial', space: checkSpace(fields['space'] ?? lonLat, 'space') }
  throw new InvalidRequestError('kind', `${JSON.stringify(fields['kind']) ?? 'nothing'} is no kind; expected "ordered" or "spatial"`)
}

/** The value of its record: JSON, since it is read by people too. */
export function encodeDefinition (definition: CollectionDefinition): Uint8Array {
  return fromString(JSON.stringify(definition))
}

/** @throws InvalidRequestError, InvalidSpaceError, SyntaxError for bytes that encodeDefinition did not make */
export function decodeDefinition (bytes: Uint8Array): CollectionDefinition {
  return checkDefinition(JSON.parse(toString(bytes)))
}

export function sameDefinition (a: CollectionDefinition, b: CollectionDefinition): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
