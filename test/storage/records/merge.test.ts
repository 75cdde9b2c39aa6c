// Merging copies: whatever the order, the greatest version stands; and the place of an object that lost is cleared up.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { mergeRow } from '../../../storage/records/merge.ts'
import { decodeHeld, encodeHeld } from '../../../storage/records/record.ts'
import type { IdRecord } from '../../../storage/records/record.ts'

const member = (n: number): string => `${n}`.padStart(32, '0')
const record = fc.record({ ms: fc.nat(2), counter: fc.constantFrom(0, 2), by: fc.nat(2), place: fc.option(fc.nat(3), { nil: undefined }) })
  .map(({ ms, counter, by, place }): IdRecord => ({
    kind: 'id',
    // One version is one write, so what it wrote is a function of it.
    version: { ms: ms * 4 + (place ?? 4), counter, member: member(by) },
    state: place === undefined ? undefined : { value: Uint8Array.of(place), contentType: undefined, point: [place, 0], text: undefined },
    requested: undefined,
    place: place === undefined ? undefined : Uint8Array.of(place),
    open: []
  }))

const merge = (rows: readonly Uint8Array[]): Uint8Array => rows.reduce((stored, offered) => mergeRow(stored, offered) ?? stored)
const standing = (row: Uint8Array): unknown => ({ ...decodeHeld(row), open: [] })

describe('merging rows', () => {
  it('ends alike in any order and after any repetition', () => {
    fc.assert(fc.property(fc.array(record, { minLength: 1, maxLength: 5 }), fc.array(fc.nat()), (records, order) => {
      const rows = records.map(encodeHeld)
      const other = [...rows].sort((a, b) => (order[rows.indexOf(a)] ?? 0) - (order[rows.indexOf(b)] ?? 0))
      assert.deepEqual(standing(merge(rows)), standing(merge(other)))
      assert.deepEqual(standing(merge([...rows, ...other])), standing(merge(rows)))
    }), { numRuns: 300 })
  })

  it('leaves an intent for each place where an object lay that lost', () => {
    fc.assert(fc.property(fc.array(record, { minLength: 1, maxLength: 5 }), records => {
      const winner = decodeHeld(merge(records.map(encodeHeld))) as IdRecord
      const places = new Set(records.flatMap(({ place }) => place === undefined ? [] : [place[0]]))
      if (winner.place !== undefined) places.delete(winner.place[0])
      const cleared = new Set(winner.open.flatMap(({ from }) => from === undefined ? [] : [from.place[0]]))
      assert.deepEqual([...cleared].sort(), [...places].sort())
    }), { numRuns: 300 })
  })
})
