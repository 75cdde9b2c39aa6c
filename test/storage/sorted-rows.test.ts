// The immutable map under the store in memory, at sizes that need branches over branches.

import assert from 'node:assert/strict'
import { everything } from '../../overlay/interval.ts'
import type { Operation } from '../../overlay/store.ts'
import { SortedRows } from '../../storage/sorted-rows.ts'
import { del, key, put } from '../conformance/store.ts'

const keysCount = 30000

/** Key and value of three bytes each, from the number index. */
function putNumber (index: number): Operation {
  return put(key(index >> 16, index >> 8 & 255, index & 255), index & 255, index >> 8 & 255, 7)
}

/** 0 to keysCount - 1 in a mixed order: 7919 is a prime that does not divide keysCount. */
const mixed = Array.from({ length: keysCount }, (_, index) => index * 7919 % keysCount)

function numbers (rows: SortedRows, reverse = false): number[] {
  return [...rows.pages(everything, { pageRows: 100, reverse })].flat().map(({ key }) => key[0]! * 65536 + key[1]! * 256 + key[2]!)
}

describe('storage/sorted-rows', () => {
  it('holds rows put one by one in any order, sorted both ways', () => {
    let rows = SortedRows.empty
    for (const index of mixed) rows = rows.with([putNumber(index)])
    const sorted = Array.from({ length: keysCount }, (_, index) => index)
    assert.deepEqual(numbers(rows), sorted)
    assert.deepEqual(numbers(rows, true), sorted.reverse())
    assert.equal(rows.bytesCount(everything), keysCount * 6)
  })

  it('keeps the rows that are left while nine of ten are deleted one by one, and earlier maps as they were', () => {
    const full = SortedRows.empty.with(mixed.map(putNumber))
    let rows = full
    for (const index of mixed) {
      if (index % 10 !== 3) rows = rows.with([del(putNumber(index).key)])
    }
    assert.deepEqual(numbers(rows), Array.from({ length: keysCount / 10 }, (_, index) => index * 10 + 3))
    assert.equal(numbers(full).length, keysCount)
    assert.equal(rows.bytesCount(everything), keysCount / 10 * 6)
    assert.deepEqual(numbers(rows.with(numbers(rows).map(index => del(putNumber(index).key)))), [])
  })

  it('holds values larger than a leaf beside small ones', () => {
    const large = new Uint8Array(1 << 20).fill(1)
    const rows = SortedRows.empty.with([putNumber(1), { type: 'put', key: key(0, 0, 2), value: large }, putNumber(3)]).with([putNumber(4)])
    assert.deepEqual(numbers(rows), [1, 2, 3, 4])
    assert.deepEqual(rows.get(key(0, 0, 2)), large)
  })
})
