// The checker of linearizability: histories written by hand, and small random ones beside a search that tries every order.

import assert from 'node:assert/strict'
import type { Operation } from '../../../testnet/simulator/checkers/history.ts'
import { assertLinearizable } from '../../../testnet/simulator/checkers/linearizable.ts'
import { chance, integer, pick } from '../../../testnet/simulator/draw.ts'
import { Random } from '../../../testnet/simulator/random.ts'
import { del, get, key, put } from './histories.ts'

function fault (history: readonly Operation[]): string | undefined {
  try {
    assertLinearizable(history)
    return undefined
  } catch (error) {
    assert.equal((error as Error).name, 'InvariantError')
    return (error as Error).message
  }
}

const right: Record<string, Operation[]> = {
  'one thing after the other': [get(undefined, [1, 2]), put('a', [3, 4], { had: false }), get('a', [5, 6]), del([7, 8], { had: true }), get(undefined, [9, 10]), del([11, 12], { had: false })],
  'a read beside a put that sees the old value, and one that sees the new': [put('a', [1, 2]), put('b', [3, 10]), get('a', [4, 5]), get('b', [6, 7])],
  'two puts at once that take effect in the order in which reads saw them': [put('a', [1, 10]), put('b', [2, 9]), get('b', [3, 4]), get('a', [5, 6])],
  'a put in doubt that nobody ever sees': [put('a', [1, 2]), put('b', [3]), get('a', [4, 5]), get('a', [6, 7])],
  'a put in doubt that is seen after a later one': [put('a', [1]), put('b', [2, 3]), get('b', [4, 5]), get('a', [6, 7]), get('a', [8, 9])],
  'a delete in doubt that explains why nothing is there': [put('a', [1, 2]), del([3]), get('a', [4, 5]), get(undefined, [6, 7])],
  'a put in doubt that nobody saw, but a later one found a record': [put('x', [1]), put('a', [2, 3], { had: true }), get('a', [4, 5])],
  'a put that failed and is not seen': [put('a', [1, 2]), put('b', [3, 4], { failed: true }), get('a', [5, 6])],
  'a put over nothing while the record was being deleted': [put('a', [1, 2]), del([3, 8], { had: true }), put('b', [4, 7], { had: false }), get('b', [9, 10])],
  'reads without an answer': [put('a', [1, 2]), get('nonsense', [3]), get(undefined, [4, 5], { failed: true })]
}

const wrong: Record<string, [history: Operation[], message: RegExp]> = {
  'a stale read': [[put('a', [1, 2]), put('b', [3, 4]), get('a', [5, 6])], /no order explains get gave a .* with b there/],
  'a lost write': [[put('a', [1, 2]), get(undefined, [3, 4])], /no order explains get gave nothing .* with a there/],
  'a read that goes back': [[put('a', [1, 2]), put('b', [3, 10]), get('b', [4, 5]), get('a', [6, 7])], /no order explains get gave a/],
  'a write in doubt that was seen and then vanished': [[put('a', [1, 2]), put('b', [3]), get('b', [4, 5]), get('a', [6, 7])], /no order explains get gave a/],
  'a write in doubt that takes effect twice': [[put('a', [1]), get('a', [2, 3]), put('b', [4, 5]), get('b', [6, 7]), get('a', [8, 9])], /no order explains get gave a/],
  'a write that failed for sure and is seen': [[put('a', [1, 2], { failed: true }), get('a', [3, 4])], /whose put had failed for sure/],
  'a value that nobody wrote': [[put('a', [1, 2]), get('z', [3, 4])], /get gave z .* which nobody wrote/],
  'a write that is seen before it began': [[get('a', [1, 2]), put('a', [3, 4])], /no order explains/],
  'two puts that both found nothing': [[put('a', [1, 4], { had: false }), put('b', [2, 3], { had: false })], /no order explains put of [ab] \(over nothing\)/],
  'a delete that found nothing behind a put': [[put('a', [1, 2]), del([3, 4], { had: false })], /no order explains delete \(over nothing\)/],
  'a deleted record that comes back': [[put('a', [1, 2]), del([3, 4], { had: true }), get(undefined, [5, 6]), get('a', [7, 8])], /no order explains get gave a/]
}

