// Seeded random streams for simulations: one stream for each (seed, name), so a node's draws do not depend on what other
// nodes draw. The generator is sfc32 (Chris Doty-Humphrey, PractRand): three words of state and a counter, period at
// least 2^32, good enough for simulation. Not for keys or secrets.

const wordRange = 2 ** 32
const fnvPrime = 0x01000193
/** Rounds thrown away so that near seeds part (guess; the author of sfc32 uses 12 to 15). */
const warmUpRounds = 15

/** One lane of FNV-1a over UTF-16 units; different offsets give different lanes. */
function hashText (text: string, offset: number): number {
  let hash = offset
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), fnvPrime)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}

export class Random {
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor (seed: number | string, name: string) {
    const text = `${seed}/${name}`
    this.#a = hashText(text, 0x811c9dc5)
    this.#b = hashText(text, 0x3243f6a8)
    this.#c = hashText(text, 0x6a09e667)
    for (let i = 0; i < warmUpRounds; i++) this.uint32()
  }

  /** Uniform integer in [0, 2^32). */
  uint32 (): number {
    const result = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + result) | 0
    return result >>> 0
  }

  /** Uniform in [0, 1) with 32 bits. */
  next (): number {
    return this.uint32() / wordRange
  }
}
