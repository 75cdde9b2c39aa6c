// The checker of scans: what an answer must hold, what it may hold and what not.

import assert from 'node:assert/strict'
import type { Operation, Scan } from '../../../testnet/simulator/checkers/history.ts'
import { rangeReads } from '../../../testnet/simulator/checkers/range-reads.ts'
import { assertScans } from '../../../testnet/simulator/checkers/scans.ts'
import { del, get, put, range } from './histories.ts'

const [a, b, c] = ['kv/a', 'kv/b', 'kv/c'].map(key => ({ key })) as [{ key: string }, { key: string }, { key: string }]
/** a and c are there from the start; b is put at 10 to 13. */
const written = [put('1', [1, 2], a), put('3', [3, 4], c), put('2', [10, 13], b)]

function fault (scan: Scan, operations: readonly Operation[] = written): string | undefined {
  try {
    assertScans([scan], operations)
    return undefined
  } catch (error) {
    assert.equal((error as Error).name, 'InvariantError')
    return (error as Error).message
  }
}

describe('the checker of scans', () => {
  it('wants each record that was there throughout', () => {
    assert.equal(fault(range(['kv/a=1', 'kv/c=3'], [5, 6])), undefined)
    assert.match(fault(range(['kv/a=1'], [5, 6])) ?? '', /kv\/c is missing, which was there throughout with 3/)
    assert.match(fault(range(['kv/a=1', 'kv/c=3'], [14, 15])) ?? '', /kv\/b is missing/)
  })

  it('lets a record be there or not that is written or deleted meanwhile', () => {
    for (const rows of [['kv/a=1', 'kv/c=3'], ['kv/a=1', 'kv/b=2', 'kv/c=3']]) {
      assert.equal(fault(range(rows, [9, 11])), undefined)
      assert.equal(fault(range(rows, [19, 21]), [...written, del([18, 22], { ...b, had: true })]), undefined)
      assert.equal(fault(range(rows, [30, 31]), [...written, del([18], b)]), undefined, 'in doubt, a delete may come at any time')
    }
  })

  it('takes no record that nobody wrote, that is written later, whose put failed, or that is gone for sure', () => {
    const rows = ['kv/a=1', 'kv/b=2', 'kv/c=3']
    assert.match(fault(range(['kv/a=1', 'kv/c=3', 'kv/z=9'], [5, 6])) ?? '', /kv\/z with 9: nobody wrote that/)
    assert.match(fault(range(['kv/a=x', 'kv/c=3'], [5, 6])) ?? '', /kv\/a with x: nobody wrote that/)
    assert.match(fault(range(rows, [5, 6])) ?? '', /kv\/b with 2: that was written later/)
    assert.match(fault(range(rows, [20, 21]), [...written.slice(0, 2), put('2', [10, 13], { ...b, failed: true })]) ?? '', /kv\/b with 2: that put had failed for sure/)
    assert.match(fault(range(rows, [20, 21]), [...written, del([14, 15], { ...b, had: true })]) ?? '', /kv\/b with 2: that was over before/)
    assert.match(fault(range(rows, [20, 21]), [...written, put('4', [14, 15], b)]) ?? '', /kv\/b with 2: that was over before/)
  })

  it('takes a value of a put in doubt as long as nothing says that it is over', () => {
    const doubt = [put('old', [1], a), put('new', [3, 4], a)]
    assert.equal(fault(range(['kv/a=old'], [5, 6]), doubt), undefined)
    assert.equal(fault(range(['kv/a=new'], [5, 6]), doubt), undefined)
    // it was seen before the new one began: so it had taken effect by then
    assert.match(fault(range(['kv/a=old'], [7, 8]), [put('old', [1], a), get('old', [2, 3], a), put('new', [4, 5], a)]) ?? '', /that was over before/)
  })

  it('wants a key that was put anew throughout, in one of its values', () => {
    const operations = [put('1', [1, 2], a), put('2', [4, 8], a)]
    for (const value of ['1', '2']) assert.equal(fault(range([`kv/a=${value}`], [5, 6]), operations), undefined)
    assert.match(fault(range([], [5, 6]), operations) ?? '', /kv\/a is missing, which was there throughout with 1, or 2/)
  })

  it('wants each key once and in order', () => {
    assert.match(fault(range(['kv/a=1', 'kv/a=1', 'kv/c=3'], [5, 6])) ?? '', /kv\/a is there twice/)
    assert.match(fault(range(['kv/c=3', 'kv/a=1'], [5, 6])) ?? '', /kv\/a with 1 stands behind kv\/c/)
    const down = { compare: (x: { key: string }, y: { key: string }) => x.key < y.key ? 1 : -1 }
    assert.equal(fault(range(['kv/c=3', 'kv/a=1'], [5, 6], down)), undefined)
  })

  it('takes nothing that was not asked for, and misses nothing else', () => {
    const below = { asksFor: ({ key }: { key: string }) => key < 'kv/b' }
    assert.equal(fault(range(['kv/a=1'], [5, 6], below)), undefined)
    assert.match(fault(range(['kv/a=1', 'kv/c=3'], [5, 6], below)) ?? '', /kv\/c with 3 is not what it asks for/)
  })

  it('asks nothing of an answer behind its last row when a limit cut it, and nothing at all of one that is not complete', () => {
    assert.equal(fault(range(['kv/a=1'], [5, 6], { isCut: true })), undefined)
    assert.match(fault(range(['kv/c=3'], [5, 6], { isCut: true })) ?? '', /kv\/a is missing/)
    assert.equal(fault(range([], [5, 6], { isCut: true })), undefined)
    assert.equal(fault(range([], [5, 6], { complete: false })), undefined)
  })

  it('lets an object that ever moved stand anywhere in the order of a find', () => {
    const moved = [...written, put('1b', [5, 6], a)]
    assert.equal(fault(range(['kv/c=3', 'kv/a=1b'], [7, 8], { kind: 'find' }), moved), undefined)
    assert.match(fault(range(['kv/c=3', 'kv/a=1'], [5, 6], { kind: 'find' })) ?? '', /stands behind/)
  })

  it('leaves out keys that are excused', () => {
    assertScans([range(['kv/a=x'], [5, 6])], written, { excused: new Set(['kv/a', 'kv/c']) })
  })

  it('gives the rows of ranges as reads of single keys, and what is not there as reads of nothing', () => {
    const read = (scan: Scan): string[] => rangeReads([scan], written).map(({ key, value }) => `${key}=${value}`)
    assert.deepEqual(read(range(['kv/a=1', 'kv/c=3'], [5, 6])), ['kv/a=1', 'kv/c=3', 'kv/b=undefined'])
    assert.deepEqual(read(range(['kv/a=1'], [5, 6], { isCut: true })), ['kv/a=1'])
    assert.deepEqual(read(range(['kv/b=2'], [5, 6], { isCut: true })), ['kv/a=undefined', 'kv/b=2'])
    assert.deepEqual(read(range(['kv/a=1'], [5, 6], { complete: false })), [])
    assert.deepEqual(read(range(['kv/a=1'], [5, 6], { kind: 'find' })), [])
  })
})
