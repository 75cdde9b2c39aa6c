// Reads LevelDB's numbers and strings out of bytes, one after the other. What does not fit is damage.

/** Bytes that are not what LevelDB writes. The message says in which way. */
export class DamagedBytesError extends Error {
  override readonly name = 'DamagedBytesError'
  readonly definite = true
}

export class ByteCursor {
  readonly #bytes: Buffer
  at = 0

  constructor (bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd (): boolean { return this.at >= this.#bytes.length }

  /** A varint of up to 53 bits; LevelDB's sizes and file numbers are below that. */
  varint (): number {
    let value = 0
    for (let scale = 1; scale < 2 ** 56; scale *= 128) {
      const byte = this.#bytes[this.at++]
      if (byte === undefined) break
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
    throw new DamagedBytesError('a number is cut off')
  }

  bytes (count: number): Buffer {
    const end = this.at + count
    if (end > this.#bytes.length) throw new DamagedBytesError(`${count} bytes are expected and ${this.#bytes.length - this.at} are there`)
    const bytes = this.#bytes.subarray(this.at, end)
    this.at = end
    return bytes
  }

  /** Bytes behind their length. */
  text (): Buffer {
    return this.bytes(this.varint())
  }
}
