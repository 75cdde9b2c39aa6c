// Keys are bytes; people and JSON see text. A key given as text is its UTF-8 form, byte for byte: no normalizing, no
// trimming. A key that is no UTF-8 (a boundary may fall anywhere) is shown as 0x and hex digits.

import { isUtf8 } from 'node:buffer'
import type { Key } from '../overlay/interval.ts'

const encoder = new TextEncoder()

/** @param text - well formed: without half surrogates; see `isWellFormed` */
export function keyOfText (text: string): Key {
  return encoder.encode(text)
}

/** Has the text a UTF-8 form? Half surrogates have none: two different ones would become one key. */
export function isWellFormed (text: string): boolean {
  return !/\p{Cs}/u.test(text)
}

/** The text of a key, or 0x… in hex when it is no UTF-8. */
export function textOfKey (key: Key): string {
  return textOfUtf8(key) ?? `0x${viewOf(key).toString('hex')}`
}

/** A bound as people see it: boundaries of spatial collections are binary, and control characters would garble a terminal. */
export function textOfBound (key: Key): string {
  return key.some(byte => byte < 0x20 || byte === 0x7f) ? `0x${viewOf(key).toString('hex')}` : textOfKey(key)
}

/** What Buffer.toString ends in, without a Buffer to be made first: a third of the time for short values, measured. */
const utf8Slice = (Buffer.prototype as unknown as { utf8Slice: (this: Uint8Array, from: number, to: number) => string }).utf8Slice

/** The text of bytes, or undefined when they are no UTF-8. */
export function textOfUtf8 (bytes: Uint8Array): string | undefined {
  const text = utf8Slice.call(bytes, 0, bytes.length)
  // U+FFFD stands for what could not be read, but may also be there itself.
  return text.includes('\ufffd') && !isUtf8(bytes) ? undefined : text
}

/** The same bytes as a Buffer. */
export function viewOf (bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** The same bytes as a plain Uint8Array, whose slice() copies, as protocol code expects. */
export function plainOf (buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)
}

/** A key of the one line, taken apart: the collection before its first zero byte, and the key within. */
export function splitKey (key: Key): { collection: string | undefined, key: Key } {
  const zero = key.indexOf(0)
  return zero < 0 ? { collection: undefined, key } : { collection: textOfKey(key.subarray(0, zero)), key: key.subarray(zero + 1) }
}
