// How keys of collections lie on the one key line: `c 0x00 key` for records of ordered collections; for objects of spatial
// ones a place entry `c 0x00 index 0x01 id` and an id record `c 0x00 hash 0x00 id`, where index and hash are 52-bit numbers
// in 8 bytes, big-endian. So both kinds of rows lie on the same curve, and a run of keys is a connected piece of the map.
// Definitions lie at `$collections 0x00 name`. Part of the on-disk and wire form: it never changes.

import { concat } from 'uint8arrays/concat'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import type { Interval, Key } from '../../overlay/interval.ts'
import { prefixInterval } from '../../overlay/interval.ts'
import { curveLength } from '../../overlay/space/curve.ts'
import { idHash } from './id-hash.ts'

/** The collection of definitions. */
export const definitionsName = '$collections'
/** Bytes of a curve index or an id's hash. */
export const indexBytes = 8
const separator = Uint8Array.of(0)
const idMark = 0
const placeMark = 1
const u32Length = 2 ** 32
const curveEnd = curveLength()

/** What all keys of a collection begin with. */
export function collectionPrefix (name: string): Key {
  return concat([fromString(name), separator])
}

export function collectionInterval (name: string): Interval {
  return prefixInterval(collectionPrefix(name))
}

/** The key of a record of an ordered collection. */
export function orderedKey (name: string, key: Key): Key {
  return concat([collectionPrefix(name), key])
}

export function definitionKey (name: string): Key {
  return orderedKey(definitionsName, fromString(name))
}

/** The key of an object's id record: who owns it gives the object its versions. */
export function idKey (name: string, id: Key): Key {
  return concat([curveKey(name, idHash(id)), Uint8Array.of(idMark), id])
}

/** The key of an object's entry at its place. */
export function placeKey (name: string, curveIndex: number, id: Key): Key {
  return concat([curveKey(name, curveIndex), Uint8Array.of(placeMark), id])
}

/** The least key at a curve index, below all rows there; the curve's length gives the end of the collection. */
export function curveKey (name: string, curveIndex: number): Key {
  if (!(curveIndex >= 0 && curveIndex <= curveEnd && Number.isInteger(curveIndex))) throw new RangeError(`curve index ${curveIndex} is not an integer in [0, 2^52]`)
  const prefix = collectionPrefix(name)
  const key = new Uint8Array(prefix.length + indexBytes)
  key.set(prefix)
  const view = new DataView(key.buffer)
  view.setUint32(prefix.length, Math.floor(curveIndex / u32Length))
  view.setUint32(prefix.length + 4, curveIndex % u32Length)
  return key
}

/** The curve index of a key whose collection's prefix has prefixBytes; short keys count as padded with zeros, and what lies beyond the curve as its end. */
export function curveIndexOf (key: Key, prefixBytes: number): number {
  let index = 0
  for (let at = prefixBytes; at < prefixBytes + indexBytes; at++) index = index * 256 + (key[at] ?? 0)
  return Math.min(index, curveEnd)
}

/** The id of an id record or a place entry. */
export function idOf (key: Key, prefixBytes: number): Key {
  return key.subarray(prefixBytes + indexBytes + 1)
}

/** Does this key of a spatial collection lie at its curve index only, so that a boundary here cuts no index? */
export function isWholeIndex (key: Key, prefixBytes: number): boolean {
  return key.length <= prefixBytes + indexBytes
}

export function isPlaceKey (key: Key, prefixBytes: number): boolean {
  return key[prefixBytes + indexBytes] === placeMark
}

/** The name of the collection that a key belongs to; undefined for keys of none. */
export function collectionOf (key: Key): string | undefined {
  const end = key.indexOf(0)
  return end <= 0 ? undefined : toString(key.subarray(0, end))
}

/** A key without its collection, as users know it: clipped to the collection's first key. */
export function withoutCollection (name: string, key: Key): Key {
  const prefix = collectionPrefix(name)
  for (let at = 0; at < prefix.length; at++) if (key[at] !== prefix[at]) return new Uint8Array(0)
  return key.subarray(prefix.length)
}

/** A key as a map key: one UTF-16 unit a byte. */
export function keyName (key: Key): string {
  return toString(key, 'latin1')
}
