// What the store in memory adds to the conformance suite: flushes that the caller holds back, fails or loses.

import assert from 'node:assert/strict'
import { StoreFullError } from '../../overlay/errors.ts'
import { everything } from '../../overlay/interval.ts'
import { MemoryStore } from '../../storage/memory-store.ts'
import { allRows, del, key, put, rowsOf, settled, shown } from '../conformance/store.ts'

/** A disk that is done when the test says so: each flush waits in `pending`. */
function heldDisk (): { flush: () => Promise<void>, pending: Array<PromiseWithResolvers<void>> } {
  const pending: Array<PromiseWithResolvers<void>> = []
  return {
    pending,
    flush: async () => {
      const next = Promise.withResolvers<void>()
      pending.push(next)
      await next.promise
    }
  }
}

/** Lets everything run that waits for nothing else. */
async function idle (): Promise<void> {
  await new Promise(resolve => setImmediate(resolve))
}

describe('storage/memory-store', () => {
  it('shows a batch to nobody before its flush is done', async () => {
    const disk = heldDisk()
    const store = new MemoryStore(disk.flush)
    const batch = store.batch([put(key(1), 1)])
    await idle()
    assert.equal(store.getSync(key(1)), undefined)
    const before = store.snapshot()
    disk.pending[0]!.resolve()
    await batch
    assert.deepEqual(store.getSync(key(1)), key(1))
    assert.deepEqual(await rowsOf(before), [])
  })

  it('carries in one flush the batches that were given while another ran', async () => {
    const disk = heldDisk()
    const store = new MemoryStore(disk.flush)
    const batches = [store.batch([put(key(1), 1)])]
    await idle()
    for (const value of [2, 3, 4]) batches.push(store.batch([put(key(value), value)]))
    disk.pending[0]!.resolve()
    await idle()
    assert.equal(disk.pending.length, 2)
    disk.pending[1]!.resolve()
    await Promise.all(batches)
    assert.equal(disk.pending.length, 2)
    assert.deepEqual(shown(await allRows(store)), ['1=1', '2=2', '3=3', '4=4'])
  })

  it('applies neither a batch whose flush failed nor those that waited behind it, and takes later ones', async () => {
    const disk = heldDisk()
    const store = new MemoryStore(disk.flush)
    const failed = store.batch([put(key(1), 1)])
    await idle()
    const behind = [store.batch([put(key(2), 2)]), store.clear(everything)]
    disk.pending[0]!.reject(new StoreFullError('full'))
    assert.deepEqual(await Promise.all([failed, ...behind].map(settled)), ['StoreFullError', 'StoreFullError', 'StoreFullError'])
    const later = store.batch([put(key(3), 3)])
    await idle()
    disk.pending[1]!.resolve()
    await later
    assert.deepEqual(shown(await allRows(store)), ['3=3'])
  })

  it('refuses a batch as busy when 64 MiB wait already, and takes one that is larger alone', async () => {
    const disk = heldDisk()
    const store = new MemoryStore(disk.flush)
    const half = { type: 'put' as const, key: key(1), value: new Uint8Array(33 << 20) }
    const taken = [store.batch([half, half])]
    await idle()
    taken.push(store.batch([half]))
    assert.equal(await settled(store.batch([half])), 'BusyError')
    disk.pending[0]!.resolve()
    await idle()
    disk.pending[1]!.resolve()
    assert.deepEqual(await Promise.all(taken.map(settled)), ['done', 'done'])
  })

  it('starts with what another had flushed, as after a crash', async () => {
    const disk = heldDisk()
    const before = new MemoryStore(disk.flush)
    const first = before.batch([put(key(1), 1)])
    await idle()
    disk.pending[0]!.resolve()
    await first
    const lost = before.batch([put(key(2), 2)])
    const after = new MemoryStore(undefined, before.rows)
    assert.deepEqual(shown(await allRows(after)), ['1=1'])
    await after.batch([del(key(1))])
    assert.deepEqual(before.getSync(key(1)), key(1))
    await idle()
    disk.pending[1]!.resolve()
    await lost
    assert.deepEqual(await allRows(after), [])
  })

  it('counts the bytes of the keys and values of an interval', async () => {
    const store = new MemoryStore()
    await store.batch(Array.from({ length: 10000 }, (_, index) => put(key(index >> 8, index & 255), 1, 2, 3)))
    assert.equal(await store.approximateSize(everything), 50000)
    assert.equal(await store.approximateSize({ low: key(1, 16), high: key(9, 32) }), 5 * (8 * 256 + 16))
    await store.clear({ low: key(2), high: key(3) })
    assert.equal(await store.approximateSize(everything), 50000 - 5 * 256)
  })
})
