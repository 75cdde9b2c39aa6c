// Cuts a stream of bytes into frames, each behind its length as u32 little-endian. Frames that lie whole within a chunk
// are views of it, without a copy; a frame that comes in pieces is joined once, however many pieces there are. While it is
// paused, also from within a frame's handler, it holds what has come: a chunk of small requests may ask for large replies.

import type { Uint8ArrayList } from 'uint8arraylist'
import { assertFrameLength, lengthBytes } from './wire/frame.ts'

const nothing = new Uint8Array(0)

export class Framer {
  readonly #onFrame: (frame: Buffer) => void
  #parts: Buffer[] = []
  #partsBytes = 0
  /** Bytes that the frame under way needs, with its length; 0 while that is unknown. */
  #needed = 0
  isPaused = false
  /** Frames given so far. */
  framesCount = 0

  constructor (onFrame: (frame: Buffer) => void) { this.#onFrame = onFrame }

  /** Has a frame begun that has not come whole? */
  get isWithinFrame (): boolean { return this.#partsBytes > 0 && !this.isPaused }

  /** @throws RangeError where a frame is longer than allowed: the stream cannot be read any further. */
  push (chunk: Uint8Array | Uint8ArrayList): void {
    let bytes = asBuffer(chunk)
    if (this.#partsBytes > 0) {
      this.#parts.push(bytes)
      this.#partsBytes += bytes.length
      if (this.#partsBytes < this.#needed || this.isPaused) return
      bytes = Buffer.concat(this.#parts, this.#partsBytes)
      this.#parts = []
      this.#partsBytes = 0
    }
    let at = 0
    this.#needed = lengthBytes
    while (bytes.length - at >= lengthBytes && !this.isPaused) {
      const length = bytes.readUInt32LE(at)
      assertFrameLength(length)
      const end = at + lengthBytes + length
      if (bytes.length < end) { this.#needed = end - at; break }
      this.framesCount++
      this.#onFrame(bytes.subarray(at + lengthBytes, end))
      at = end
    }
    if (at === bytes.length) return
    this.#parts.push(bytes.subarray(at))
    this.#partsBytes = bytes.length - at
  }

  pause (): void { this.isPaused = true }

  /** Gives the frames that have come meanwhile, at once. Throws as push does. */
  resume (): void {
    if (!this.isPaused) return
    this.isPaused = false
    if (this.#partsBytes > 0) this.push(nothing)
  }
}

function asBuffer (chunk: Uint8Array | Uint8ArrayList): Buffer {
  const bytes = chunk instanceof Uint8Array ? chunk : chunk.subarray()
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
