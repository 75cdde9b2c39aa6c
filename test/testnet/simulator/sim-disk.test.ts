// The disk of a simulated node: slow as it is told to be, and after a crash it holds a first part of what was given.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import type { Operation } from '../../../overlay/store.ts'
import { SimDisk } from '../../../testnet/simulator/sim-disk.ts'
import { World } from '../../../testnet/simulator/world.ts'

const put = (key: string): Operation => ({ type: 'put', key: fromString(key), value: fromString(`v${key}`) })

function disk (flushMs: number): { world: World, store: SimDisk, pace: { flushMs: number } } {
  const world = new World({ seed: 1 })
  const pace = { flushMs }
  return { world, pace, store: new SimDisk(world.host('a'), pace) }
}

const held = (store: SimDisk, keys: string): string => [...keys].filter(key => store.rows.get(fromString(key)) !== undefined).join('')

describe('a simulated disk', () => {
  it('takes its time for a flush, which may change', async () => {
    const { world, store, pace } = disk(30)
    await world.settle(store.batch([put('a')]))
    assert.equal(world.now(), 30)
    pace.flushMs = 0
    await store.batch([put('b')])
    assert.equal(world.now(), 30)
  })

  it('does not get on while its node is paused', async () => {
    const { world, store } = disk(30)
    world.pause('a')
    world.clock.schedule(1000, { run: () => { world.resume('a') } })
    await world.settle(store.batch([put('a')]))
    assert.equal(world.now(), 1000)
  })

  it('holds, after a crash, what was flushed and the share of what was given that was written, each batch whole', async () => {
    for (const [writtenShare, left] of [[0, 'a'], [0.5, 'abc'], [1, 'abcde']] as const) {
      const { world, store } = disk(30)
      await world.settle(store.batch([put('a')]))
      void store.batch([put('b'), put('c')])
      void store.batch([put('d'), put('e')])
      world.kill('a')
      store.crash(writtenShare)
      assert.equal(held(store, 'abcde'), left)
      await world.run({ untilMs: 1000 })
      assert.equal(held(store, 'abcde'), left, 'the dead write no further')
    }
  })

  it('keeps the order of batches and clears in what a crash leaves', async () => {
    const { world, store } = disk(30)
    await world.settle(store.batch([put('a'), put('x')]))
    void store.clear({ low: fromString('a'), high: fromString('c') })
    void store.batch([put('b')])
    world.kill('a')
    store.crash(1)
    assert.equal(held(store, 'abx'), 'bx')
  })
})
