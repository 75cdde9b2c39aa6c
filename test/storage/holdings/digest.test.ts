// Stretches of rows and where two copies differ. The expected hashes are laid out by hand and hashed by Node; the expected
// parts of random copies are those that hold all the rows that differ.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { everything, holdsKey } from '../../../overlay/interval.ts'
import type { Interval } from '../../../overlay/interval.ts'
import type { Row } from '../../../overlay/store.ts'
import { differing, stretchesOf } from '../../../storage/holdings/digest.ts'
import type { Stretch } from '../../../storage/holdings/digest.ts'
import { RowReader } from '../../../storage/holdings/row-reader.ts'

const row = (i: number, value: string): Row => ({ key: fromString(`${i}`.padStart(4, '0')), value: fromString(value) })
const numbered = (count: number, change: (i: number) => string = () => 'x'): Row[] => Array.from({ length: count }, (_, i) => row(i, change(i)))

async function * pages (rows: readonly Row[], pageRows = 100): AsyncGenerator<Row[], void, undefined> {
  for (let at = 0; at < rows.length; at += pageRows) yield rows.slice(at, at + pageRows)
}

async function * given<T> (items: readonly T[]): AsyncGenerator<T, void, undefined> {
  yield * items
}

async function cut (rows: readonly Row[]): Promise<Stretch[]> {
  const stretches: Stretch[] = []
  for await (const stretch of stretchesOf(pages(rows))) stretches.push(stretch)
  return stretches
}

async function partsOf (source: readonly Row[], own: readonly Row[], interval: Interval = everything): Promise<Interval[]> {
  return await differing(interval, stretchesOf(pages(source)), new RowReader(pages(own, 7)))
}

const text = ({ low, high }: Interval): string => `${toString(low)}-${high === undefined ? '' : toString(high)}`

describe('a digest', () => {
  it('hashes each key and value behind its length', async () => {
    const long = 'y'.repeat(200)
    const [stretch, ...more] = await cut([row(1, 'ab'), row(2, ''), row(3, long)])
    // lengths as varints: 4, 2 and 0 in one byte, 200 = 0xc8 0x01
    const laidOut = `04${'30303031'}02${'6162'} 04${'30303032'}00 04${'30303033'}c801${'79'.repeat(200)}`.replaceAll(' ', '')
    const expected = createHash('sha256').update(laidOut, 'hex').digest('hex').slice(0, 32)
    assert.deepEqual([stretch!.high, stretch!.rows, toString(stretch!.hash, 'hex'), more], [undefined, 3, expected, []])
  })

  it('is one empty stretch where there are no rows', async () => {
    const [stretch, ...more] = await cut([])
    assert.deepEqual([stretch!.high, stretch!.rows, toString(stretch!.hash, 'hex'), more], [undefined, 0, createHash('sha256').digest('hex').slice(0, 32), []])
  })

  it('cuts before row 257 and before 64 KiB are exceeded; a larger row is alone', async () => {
    const byRows = await cut(numbered(600))
    assert.deepEqual(byRows.map(({ high, rows }) => [high && toString(high), rows]), [['0256', 256], ['0512', 256], [undefined, 88]])
    // two rows of 30 KiB fit into 64 KiB, three do not
    const kib = 1024
    const sizes = [30, 30, 30, 70, 30, 30]
    const byBytes = await cut(numbered(6, i => 'z'.repeat(sizes[i]! * kib)))
    assert.deepEqual(byBytes.map(({ high, rows }) => [high && toString(high), rows]), [['0002', 2], ['0003', 1], ['0004', 1], [undefined, 2]])
  })
})

describe('copies that are compared', () => {
  it('differ nowhere when they are equal', async () => {
    for (const count of [0, 1, 256, 257, 1000]) assert.deepEqual(await partsOf(numbered(count), numbered(count)), [])
  })

  it('differ in the stretch where a value, a missing or a further row is', async () => {
    const source = numbered(1000)
    assert.deepEqual((await partsOf(source, numbered(1000, i => i === 300 ? 'other' : 'x'))).map(text), ['0256-0512'])
    assert.deepEqual((await partsOf(source, source.filter((_, i) => i !== 0))).map(text), ['-0256'])
    assert.deepEqual((await partsOf(source, [...source, row(2000, 'x')])).map(text), ['0768-'])
    assert.deepEqual((await partsOf(source.filter((_, i) => i !== 999), source)).map(text), ['0768-'])
    const between = [...source.slice(0, 600), { key: fromString('0599a'), value: fromString('x') }, ...source.slice(600)]
    assert.deepEqual((await partsOf(source, between)).map(text), ['0512-0768'])
  })

  it('differ in one part where stretches that differ are adjacent, and in two where not', async () => {
    const source = numbered(1000)
    assert.deepEqual((await partsOf(source, numbered(1000, i => i === 300 || i === 600 ? 'y' : 'x'))).map(text), ['0256-0768'])
    assert.deepEqual((await partsOf(source, numbered(1000, i => i === 3 || i === 600 ? 'y' : 'x'))).map(text), ['-0256', '0512-0768'])
    assert.deepEqual((await partsOf(source, [])).map(text), ['-'])
    assert.deepEqual((await partsOf([], source, { low: fromString('0'), high: fromString('1') })).map(text), ['0-1'])
  })

  it('are not told apart by a digest that does not cover the interval', async () => {
    const [first, ...rest] = await cut(numbered(600))
    const compare = async (stretches: readonly Stretch[], high?: string): Promise<unknown> =>
      await differing({ low: fromString('0'), high: high === undefined ? undefined : fromString(high) }, given(stretches), new RowReader(pages(numbered(600))))
    await assert.rejects(compare([first!]), { name: 'FillError', message: /last stretch/ })
    await assert.rejects(compare([]), { name: 'FillError', message: /last stretch/ })
    await assert.rejects(compare([...rest, first!]), { name: 'FillError', message: /order/ })
    await assert.rejects(compare([rest[0]!, first!, ...rest]), { name: 'FillError', message: /order/ })
    await assert.rejects(compare([first!, ...rest], '0300'), { name: 'FillError', message: /order/ })
  })

  it('have all rows that differ in the parts, and no part without one in its stretches, whatever they are', async () => {
    // values of 22 KiB: two of them make a stretch
    const filler = 'v'.repeat(22 * 1024)
    const copy = fc.dictionary(fc.integer({ min: 10, max: 40 }).map(String), fc.constantFrom('', 'a', 'b', `a${filler}`), { maxKeys: 12 })
      .map(named => new Map(Object.entries(named).sort(([a], [b]) => a < b ? -1 : 1)))
    const rowsOf = (named: Map<string, string>): Row[] => [...named].map(([name, value]) => ({ key: fromString(name), value: fromString(value) }))
    await fc.assert(fc.asyncProperty(copy, copy, async (source, own) => {
      const differs = [...new Set([...source.keys(), ...own.keys()])].filter(name => source.get(name) !== own.get(name))
      const parts = await partsOf(rowsOf(source), rowsOf(own))
      for (const name of differs) assert(parts.some(part => holdsKey(part, fromString(name))), `${name} in ${parts.map(text).join()}`)
      for (const part of parts) assert(differs.some(name => holdsKey(part, fromString(name))), text(part))
    }), { numRuns: 200 })
  })
})
