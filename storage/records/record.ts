// What a store holds under a key, and its bytes. Three kinds of rows: the record of an ordered key; the id record of an
// object, its primary, which holds the object's state and the intents that are still open; and the entry at an object's
// place, derived from it. A row without state is a tombstone (at a place: a mark), which keeps late messages from
// bringing the old state back. Layout by hand, because range and find read rows without making objects of them:
//
//   layout u8 = 1, kind u8, flags u8, version 26, then what the flags name, in the order of their bits, the value last:
//   contentType, point (two f64), text, movedTo, requested {id, had u8}, place, open (count, then {version, parts u8,
//   from {place, point, text?}, to}); a live place entry then has its words {rule u8, unicode, words joined by spaces}; value.
//
// Lengths are varints. A change of layout is a new number. Words are the business of storage/words.ts.

import type { Key } from '../../overlay/interval.ts'
import type { Point } from '../../overlay/space/point.ts'
import { UnreadableRowError } from '../errors.ts'
import type { StoredRecord, Version } from '../storage-api.ts'
import { ByteReader, ByteWriter } from './bytes.ts'
import { readVersion, versionBytes, writeVersion } from './version.ts'

/** What users gave. */
export interface State {
  readonly value: Uint8Array
  readonly contentType: string | undefined
  /** As given; objects only. */
  readonly point: Point | undefined
  readonly text: string | undefined
}

/** Where an object was, and what it said there. */
export interface Spot {
  readonly place: Key
  readonly point: Point
  readonly text: string | undefined
}

/** What an update of a primary has still to do elsewhere: docs/places.md, "Intents". */
export interface Intent {
  readonly version: Version
  /** Where the object was before; undefined: nowhere. */
  readonly from: Spot | undefined
  /** The key of its new place; undefined: nowhere. */
  readonly to: Key | undefined
}

/** The last request that named itself: a retry gets the same answer. */
export interface Requested {
  readonly id: string
  /** Was a live record there before it? */
  readonly had: boolean
}

/** Words with the rule and the Unicode version that made them. */
export interface StampedWords {
  readonly rule: number
  readonly unicode: string
  readonly words: readonly string[]
}

export interface OrderedRecord {
  readonly kind: 'ordered'
  readonly version: Version
  readonly state: State | undefined
  readonly requested: Requested | undefined
}

export interface IdRecord {
  readonly kind: 'id'
  readonly version: Version
  readonly state: State | undefined
  readonly requested: Requested | undefined
  /** The key of its place entry; undefined for objects without a point, and for tombstones. */
  readonly place: Key | undefined
  /** Oldest first. */
  readonly open: readonly Intent[]
}

export interface PlaceEntry {
  readonly kind: 'place'
  readonly version: Version
  readonly state: State | undefined
  /** Live entries only. */
  readonly words: StampedWords | undefined
  /** Marks only: where the object went. */
  readonly movedTo: Key | undefined
}

export type Held = OrderedRecord | IdRecord | PlaceEntry

const layout = 1
const kinds = ['ordered', 'id', 'place'] as const
const flag = { live: 1, contentType: 2, point: 4, text: 8, movedTo: 16, requested: 32, place: 64, open: 128 }
const part = { from: 1, fromText: 2, to: 4 }
const kindAt = 1
const flagsAt = 2
const versionAt = 3
const headBytes = versionAt + versionBytes

export function encodeHeld (held: Held): Uint8Array {
  const { state } = held
  const movedTo = held.kind === 'place' ? held.movedTo : undefined
  const requested = held.kind === 'place' ? undefined : held.requested
  const place = held.kind === 'id' ? held.place : undefined
  const open = held.kind === 'id' ? held.open : []
  const flags = (state === undefined ? 0 : flag.live) |
    (state?.contentType === undefined ? 0 : flag.contentType) | (state?.point === undefined ? 0 : flag.point) |
    (state?.text === undefined ? 0 : flag.text) | (movedTo === undefined ? 0 : flag.movedTo) |
    (requested === undefined ? 0 : flag.requested) | (place === undefined ? 0 : flag.place) | (open.length === 0 ? 0 : flag.open)
  const writer = new ByteWriter().u8(layout).u8(kinds.indexOf(held.kind)).u8(flags)
  writeVersion(writer, held.version)
  if (state?.contentType !== undefined) writer.text(state.contentType)
  if (state?.point !== undefined) writer.f64(state.point[0]).f64(state.point[1])
  if (state?.text !== undefined) writer.text(state.text)
  if (movedTo !== undefined) writer.bytes(movedTo)
  if (requested !== undefined) writer.text(requested.id).u8(requested.had ? 1 : 0)
  if (place !== undefined) writer.bytes(place)
  if (open.length > 0) writeIntents(writer, open)
  if (held.kind === 'place' && state !== undefined) writeWords(writer, held.words)
  if (state !== undefined) writer.bytes(state.value)
  return writer.finish()
}

