// Where intervals are cut: fresh nodes split an empty space evenly, others by bytes, and never inside a curve index.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { everything } from '../../../overlay/interval.ts'
import type { Interval, Key } from '../../../overlay/interval.ts'
import type { Store } from '../../../overlay/store.ts'
import { boundaryFor, weigh } from '../../../storage/holdings/boundary.ts'
import { storageDefaults } from '../../../storage/init.ts'
import { MemoryStore } from '../../../storage/memory-store.ts'
import { builtInCollections } from '../../../storage/records/collection.ts'
import { collectionPrefix, curveKey, idKey, isWholeIndex, orderedKey, placeKey } from '../../../storage/records/key-layout.ts'
import { encodeHeld } from '../../../storage/records/record.ts'
import type { Held } from '../../../storage/records/record.ts'

const version = { ms: 1, counter: 0, member: '0'.repeat(32) }
const state = { value: new Uint8Array(100), contentType: undefined, point: undefined, text: undefined }
const ordered: Held = { kind: 'ordered', version, state, requested: undefined }
const entry: Held = { kind: 'place', version, state, words: undefined, movedTo: undefined }
const id: Held = { kind: 'id', version, state, requested: undefined, place: undefined, open: [] }

async function storeOf (rows: Array<[Key, Held]>): Promise<Store> {
  const store = new MemoryStore()
  await store.batch(rows.map(([key, held]) => ({ type: 'put', key, value: encodeHeld(held) })))
  return store
}

const components = (store: Store) => ({ store, collections: () => builtInCollections })
const cut = async (store: Store, interval: Interval, share = 0.5, init = storageDefaults): Promise<Key | undefined> => await boundaryFor(components(store), init, interval, share)

describe('boundaryFor', () => {
  it('lets eight fresh nodes split the places evenly', async () => {
    const store = new MemoryStore()
    let intervals: Interval[] = [everything]
    for (let joined = 1; joined < 8; joined++) {
      const weights = await Promise.all(intervals.map(async interval => await weigh(components(store), storageDefaults, interval)))
      const heaviest = weights.indexOf(Math.max(...weights))
      const { low, high } = intervals[heaviest]!
      const boundary = await cut(store, { low, high })
      assert(boundary !== undefined)
      intervals = intervals.flatMap((interval, at) => at === heaviest ? [{ low, high: boundary }, { low: boundary, high }] : [interval])
    }
    assert.deepEqual(intervals.slice(1).map(({ low }) => Buffer.from(low)), [1, 2, 3, 4, 5, 6, 7].map(eighth => Buffer.from(curveKey('places', eighth * 2 ** 49))))
  })

  it('halves the bytes of an ordered collection, strictly inside', async () => {
    const store = await storeOf(Array.from({ length: 400 }, (_, i) => [orderedKey('kv', fromString(`${i}`.padStart(3, '0'))), ordered]))
    assert.deepEqual(await cut(store, everything), orderedKey('kv', fromString('200')))
    assert.deepEqual(await cut(store, everything, 0.25), orderedKey('kv', fromString('300')))
    const part = { low: orderedKey('kv', fromString('100')), high: orderedKey('kv', fromString('110')) }
    assert.deepEqual(await cut(store, part, 0.5, { ...storageDefaults, cutBytesMin: 1 }), orderedKey('kv', fromString('105')))
    assert.deepEqual(await cut(store, { low: part.low, high: orderedKey('kv', fromString('101')) }, 0.5, { ...storageDefaults, cutBytesMin: 1 }), undefined)
  })

  it('cuts few rows too where there is no curve to cut', async () => {
    const store = await storeOf(Array.from({ length: 4 }, (_, i) => [orderedKey('kv', fromString(`10${i}`)), ordered]))
    const part = { low: orderedKey('kv', fromString('1')), high: orderedKey('kv', fromString('2')) }
    assert.deepEqual(await cut(store, part), orderedKey('kv', fromString('102')))
    assert.deepEqual(await cut(store, everything), curveKey('places', 2 ** 51), 'the curve is worth more than four rows')
  })

  it('finds about the same cut in a large interval by narrowing it', async () => {
    const store = await storeOf(Array.from({ length: 1000 }, (_, i) => [orderedKey('kv', fromString(`${i}`.padStart(3, '0'))), ordered]))
    const init = { ...storageDefaults, cutScanBytesMax: 5000 }
    for (const [share, row] of [[0.5, 500], [0.1, 900], [0.9, 100]] as Array<[number, number]>) {
      const boundary = await cut(store, everything, share, init)
      assert(boundary !== undefined)
      // The store's own sizes are rough: two rows in a hundred at most.
      assert(Math.abs(Number(toString(boundary).slice(3)) - row) <= 20)
    }
  })

  it('cuts spatial collections on whole curve indices, and nothing where all lies at one', async () => {
    const ids = Array.from({ length: 500 }, (_, i) => fromString(`${i}`))
    const one = await storeOf(ids.map(id => [placeKey('places', 12345, id), entry]))
    assert.equal(await cut(one, { low: curveKey('places', 12345), high: curveKey('places', 12346) }), undefined)
    const boundary = await cut(one, everything)
    assert(boundary !== undefined && isWholeIndex(boundary, collectionPrefix('places').length))
    const two = await storeOf(ids.map((id, i) => [placeKey('places', i < 250 ? 5 : 9, id), entry]))
    assert.deepEqual(await cut(two, everything), curveKey('places', 9))
  })

  it('lies strictly inside and halves as well as any whole index can', async () => {
    const rows = fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { minLength: 2, maxLength: 40 })
    await fc.assert(fc.asyncProperty(rows, fc.array(fc.nat(4), { minLength: 1, maxLength: 8 }), async (indices, copies) => {
      const sorted = [...indices].sort((a, b) => a - b)
      const placed = sorted.flatMap((index, at) => Array.from({ length: 1 + copies[at % copies.length]! }, (_, copy) => ({ index, copy })))
      const store = await storeOf(placed.map(({ index, copy }) => [placeKey('places', index, Uint8Array.of(copy)), entry]))
      const boundary = await cut(store, everything, 0.5, { ...storageDefaults, cutBytesMin: 1 })
      assert(boundary !== undefined && isWholeIndex(boundary, collectionPrefix('places').length))
      const errorAt = (cutIndex: number): number => Math.abs(placed.filter(({ index }) => index >= cutIndex).length - placed.length / 2)
      const best = Math.min(...sorted.map(errorAt))
      const got = sorted.find(index => Buffer.compare(curveKey('places', index), boundary) >= 0)
      assert(got !== undefined)
      assert.equal(errorAt(got), best)
    }), { numRuns: 100 })
  })

  it('weighs what lies inside, and a little for the curve', async () => {
    const store = await storeOf([[idKey('places', fromString('a')), id], [orderedKey('kv', fromString('a')), ordered]])
    const whole = await weigh(components(store), storageDefaults, everything)
    const kv = await weigh(components(store), storageDefaults, { low: fromString('kv'), high: fromString('kw') })
    assert(whole > kv && kv > 100)
    assert.equal(await weigh(components(store), storageDefaults, { low: fromString('x'), high: fromString('x') }), 0)
  })
})
