// Bytes of the hand-written layouts: a writer that grows and a reader that checks its ends. Numbers are big-endian, so
// that they sort as they count, except lengths, which are varints of seven bits a byte, least first.

import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { UnreadableRowError } from '../errors.ts'

const startBytes = 256
const varintBytesMax = 5
const u32Length = 2 ** 32

/** Texts up to here are mostly content types and names; a call to a decoder takes longer than they do (profiled). */
const shortTextBytes = 64
/** One number on its way in or out: a view for each would cost more than the number. */
const scratchBytes = new Uint8Array(8)
const scratch = new DataView(scratchBytes.buffer)

export class ByteWriter {
  #bytes = new Uint8Array(startBytes)
  #length = 0

  get length (): number {
    return this.#length
  }

  u8 (value: number): this {
    this.#reserve(1)
    this.#bytes[this.#length++] = value
    return this
  }

  u32 (value: number): this {
    return this.#bigEndian(value, 4)
  }

  u48 (value: number): this {
    return this.#bigEndian(value, 6)
  }

  f64 (value: number): this {
    scratch.setFloat64(0, value)
    return this.raw(scratchBytes)
  }

  /** An integer in [0, 2^32). */
  varint (value: number): this {
    if (!(value >= 0 && value < u32Length && Number.isInteger(value))) throw new RangeError(`varint ${value} is not an integer in [0, 2^32)`)
    while (value >= 0x80) {
      this.u8((value & 0x7f) | 0x80)
      value = Math.floor(value / 0x80)
    }
    return this.u8(value)
  }

  raw (bytes: Uint8Array): this {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
    return this
  }

  bytes (bytes: Uint8Array): this {
    return this.varint(bytes.length).raw(bytes)
  }

  text (text: string): this {
    return this.bytes(fromString(text))
  }

  /** A copy of what was written. */
  finish (): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }

  #bigEndian (value: number, size: number): this {
    if (!(value >= 0 && value < 256 ** size && Number.isInteger(value))) throw new RangeError(`${value} does not fit into ${size} bytes`)
    this.#reserve(size)
    for (let at = size - 1; at >= 0; at--) {
      this.#bytes[this.#length + at] = value % 256
      value = Math.floor(value / 256)
    }
    this.#length += size
    return this
  }

  #reserve (more: number): void {
    if (this.#length + more <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
  }
}

/** Reads what ByteWriter wrote. Slices share memory with the source. @throws UnreadableRowError past the end */
export class ByteReader {
  readonly #bytes: Uint8Array
  #at: number

  constructor (bytes: Uint8Array, at = 0) {
    this.#bytes = bytes
    this.#at = at
  }

  get isAtEnd (): boolean {
    return this.#at >= this.#bytes.length
  }

  u8 (): number {
    return this.#bytes[this.#take(1)]!
  }

  u32 (): number {
    return this.#bigEndian(4)
  }

  u48 (): number {
    return this.#bigEndian(6)
  }

  f64 (): number {
    const at = this.#take(8)
    for (let byte = 0; byte < 8; byte++) scratchBytes[byte] = this.#bytes[at + byte]!
    return scratch.getFloat64(0)
  }

  varint (): number {
    let value = 0
    for (let size = 0; size < varintBytesMax; size++) {
      const byte = this.u8()
      value += (byte & 0x7f) * 0x80 ** size
      if (byte < 0x80) return value
    }
    throw new UnreadableRowError(`a length at byte ${this.#at} has more than ${varintBytesMax} bytes`)
  }

  raw (length: number): Uint8Array {
    const at = this.#take(length)
    return this.#bytes.subarray(at, at + length)
  }

  bytes (): Uint8Array {
    return this.raw(this.varint())
  }

  text (): string {
    const bytes = this.bytes()
    return (bytes.length <= shortTextBytes ? asciiOf(bytes) : undefined) ?? toString(bytes)
  }

  #bigEndian (size: number): number {
    const at = this.#take(size)
    let value = 0
    for (let byte = at; byte < at + size; byte++) value = value * 256 + this.#bytes[byte]!
    return value
  }

  #take (length: number): number {
    const at = this.#at
    if (at + length > this.#bytes.length) throw new UnreadableRowError(`${this.#bytes.length} bytes end before byte ${at + length}`)
    this.#at = at + length
    return at
  }
}

/** Undefined where a byte is not ASCII. */
function asciiOf (bytes: Uint8Array): string | undefined {
  const codes = new Array<number>(bytes.length)
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte >= 0x80) return undefined
    codes[at] = byte
  }
  return String.fromCharCode(...codes)
}
