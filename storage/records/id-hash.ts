// Where an object's id lies on the curve: 52 bits of a hash of its bytes, so id records lie evenly over the same curve
// as the objects themselves. Two 32-bit lanes that mix each other, after the scheme of MurmurHash3 (Austin Appleby, public
// domain): multiply, rotate, fold; then its finalizer on each lane. Part of the on-disk form: it never changes.
// Not for security: whoever wants to can make ids that collide, and gets one crowded curve index.

const seed = 0x1505_2b1d
const firstFactor = 0xcc9e2d51 // constants of MurmurHash3 x86_32
const secondFactor = 0x1b873593
const laneStep = 0xe6546b64

/** Integer in [0, 2^52): the upper 26 bits from one lane, the lower 26 from the other. */
export function idHash (id: Uint8Array): number {
  let a = seed
  let b = seed ^ 0x5bd1_e995
  for (let at = 0; at < id.length; at += 4) {
    const word = (id[at]! | ((id[at + 1] ?? 0) << 8) | ((id[at + 2] ?? 0) << 16) | ((id[at + 3] ?? 0) << 24)) | 0
    a = step(a, Math.imul(rotate(Math.imul(word, firstFactor), 15), secondFactor)) ^ b
    b = step(b, Math.imul(rotate(Math.imul(word, secondFactor), 17), firstFactor)) + a | 0
  }
  a ^= id.length
  b = b + a | 0
  a = finish(a)
  b = finish(b ^ a)
  return (a >>> 6) * 2 ** 26 + (b >>> 6)
}

function step (lane: number, word: number): number {
  return Math.imul(rotate(lane ^ word, 13), 5) + laneStep | 0
}

function rotate (word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits))
}

function finish (lane: number): number {
  lane = Math.imul(lane ^ (lane >>> 16), 0x85eb_ca6b)
  lane = Math.imul(lane ^ (lane >>> 13), 0xc2b2_ae35)
  return lane ^ (lane >>> 16)
}
