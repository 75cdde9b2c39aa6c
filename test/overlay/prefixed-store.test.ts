// Parts of one store, beside one another. What each part alone must do is in test/conformance/store.test.ts.

import assert from 'node:assert/strict'
import { everything } from '../../overlay/interval.ts'
import { prefixed } from '../../overlay/prefixed-store.ts'
import { MemoryStore } from '../../storage/memory-store.ts'
import { allRows, del, key, put, settled, shown } from '../conformance/store.ts'

describe('overlay/prefixed-store', () => {
  it('carries operations of several parts in one batch', async () => {
    const store = new MemoryStore()
    const [left, right] = [prefixed(store, key(1)), prefixed(store, key(2))]
    await store.batch([left.operation(put(key(5), 1)), right.operation(put(key(5), 2)), right.operation(put(key(6), 2))])
    await store.batch([left.operation(del(key(6))), right.operation(del(key(5)))])
    assert.deepEqual(shown(await allRows(store)), ['1.5=1', '2.6=2'])
    assert.deepEqual(shown(await allRows(left)), ['5=1'])
    assert.deepEqual(shown(await allRows(right)), ['6=2'])
  })

  it('clears its own keys only, also to the open end', async () => {
    const store = new MemoryStore()
    await store.batch([put(key(1), 1), put(key(1, 255), 1), put(key(1, 255, 0), 2), put(key(1, 255, 9), 3), put(key(2), 4)])
    await prefixed(store, key(1, 255)).clear({ low: key(9), high: undefined })
    assert.deepEqual(shown(await allRows(store)), ['1=1', '1.255=1', '1.255.0=2', '2=4'])
    await prefixed(store, key(1, 255)).clear(everything)
    assert.deepEqual(shown(await allRows(store)), ['1=1', '2=4'])
  })

  it('may lie within another part', async () => {
    const store = new MemoryStore()
    const inner = prefixed(prefixed(store, key(1)), key(2))
    await inner.batch([put(key(3), 4)])
    assert.deepEqual(shown(await allRows(store)), ['1.2.3=4'])
    assert.deepEqual(inner.getSync(key(3)), key(4))
  })

  it('leaves the store open when the part is closed', async () => {
    const store = new MemoryStore()
    const part = prefixed(store, key(1))
    await part.close()
    assert.equal(await settled(part.batch([put(key(1), 1)])), 'StoreError')
    await store.batch([put(key(1), 1)])
    assert.deepEqual(store.getSync(key(1)), key(1))
  })
})