/** Slices share memory with bytes. @throws UnreadableRowError */
export function decodeHeld (bytes: Uint8Array): Held {
  const kind = checkHead(bytes)
  const flags = bytes[flagsAt]!
  const has = (bit: number): boolean => (flags & bit) !== 0
  const reader = new ByteReader(bytes, versionAt)
  const version = readVersion(reader)
  const contentType = has(flag.contentType) ? reader.text() : undefined
  const point: Point | undefined = has(flag.point) ? [reader.f64(), reader.f64()] : undefined
  const text = has(flag.text) ? reader.text() : undefined
  const movedTo = has(flag.movedTo) ? reader.bytes() : undefined
  const requested = has(flag.requested) ? { id: reader.text(), had: reader.u8() === 1 } : undefined
  const place = has(flag.place) ? reader.bytes() : undefined
  const open = has(flag.open) ? readIntents(reader) : []
  const words = kind === 'place' && has(flag.live) ? readWords(reader) : undefined
  const state = has(flag.live) ? { value: reader.bytes(), contentType, point, text } : undefined
  if (!reader.isAtEnd) throw new UnreadableRowError('a row goes on behind its value')
  switch (kind) {
    case 'ordered': return { kind, version, state, requested }
    case 'id': return { kind, version, state, requested, place, open }
    case 'place': return { kind, version, state, words, movedTo }
  }
}

/** The kind of a row without reading the rest. @throws UnreadableRowError */
export function kindOf (bytes: Uint8Array): Held['kind'] {
  return checkHead(bytes)
}

/** False for tombstones and marks. */
export function isLive (bytes: Uint8Array): boolean {
  return (bytes[flagsAt]! & flag.live) !== 0
}

/** Has this id record intents that are still open? */
export function hasOpen (bytes: Uint8Array): boolean {
  return (bytes[flagsAt]! & flag.open) !== 0
}

/** The point of a row that has one, without reading the rest. */
export function pointOf (bytes: Uint8Array): Point | undefined {
  const flags = bytes[flagsAt]!
  if ((flags & flag.point) === 0) return undefined
  const reader = new ByteReader(bytes, headBytes)
  if ((flags & flag.contentType) !== 0) reader.bytes()
  return [reader.f64(), reader.f64()]
}

export function versionOf (bytes: Uint8Array): Version {
  checkHead(bytes)
  return readVersion(new ByteReader(bytes, versionAt))
}

/** A live row as users see it; key without its collection. Copies nothing. */
export function storedRecord (key: Key, held: { readonly version: Version, readonly state: State | undefined }): StoredRecord {
  if (held.state === undefined) throw new TypeError('a tombstone is no record')
  const { value, contentType, point, text } = held.state
  return { key, value, contentType, version: held.version, point, text }
}

/** The same row with an empty value and without words: what keysOnly needs. */
export function withoutValue (bytes: Uint8Array): Uint8Array {
  const held = decodeHeld(bytes)
  const state = held.state === undefined ? undefined : { ...held.state, value: new Uint8Array(0) }
  return encodeHeld(held.kind === 'place' ? { ...held, state, words: undefined } : { ...held, state })
}

function checkHead (bytes: Uint8Array): Held['kind'] {
  const kind = kinds[bytes[kindAt] ?? kinds.length]
  if (bytes.length < headBytes || bytes[0] !== layout || kind === undefined) {
    throw new UnreadableRowError(`a row of ${bytes.length} bytes begins with layout ${bytes[0]}, kind ${bytes[kindAt]}; expected layout ${layout} and kind 0 to ${kinds.length - 1}`)
  }
  return kind
}

function writeIntents (writer: ByteWriter, open: readonly Intent[]): void {
  writer.varint(open.length)
  for (const { version, from, to } of open) {
    writeVersion(writer, version)
    writer.u8((from === undefined ? 0 : part.from) | (from?.text === undefined ? 0 : part.fromText) | (to === undefined ? 0 : part.to))
    if (from !== undefined) writer.bytes(from.place).f64(from.point[0]).f64(from.point[1])
    if (from?.text !== undefined) writer.text(from.text)
    if (to !== undefined) writer.bytes(to)
  }
}

function readIntents (reader: ByteReader): Intent[] {
  const open: Intent[] = []
  for (let count = reader.varint(); count > 0; count--) {
    const version = readVersion(reader)
    const parts = reader.u8()
    const from = (parts & part.from) === 0 ? undefined : readSpot(reader, (parts & part.fromText) !== 0)
    open.push({ version, from, to: (parts & part.to) === 0 ? undefined : reader.bytes() })
  }
  return open
}

function readSpot (reader: ByteReader, withText: boolean): Spot {
  const place = reader.bytes()
  const point: Point = [reader.f64(), reader.f64()]
  return { place, point, text: withText ? reader.text() : undefined }
}

/** As one text, since a word holds no space: one string is read much faster than many. */
function writeWords (writer: ByteWriter, words: StampedWords | undefined): void {
  writer.u8(words?.rule ?? 0).text(words?.unicode ?? '').text(words?.words.join(' ') ?? '')
}

function readWords (reader: ByteReader): StampedWords {
  const rule = reader.u8()
  const unicode = reader.text()
  const joined = reader.text()
  return { rule, unicode, words: joined === '' ? [] : joined.split(' ') }
}
