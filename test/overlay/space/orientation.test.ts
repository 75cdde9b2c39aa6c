// The exact orientation against whole-number arithmetic, where floating point alone gives wrong signs.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { orientation } from '../../../overlay/space/orientation.ts'

describe('the orientation of three points', () => {
  it('is right where floating point alone is known to fail: a grid of neighboring doubles on the diagonal', () => {
    // with c = (0.5 + i ulp, 0.5 + j ulp) and the line x = y the answer is the sign of j - i (Kettner et al. 2008)
    for (let i = 0; i < 40; i++) {
      for (let j = 0; j < 40; j++) {
        assert.equal(orientation(12, 12, 24, 24, 0, 0.5 + i * 2 ** -53 * 2, 0.5 + j * 2 ** -53 * 2, 0), Math.sign(j - i))
      }
    }
  })

  it('agrees with whole numbers for points on a fine grid, most of them nearly on one line', () => {
    const unit = 2 ** -40
    const part = fc.integer({ min: -(2 ** 46), max: 2 ** 46 })
    const nudge = fc.integer({ min: -1, max: 1 })
    fc.assert(fc.property(part, part, part, part, fc.integer({ min: 0, max: 4 }), nudge, nudge, (ax, ay, dx, dy, times, nx, ny) => {
      const [bx, by, cx, cy] = [ax + dx, ay + dy, ax + dx * times + nx, ay + dy * times + ny]
      const exact = BigInt(dx) * (BigInt(cy) - BigInt(ay)) - BigInt(dy) * (BigInt(cx) - BigInt(ax))
      const sign = exact > 0n ? 1 : exact < 0n ? -1 : 0
      assert.equal(orientation(ax * unit, ay * unit, bx * unit, by * unit, 0, cx * unit, cy * unit, 0), sign)
    }), { numRuns: 2_000 })
  })

  it('sees points that lie on a line over 180, where the sum with 360 is no double', () => {
    assert.equal(orientation(170, 0, -170, 10, 1, -180, 5, 1), 0)
    assert.equal(orientation(170, 0, -170, 10, 1, 175, 2.5, 0), 0)
    assert.equal(orientation(170, 0, -170, 10, 1, 175, 2.5000000000000004, 0), 1)
    // from 180 - e to -180 + e with e = 2^-45 · 3: the middle is 180 itself
    const e = 3 * 2 ** -45
    assert.equal(orientation(180 - e, 0, -180 + e, 2, 1, -180, 1, 1), 0)
    assert.equal(orientation(180 - e, 0, -180 + e, 2, 1, -180 + 2 ** -45, 1, 1), -1)
    // from 179 to -179.1 at half the height: the line is at 179.95, so what lies east of it is right of it
    assert.equal(orientation(179, 0, -179.1, 2, 1, 179.95, 1, 0), Math.sign(1 - 1 + exactDifference()))
  })

  it('keeps its sign for tiny and huge numbers', () => {
    assert.equal(orientation(0, 0, 1e-200, 1e-200, 0, 1e-200, 2e-200, 0), 1)
    assert.equal(orientation(0, 0, 1e200, 1e200, 0, 1e200, 1e200 * (1 + Number.EPSILON), 0), 1)
    assert.equal(orientation(0, 0, 5e-324, 5e-324, 0, 1e-323, 1e-323, 0), 0)
  })
})

/** 2 · (179.95 - 179) - (360 - 179.1 - 179), by the digits of the three doubles, in units of 2^-52; negated: right is -1. */
function exactDifference (): number {
  const unit = (x: number): bigint => BigInt(Math.trunc(x)) * 2n ** 52n + BigInt((x - Math.trunc(x)) * 2 ** 52)
  const difference = 2n * (unit(179.95) - unit(179)) - (unit(360) - unit(179.1) - unit(179))
  return -Number(difference)
}
