// Versions: later writes have greater ones, whatever the clock shows.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { compareVersions, giveVersion, nextVersion, versionText } from '../../../storage/records/version.ts'

const member = '0'.repeat(31) + '1'
const version = fc.record({ ms: fc.integer({ min: 0, max: 2 ** 48 - 2 }), counter: fc.integer({ min: 0, max: 2 ** 32 - 1 }), member: fc.constantFrom(member, 'f'.repeat(32)) })

describe('versions', () => {
  it('are ordered by time, counter and member', () => {
    const ascending = [[1, 0, '0a'], [1, 0, '0b'], [1, 1, '0a'], [1, 2, '0a'], [2, 0, '00']].map(([ms, counter, member]) => ({ ms, counter, member }) as { ms: number, counter: number, member: string })
    for (const [i, a] of ascending.entries()) for (const [j, b] of ascending.entries()) assert.equal(Math.sign(compareVersions(a, b)), Math.sign(i - j))
  })

  it('that are given next are greater than the stored one and its expiry, even, and not below clock and floor', () => {
    fc.assert(fc.property(version, fc.nat(2 ** 47), fc.nat(2 ** 47), (stored, clockMs, floorMs) => {
      const given = giveVersion({ clockMs, floorMs, stored, member })
      const expiry = { ...stored, counter: stored.counter + 1 - stored.counter % 2 }
      assert(compareVersions(given, expiry) > 0)
      assert.equal(given.counter % 2, 0)
      assert(given.counter < 2 ** 32)
      assert(given.ms >= clockMs && given.ms >= floorMs)
    }))
  })

  it('add a millisecond when the counter is full', () => {
    assert.deepEqual(nextVersion({ ms: 7, counter: 2 ** 32 - 2, member }, member), { ms: 8, counter: 0, member })
    assert.deepEqual(nextVersion({ ms: 7, counter: 4, member }, member), { ms: 7, counter: 6, member })
    assert.deepEqual(nextVersion({ ms: 7, counter: 5, member }, member), { ms: 7, counter: 6, member })
  })

  it('are written as time, counter, member', () => {
    assert.equal(versionText({ ms: 12, counter: 4, member }), `12-4-${member}`)
  })
})
