// How many lists two vectors share, against counting bits.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { sharedLevels } from '../../../overlay/graph/membership-vector.ts'

const vector = fc.integer({ min: 0, max: 2 ** 32 - 1 })

/** Bits as text, lowest first. */
const bits = (vector: number): string => [...vector.toString(2).padStart(32, '0')].reverse().join('')

describe('membership vectors', () => {
  it('share as many levels as they have equal leading bits, lowest first', () => {
    assert.deepEqual([sharedLevels(0, 1), sharedLevels(0b0110, 0b1110), sharedLevels(7, 7), sharedLevels(0, 2 ** 31)], [0, 3, 32, 31])
    const pair = fc.tuple(vector, vector, fc.integer({ min: 0, max: 32 })).map(([a, b, shared]) => [a, shared === 32 ? a : ((b & ~(2 ** shared - 1)) | (a & (2 ** shared - 1))) >>> 0] as const)
    fc.assert(fc.property(pair, ([a, b]) => {
      let expected = 0
      while (expected < 32 && bits(a)[expected] === bits(b)[expected]) expected++
      assert.equal(sharedLevels(a, b), expected)
      assert.equal(sharedLevels(b, a), expected)
    }), { numRuns: 1000 })
  })

  it('make lists that are nested: whoever shares a level with a third shares it with each other', () => {
    fc.assert(fc.property(vector, vector, vector, (a, b, c) => {
      assert(sharedLevels(a, c) >= Math.min(sharedLevels(a, b), sharedLevels(b, c)))
    }))
  })
})
