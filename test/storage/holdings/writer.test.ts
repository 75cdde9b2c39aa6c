// The gate of writes: what is decided counts at once, is read when flushed, and is told to whoever follows.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { everything } from '../../../overlay/interval.ts'
import { Writer } from '../../../storage/holdings/writer.ts'
import { MemoryStore } from '../../../storage/memory-store.ts'
import { FlakyStore } from '../flaky-store.ts'

const bytes = (text: string): Uint8Array => fromString(text)

/** A store that flushes when it is told to. */
function gatedStore (): { store: MemoryStore, flush: () => void } {
  const gate = Promise.withResolvers<void>()
  return { store: new MemoryStore(async () => { await gate.promise }), flush: gate.resolve }
}

describe('the writer', () => {
  it('counts a decided write for decisions and not for reads', async () => {
    const { store, flush } = gatedStore()
    const writer = new Writer({ store, onFlushed: () => {}, spread: () => undefined })
    const written = writer.write([{ key: bytes('a'), value: bytes('1') }])
    assert.deepEqual(writer.latest(bytes('a')), bytes('1'))
    assert.equal(store.getSync(bytes('a')), undefined)
    flush()
    await written
    assert.deepEqual(store.getSync(bytes('a')), bytes('1'))
    const deleted = writer.write([{ key: bytes('a'), value: undefined }])
    assert.equal(writer.latest(bytes('a')), undefined)
    await deleted
    assert.equal(store.getSync(bytes('a')), undefined)
  })

  it('tells a follower what is decided while it follows, and what was not flushed when it began', async () => {
    const { store, flush } = gatedStore()
    const writer = new Writer({ store, onFlushed: () => {}, spread: () => undefined })
    const written = [writer.write([{ key: bytes('b'), value: bytes('1') }])]
    const follower = writer.follow({ low: bytes('b'), high: bytes('d') })
    for (const key of ['a', 'c', 'd']) written.push(writer.write([{ key: bytes(key), value: bytes('1') }]))
    assert.deepEqual(follower.take().map(key => toString(key)), ['b', 'c'])
    assert.equal(follower.size, 0)
    writer.unfollow(follower)
    written.push(writer.write([{ key: bytes('c'), value: bytes('2') }]))
    assert.equal(follower.size, 0)
    flush()
    await Promise.all(written)
    await writer.settled(everything)
  })

  it('forgets what could not be flushed', async () => {
    const store = new FlakyStore()
    const writer = new Writer({ store, onFlushed: () => {}, spread: () => undefined })
    store.isFull = true
    await assert.rejects(writer.write([{ key: bytes('a'), value: bytes('1') }]), { name: 'StoreFullError' })
    assert.equal(writer.latest(bytes('a')), undefined)
    await writer.flushed(bytes('a'))
  })
})
