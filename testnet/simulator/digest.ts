// A running hash of what a simulation delivered. Equal digests mean that two runs delivered the same events in the same
// order; it tells runs apart, it does not protect against anyone. Two multiply-xor lanes over 32-bit words.

const primeA = 0x85ebca6b
const primeB = 0xc2b2ae35

export class Digest {
  #a = 0x811c9dc5
  #b = 0x3243f6a8
  readonly #float = new Float64Array(1)
  readonly #words = new Uint32Array(this.#float.buffer)

  word (value: number): void {
    this.#a = Math.imul(this.#a ^ value, primeA)
    this.#a ^= this.#a >>> 15
    this.#b = Math.imul((this.#b + value) | 0, primeB)
    this.#b ^= this.#b >>> 13
  }

  /** Any number, by its IEEE 754 bits. */
  number (value: number): void {
    this.#float[0] = value
    this.word(this.#words[0]!)
    this.word(this.#words[1]!)
  }

  bytes (bytes: Uint8Array): void {
    this.word(bytes.length)
    const whole = bytes.length & ~3
    let i = 0
    for (; i < whole; i += 4) this.word(bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24))
    for (; i < bytes.length; i++) this.word(bytes[i]!)
  }

  text (text: string): void {
    this.word(text.length)
    for (let i = 0; i < text.length; i++) this.word(text.charCodeAt(i))
  }

  /** 16 hexadecimal digits for what came so far. */
  hex (): string {
    return (this.#a >>> 0).toString(16).padStart(8, '0') + (this.#b >>> 0).toString(16).padStart(8, '0')
  }
}
