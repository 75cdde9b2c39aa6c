// Draws: within their bounds, as likely as they say, and the same for the same stream.

import assert from 'node:assert/strict'
import { between, exponential, integer, pareto, pickWeighted, shuffled } from '../../../testnet/simulator/draw.ts'
import { Random } from '../../../testnet/simulator/random.ts'

const draws = 20_000

function meanOf (draw: (random: Random) => number): number {
  const random = new Random(1, 'draws')
  let sum = 0
  for (let count = 0; count < draws; count++) sum += draw(random)
  return sum / draws
}

/** Within five standard errors of what it has to be. */
function assertNear (mean: number, expected: number, deviation: number): void {
  assert(Math.abs(mean - expected) < 5 * deviation / Math.sqrt(draws), `mean ${mean}, expected ${expected}`)
}

describe('draws', () => {
  it('have the means of their distributions', () => {
    assertNear(meanOf(random => between(random, 10, 20)), 15, 10 / Math.sqrt(12))
    assertNear(meanOf(random => exponential(random, 100)), 100, 100)
    // Pareto of shape 3 and mean 100: scale 200 / 3, variance scale² · 3 / ((3 - 1)² (3 - 2)), which is 57.7²; the cut takes next to nothing
    assertNear(meanOf(random => pareto(random, 100, 3)), 100, 57.8)
  })

  it('of integers reach both ends and nothing beyond', () => {
    const random = new Random(2, 'integers')
    const drawn = new Set(Array.from({ length: 1000 }, () => integer(random, -2, 3)))
    assert.deepEqual([...drawn].sort((a, b) => a - b), [-2, -1, 0, 1, 2, 3])
  })

  it('by weight are as frequent as their weights', () => {
    assertNear(meanOf(random => pickWeighted(random, { often: 3, seldom: 1, never: 0 }) === 'often' ? 1 : 0), 0.75, Math.sqrt(0.75 * 0.25))
    assert.equal(meanOf(random => pickWeighted(random, { often: 3, never: 0 }) === 'never' ? 1 : 0), 0)
  })

  it('of orders keep all items, and each item comes first as often', () => {
    const items = ['a', 'b', 'c', 'd']
    assert.deepEqual(shuffled(new Random(3, 'order'), items).sort(), items)
    assertNear(meanOf(random => shuffled(random, items)[0] === 'c' ? 1 : 0), 0.25, Math.sqrt(0.25 * 0.75))
  })
})
