// range against a sorted array: any bounds, both directions, any split of the line among owners, and pages of any size
// put together by their cursors.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { concat } from 'uint8arrays/concat'
import { fromString } from 'uint8arrays/from-string'
import type { RangeRequest } from '../../../storage/storage-api.ts'
import { deadline, FakeRing } from '../fake-ring.ts'

// Few bytes, so that bounds, prefixes and keys meet often.
const byte = fc.constantFrom(0, 1, 97, 98, 254, 255)
const key = fc.array(byte, { minLength: 1, maxLength: 3 }).map(bytes => Uint8Array.from(bytes))
const bound = fc.option(fc.tuple(key, fc.boolean()), { nil: undefined })
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const inLine = (bytes: Uint8Array): Uint8Array => concat([fromString('kv\0'), bytes])

const scenario = fc.record({
  keys: fc.uniqueArray(key, { maxLength: 40, selector: hex }),
  deleted: fc.array(fc.nat(), { maxLength: 8 }),
  boundaries: fc.uniqueArray(key, { maxLength: 4, selector: hex }),
  from: bound,
  to: bound,
  prefix: fc.option(key, { nil: undefined }),
  reverse: fc.boolean(),
  pages: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 }),
  messageRowsMax: fc.integer({ min: 1, max: 5 }),
  scannedRowsMax: fc.integer({ min: 1, max: 20 })
})

/** Byte order by Node's own comparison. */
function expected (keys: Uint8Array[], { from, to, prefix, reverse }: { from: [Uint8Array, boolean] | undefined, to: [Uint8Array, boolean] | undefined, prefix: Uint8Array | undefined, reverse: boolean }): string[] {
  const inside = keys.filter(key => {
    const low = from === undefined ? 1 : Buffer.compare(key, from[0])
    const high = to === undefined ? -1 : Buffer.compare(key, to[0])
    const isAbove = low > 0 || (low === 0 && from?.[1] === true)
    const isBelow = high < 0 || (high === 0 && to?.[1] === true)
    return isAbove && isBelow && (prefix === undefined || hex(key).startsWith(hex(prefix)))
  }).sort(Buffer.compare).map(hex)
  return reverse ? inside.reverse() : inside
}

describe('range', () => {
  it('gives what a sorted array gives, page after page, whoever owns what', async () => {
    await fc.assert(fc.asyncProperty(scenario, async ({ keys, deleted, boundaries, from, to, prefix, reverse, pages, messageRowsMax, scannedRowsMax }) => {
      fc.pre(from === undefined || to === undefined || Buffer.compare(from[0], to[0]) <= 0)
      const ring = new FakeRing({ boundaries: boundaries.map(inLine).sort(Buffer.compare), init: { messageRowsMax, scannedRowsMax, scanPageRows: 3 } })
      await ring.run(Promise.all(keys.map(async key => await ring.any.put({ collection: 'kv', key, value: key }, deadline))))
      const gone = new Set(deleted.filter(() => keys.length > 0).map(at => hex(keys[at % keys.length]!)))
      for (const key of keys) if (gone.has(hex(key))) await ring.run(ring.any.delete({ collection: 'kv', key }, deadline))
      const request: Omit<RangeRequest, 'limit'> = {
        collection: 'kv',
        ...(from === undefined ? {} : from[1] ? { gte: from[0] } : { gt: from[0] }),
        ...(to === undefined ? {} : to[1] ? { lte: to[0] } : { lt: to[0] }),
        prefix,
        reverse
      }
      const wanted = expected(keys.filter(key => !gone.has(hex(key))), { from, to, prefix, reverse })
      const got: string[] = []
      let cursor: string | undefined
      for (let page = 0; page < 100; page++) {
        const limit = pages[page % pages.length]!
        const asker = ring.nodes[page % ring.nodes.length]!.storage
        const answer = await ring.run(asker.range({ ...request, limit, cursor }, deadline))
        assert.equal(answer.complete, true)
        assert(answer.records.length <= limit)
        got.push(...answer.records.map(({ key }) => hex(key)))
        cursor = answer.cursor
        if (cursor === undefined) break
        assert.equal(answer.records.length, limit)
      }
      assert.equal(cursor, undefined)
      assert.deepEqual(got, wanted)
    }), { numRuns: 150 })
  })

  it('visits each owner once when nothing bounds its answer', async () => {
    const boundaries = ['b', 'd', 'f'].map(letter => inLine(fromString(letter)))
    const ring = new FakeRing({ boundaries })
    for (const letter of 'abcdefgh') await ring.run(ring.any.put({ collection: 'kv', key: fromString(letter), value: fromString('x') }, deadline))
    for (const reverse of [false, true]) {
      ring.asked = []
      await ring.run(ring.any.range({ collection: 'kv', limit: 100, reverse }, deadline))
      const visited = ring.asked.map(({ node }) => node)
      assert.deepEqual(visited, reverse ? [3, 2, 1, 0] : [0, 1, 2, 3])
    }
  })

  it('caps an answer by rows and by bytes, and leads on', async () => {
    const ring = new FakeRing({ init: { pageRowsMax: 3, pageBytesMax: 1000 } })
    for (const letter of 'abcdefgh') await ring.run(ring.any.put({ collection: 'kv', key: fromString(letter), value: fromString('x') }, deadline))
    const first = await ring.run(ring.any.range({ collection: 'kv', limit: 1e9 }, deadline))
    assert.deepEqual([first.records.length, first.complete, first.cursor !== undefined], [3, true, true])
    for (const letter of 'ab') await ring.run(ring.any.put({ collection: 'kv', key: fromString(letter), value: new Uint8Array(900) }, deadline))
    const second = await ring.run(ring.any.range({ collection: 'kv', limit: 1e9 }, deadline))
    assert.deepEqual([second.records.length, second.complete, second.cursor !== undefined], [2, true, true])
  })
})