describe('the checker of linearizability', () => {
  for (const [name, history] of Object.entries(right)) {
    it(`has nothing against ${name}`, () => { assert.equal(fault(history), undefined) })
  }

  for (const [name, [history, message]] of Object.entries(wrong)) {
    it(`finds ${name}`, () => { assert.match(fault(history) ?? 'nothing', message) })
  }

  it('judges each key by itself, and leaves out those that are excused', () => {
    const history = [put('a', [1, 2]), get(undefined, [3, 4]), put('b', [1, 2], { key: 'kv/other' }), get('b', [3, 4], { key: 'kv/other' })]
    assert.match(fault(history) ?? '', /^kv\/k is not linearizable/)
    assertLinearizable(history, { excused: new Set([key]) })
    assert.equal(fault(history.filter(operation => operation.key !== key)), undefined)
  })

  it('says so when it needs more states than it may have', () => {
    const history = [...Array.from({ length: 12 }, (_, index) => put(`v${index}`, [1, 100])), get(undefined, [101, 102])]
    assert.throws(() => { assertLinearizable(history, { statesMax: 100 }) }, /no order was found in 100 states/)
  })

  it('is quick with many writes in doubt that nobody saw, whether there is an order or not', () => {
    const doubt = Array.from({ length: 16 }, (_, index) => index % 4 === 0 ? del([index * 2 + 1]) : put(`u${index}`, [index * 2 + 1]))
    const seen = Array.from({ length: 200 }, (_, index) => [put(`s${index}`, [100 + 4 * index, 101 + 4 * index]), get(`s${index}`, [102 + 4 * index, 103 + 4 * index])]).flat()
    assertLinearizable([...doubt, ...seen], { statesMax: 2000 })
    assert.throws(() => { assertLinearizable([...doubt, ...seen, get('s7', [2000, 2001])], { statesMax: 100_000 }) }, /no order explains get gave s7/)
  })

  it('agrees with trying every order, on 3,000 small random histories', () => {
    let [linearizable, not] = [0, 0]
    for (let seed = 0; seed < 3000; seed++) {
      const history = randomHistory(new Random(seed, 'history'))
      const expected = hasOrder(history)
      assert.equal(fault(history) === undefined, expected, `seed ${seed}: ${JSON.stringify(history)}`)
      if (expected) linearizable++
      else not++
    }
    assert(linearizable > 500 && not > 500, `${linearizable} are linearizable, ${not} are not`)
  })
})

/** Up to six operations on one key that overlap at random, with answers that are often right by chance. */
function randomHistory (random: Random): Operation[] {
  const count = integer(random, 2, 6)
  return Array.from({ length: count }, (_, index) => {
    const invoked = integer(random, 0, 12)
    const during = chance(random, 0.25) ? [invoked] as const : [invoked, invoked + integer(random, 1, 6)] as const
    const more = chance(random, 0.4) ? { had: chance(random, 0.5) } : {}
    switch (pick(random, ['put', 'put', 'get', 'get', 'delete'])) {
      case 'put': return put(`v${index}`, during, more)
      case 'get': return get(chance(random, 0.25) ? undefined : `v${integer(random, 0, count - 1)}`, during)
      default: return del(during, more)
    }
  })
}

/** By the definition: some order of some of the operations, with all that are ok, that keeps to time and to one record. */
function hasOrder (history: readonly Operation[]): boolean {
  const taking = history.filter(({ kind, outcome }) => outcome === 'ok' || kind !== 'get')
  const extend = (left: readonly Operation[], state: string | undefined): boolean => {
    if (left.every(({ outcome }) => outcome !== 'ok')) return true
    return left.some(next => {
      const isTooLate = left.some(other => other !== next && other.outcome === 'ok' && other.returned < next.invoked)
      if (isTooLate) return false
      if (next.kind === 'get' && next.value !== state) return false
      if (next.outcome === 'ok' && next.had !== undefined && next.had !== (state !== undefined)) return false
      const after = next.kind === 'get' ? state : next.kind === 'put' ? next.value : undefined
      return extend(left.filter(other => other !== next), after)
    })
  }
  return extend(taking, undefined)
}
