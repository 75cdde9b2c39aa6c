// A copy is brought in line with its source and never cleared: before the tail nothing newer is lost, after it both are
// equal, and equal copies send no rows. Expected rows are written down by hand; counts of rows follow from stretches of
// 256 rows.

import assert from 'node:assert/strict'
import { toString } from 'uint8arrays/to-string'
import { everything } from '../../../overlay/interval.ts'
import type { Operation, Snapshot, Store } from '../../../overlay/store.ts'
import type { Follower } from '../../../storage/holdings/writer.ts'
import { storageDefaults } from '../../../storage/init.ts'
import { MemoryStore } from '../../../storage/memory-store.ts'
import { storageMetrics } from '../../../storage/metrics.ts'
import { FlakyStore } from '../flaky-store.ts'
import { contentsOf, Holders, keyOf, manyRows, rowOf, shown } from './holders.ts'
import type { Holder, HoldersInit } from './holders.ts'

const put = (i: number, ms: number, text?: string): Operation => ({ type: 'put', key: keyOf(i), value: rowOf(ms, text) })
const names = (...numbers: number[]): string[] => numbers.map(i => toString(keyOf(i)))

/** A source and a learner with these rows, and a third node without any. */
async function holdersWith (source: readonly Operation[], learner: readonly Operation[], init: HoldersInit = {}, learnerStore: Store = new MemoryStore()): Promise<Holders> {
  const holders = new Holders([undefined, () => learnerStore, undefined], init)
  await holders.run(Promise.all([holders.at(0).store.batch(source), learnerStore.batch(learner)]))
  return holders
}

async function assertEqual (a: Holder, b: Holder): Promise<void> {
  assert.equal(await contentsOf(a.store), await contentsOf(b.store))
}

describe('a copy that is brought in line', () => {
  it('takes what it lacks and what is newer, and keeps what is newer here until the tail', async () => {
    const holders = await holdersWith(
      [put(1, 5), put(2, 5), put(3, 5, 'there')], //
      [put(2, 4), put(3, 6, 'here'), put(4, 1, 'only here')]
    )
    await holders.fill()
    const filled = { '000001': '5 at 5', '000002': '5 at 5', '000003': '6 here', '000004': '1 only here' }
    assert.deepEqual(await shown(holders.at(1).store), filled)
    await holders.tail()
    assert.deepEqual(await shown(holders.at(1).store), { '000001': '5 at 5', '000002': '5 at 5', '000003': '5 there' })
    await assertEqual(holders.at(0), holders.at(1))
  })

  it('takes other bytes of the same version in the tail only', async () => {
    const holders = await holdersWith([put(1, 5, 'closed')], [put(1, 5, 'open')])
    await holders.fill()
    assert.deepEqual(await shown(holders.at(1).store), { '000001': '5 open' })
    await holders.tail()
    assert.deepEqual(await shown(holders.at(1).store), { '000001': '5 closed' })
  })

  it('is settled by a tail without a fill before it', async () => {
    const holders = await holdersWith([put(1, 5), put(3, 1)], [put(1, 6), put(2, 1)])
    await holders.tail()
    await assertEqual(holders.at(0), holders.at(1))
  })

  it('keeps what is outside of the interval', async () => {
    const holders = await holdersWith([put(5, 1)], [put(1, 1), put(9, 1)])
    const request = holders.request({ interval: { low: keyOf(2), high: keyOf(9) } })
    await holders.fill(request)
    await holders.tail(request)
    assert.deepEqual(Object.keys(await shown(holders.at(1).store)), names(1, 5, 9))
  })

  it('is neither offered away nor let go of, whether the change was decided or given up', async () => {
    for (const kept of [true, false]) {
      const holders = await holdersWith([put(1, 5)], [put(2, 1)])
      await holders.fill()
      assert.equal(holders.at(1).learners.isFilling, true)
      holders.at(1).learners.release('s', kept)
      await holders.pass(1000)
      assert.equal(holders.at(1).learners.isFilling, false)
      assert.deepEqual([holders.at(1).madeRoom, holders.at(1).letGo], [[], []])
      assert.deepEqual(Object.keys(await shown(holders.at(1).store)), names(1, 2))
    }
  })

  it('stays as it is when its source is silent or forgets the session', async () => {
    const holders = await holdersWith([put(1, 5)], [put(2, 1)])
    await holders.fill()
    holders.at(0).sources.release('s')
    await assert.rejects(holders.tail(), { remoteName: 'UnknownSessionError' })
    holders.world.kill('node 0')
    await assert.rejects(holders.fill(holders.request({ session: 't' }), 2))
    assert.deepEqual(Object.keys(await shown(holders.at(1).store)), names(1, 2))
    assert.deepEqual(holders.at(1).letGo, [])
  })

  it('is refused where this node owns a part, and not where it leaves: others count on its copy until they have another', async () => {
    const holders = await holdersWith([put(1, 5)], [])
    holders.at(1).owned.add({ low: keyOf(0), high: keyOf(3) })
    await assert.rejects(holders.fill(), { remoteName: 'FillError', message: /owns/ })
    holders.at(1).owned.remove(everything)
    holders.at(1).learners.refuse(true)
    await holders.fill()
    await holders.tail()
    assert.deepEqual(await shown(holders.at(1).store), await shown(holders.at(0).store))
  })

  it('is not replaced any more once this node owns a part of it', async () => {
    const holders = await holdersWith([put(1, 5)], [put(1, 6)])
    await holders.fill()
    holders.at(1).owned.add({ low: keyOf(1), high: keyOf(2) })
    await assert.rejects(holders.tail(), { remoteName: 'FillError', message: /came to own/ })
    assert.deepEqual(await shown(holders.at(1).store), { '000001': '6 at 6' })
  })

  it('is not written to any more once the session was released', async () => {
    const store = new class extends MemoryStore {
      // released while the own rows of a part are read
      override snapshot (): Snapshot {
        const { pages, close } = super.snapshot()
        const release = (): void => { if (holders.at(0).count(storageMetrics.sent) > 0) holders.at(1).learners.release('s', false) }
        return {
          close,
          async * pages (interval, options) {
            release()
            yield * pages(interval, options)
          }
        }
      }
    }()
    const holders = await holdersWith([put(1, 5)], [put(2, 1)], {}, store)
    await assert.rejects(holders.fill())
    assert.deepEqual(Object.keys(await shown(store)), names(2))
  })

  it('is followed until its session ends, however that ends', async () => {
    const holders = await holdersWith([put(1, 5)], [put(2, 1)])
    const { writer, learners } = holders.at(1)
    const [follow, unfollow] = [writer.follow.bind(writer), writer.unfollow.bind(writer)]
    const followers = new Set<Follower>()
    writer.follow = interval => {
      const follower = follow(interval)
      followers.add(follower)
      return follower
    }
    writer.unfollow = follower => {
      followers.delete(follower)
      unfollow(follower)
    }
    const ends: Array<() => unknown> = [
      () => { learners.release('s', true) },
      async () => {
        holders.at(0).sources.release('s')
        await assert.rejects(holders.tail(), { remoteName: 'UnknownSessionError' })
      },
      async () => {
        await holders.pass(storageDefaults.sessionMs + 1)
        assert.equal(learners.isFilling, false)
      },
      () => {
        holders.at(1).owned.add(everything)
        learners.claimed()
        holders.at(1).owned.remove(everything)
      },
      () => { learners.stop() }
    ]
    for (const end of ends) {
      await holders.fill()
      assert.equal(followers.size, 1)
      await end()
      assert.equal(followers.size, 0)
    }
  })

  it('cannot become one that is cleared within a session', async () => {
    const holders = await holdersWith([put(1, 5)], [put(2, 1)])
    await holders.fill()
    await assert.rejects(holders.tail(holders.request({ learners: [{ ...holders.at(1).member, holds: false }] })), { remoteName: 'FillError' })
    assert.deepEqual(Object.keys(await shown(holders.at(1).store)), names(1, 2))
  })

  it('works when neither end calls it, and when the caller is the learner', async () => {
    for (const by of [1, 2]) {
      const holders = await holdersWith([put(1, 5), put(2, 7)], [put(1, 6), put(3, 1)])
      await holders.fill(holders.request(), by)
      assert.deepEqual(Object.keys(await shown(holders.at(1).store)), names(1, 2, 3))
      await holders.tail(holders.request(), by)
      await assertEqual(holders.at(0), holders.at(1))
    }
  })

  it('goes on beside a learner that is cleared', async () => {
    const holders = await holdersWith([put(1, 5), put(2, 7)], [put(1, 6), put(3, 1)])
    await holders.run(holders.at(2).store.batch([put(8, 9)]))
    const request = holders.request({ learners: [holders.holding(1), { ...holders.at(2).member, holds: false }] })
    await holders.fill(request)
    assert.deepEqual(Object.keys(await shown(holders.at(1).store)), names(1, 2, 3))
    assert.deepEqual(Object.keys(await shown(holders.at(2).store)), names(1, 2))
    await holders.tail(request)
    await assertEqual(holders.at(0), holders.at(1))
    await assertEqual(holders.at(0), holders.at(2))
  })
})

describe('what is written while a copy is brought in line', () => {
  it('stays where it came here first, and follows from the source when that has it', async () => {
    const holders = await holdersWith([put(1, 1), put(2, 1)], [put(1, 1), put(2, 1)])
    await holders.fill()
    await holders.run(holders.at(1).put(1, 9, 'both'))
    await holders.run(holders.at(1).put(2, 9, 'here alone'))
    await holders.run(holders.at(0).put(1, 9, 'both'))
    assert.deepEqual(await shown(holders.at(1).store), { '000001': '9 both', '000002': '9 here alone' })
    await holders.tail()
    assert.deepEqual(await shown(holders.at(1).store), { '000001': '9 both', '000002': '1 at 1' })
  })

  it('may come during the tail, which then goes on until nothing is left', async () => {
    let late: Promise<void> | undefined
    let isTail = false
    // the tail has taken its rows when the first of them is flushed
    const store: MemoryStore = new MemoryStore(async () => { if (isTail) late ??= holders.at(1).put(1, 8) })
    const holders = await holdersWith([put(1, 1), put(2, 2)], [put(1, 1)], {}, store)
    await holders.fill()
    await holders.run(holders.at(0).put(2, 3))
    isTail = true
    await holders.tail()
    await holders.run(late!)
    assert.deepEqual(await shown(store), { '000001': '1 at 1', '000002': '3 at 3' })
  })

  it('is not undone here when it was a delete that the source has not heard of', async () => {
    let deleted: Promise<void> | undefined
    const store = new class extends MemoryStore {
      // in the step after the session's first snapshot
      override snapshot (): Snapshot {
        const snapshot = super.snapshot()
        deleted ??= holders.at(1).writer.copy([{ key: keyOf(1), value: undefined }])
        return snapshot
      }
    }()
    const holders = await holdersWith([put(1, 1), put(2, 1)], [put(1, 1)], {}, store)
    await holders.fill()
    await holders.run(deleted!)
    assert.deepEqual(Object.keys(await shown(holders.at(1).store)), names(2))
    await holders.tail()
    await assertEqual(holders.at(0), holders.at(1))
  })

  it('is read at the source when flushed, also what was on its way when the session began', async () => {
    const store: MemoryStore = new MemoryStore(async () => { await holders.at(0).host.sleep(300) })
    const holders = new Holders([() => store, undefined])
    const written = holders.at(0).put(1, 4)
    await holders.fill(holders.request(), 1)
    await holders.tail(holders.request(), 1)
    await holders.run(written)
    assert.deepEqual(await shown(holders.at(1).store), { '000001': '4 at 4' })
  })

  it('is written again where its flush here may fail', async () => {
    const gate = Promise.withResolvers<void>()
    let isWaiting = true
    const store = new MemoryStore(async () => { if (isWaiting) await gate.promise })
    const holders = new Holders([undefined, () => store])
    await holders.run(holders.at(0).store.batch([put(1, 4)]))
    const lost = assert.rejects(holders.at(1).put(1, 4), /lost/)
    await holders.fill()
    isWaiting = false
    gate.reject(new Error('lost'))
    await lost
    assert.deepEqual(await shown(store), {})
    await holders.tail()
    assert.deepEqual(await shown(store), { '000001': '4 at 4' })
  })

  it('does not count as done when it could not be flushed', async () => {
    const store = new FlakyStore()
    const holders = await holdersWith([put(1, 5), put(2, 5)], [put(1, 1)], {}, store)
    store.isFull = true
    await assert.rejects(holders.fill(), { remoteName: 'StoreFullError' })
    store.isFull = false
    assert.deepEqual(await shown(store), { '000001': '1 at 1' })
    await holders.fill(holders.request({ session: 't' }))
    await holders.tail(holders.request({ session: 't' }))
    await assertEqual(holders.at(0), holders.at(1))
  })

  it('makes a fill of this copy be noted by the fills that it is the source of', async () => {
    const holders = await holdersWith([put(1, 5)], [put(1, 1)])
    await holders.run(holders.at(2).store.batch([put(1, 1)]))
    const onward = { ...holders.request({ session: 'onward' }), source: holders.at(1).member, learners: [holders.holding(2)] }
    await holders.fill(onward)
    await holders.fill()
    await holders.tail()
    await holders.tail(onward)
    assert.deepEqual(await shown(holders.at(2).store), { '000001': '5 at 5' })
  })
})

describe('the cost of bringing a copy in line', () => {
  it('is no row when 100,000 rows are equal', async () => {
    const rows = manyRows(100_000)
    const holders = await holdersWith(rows, rows)
    await holders.fill()
    await holders.tail()
    assert.deepEqual([holders.at(0).count(storageMetrics.sent), holders.at(1).count(storageMetrics.filled)], [0, 0])
  })

  it('is the rows of one stretch when one row differs, and they are not sent again in the tail', async () => {
    const rows = manyRows(1000)
    for (const [own, after] of [[put(300, 0), '1 at 1'], [put(300, 2), '2 at 2']] as const) {
      const holders = await holdersWith(rows, [...rows, own])
      await holders.fill()
      assert.equal(holders.at(0).count(storageMetrics.sent), 256)
      assert.equal((await shown(holders.at(1).store))['000300'], after)
      await holders.tail()
      // the one that was kept is asked for by its key
      assert.equal(holders.at(0).count(storageMetrics.sent), after === '1 at 1' ? 256 : 257)
      await assertEqual(holders.at(0), holders.at(1))
    }
  })

  it('is one row a key that is written at both, a round', async () => {
    const rows = manyRows(1000)
    // with 64 bytes a frame, each request names a few of the keys
    for (const frameBytesMax of [storageDefaults.frameBytesMax, 64]) {
      const holders = await holdersWith(rows, rows, { frameBytesMax })
      await holders.fill()
      for (let i = 0; i < 20; i++) await holders.run(Promise.all([holders.at(0).put(i, 2), holders.at(1).put(i, 2)]))
      await holders.tail()
      assert.equal(holders.at(0).count(storageMetrics.sent), 20)
      await assertEqual(holders.at(0), holders.at(1))
    }
  })

  it('is a further round when more than a tail was written meanwhile, at either end', async () => {
    for (const writing of [0, 1]) {
      const holders = await holdersWith(manyRows(10), manyRows(10), { tailKeysMax: 2 })
      const { writer } = holders.at(0)
      const settled = writer.settled.bind(writer)
      let answers = 0
      // the source asks this once an answer, when what it noted is taken
      writer.settled = async interval => {
        if (answers++ === 0) for (const i of [1, 2, 3]) void holders.at(writing).put(i, 5)
        await settled(interval)
      }
      await holders.fill()
      assert.equal(answers, 2)
      assert.equal((await shown(holders.at(1).store))['000003'], '5 at 5')
      await holders.tail()
      await assertEqual(holders.at(0), holders.at(1))
    }
  })

  it('is no further round for keys that only the tail can settle', async () => {
    const holders = await holdersWith(manyRows(2), [...manyRows(2), ...[20, 21, 22].map(i => put(i, 1))], { tailKeysMax: 1 })
    await holders.fill()
    assert.equal(holders.at(0).count(storageMetrics.sent), 2)
    assert.deepEqual(Object.keys(await shown(holders.at(1).store)), names(0, 1, 20, 21, 22))
    await holders.tail()
    await assertEqual(holders.at(0), holders.at(1))
  })

  it('is asked for in frames of bounded size, also for many parts and keys', async () => {
    // values of 40 KiB make each row a stretch
    const long = 'v'.repeat(40 << 10)
    const source = manyRows(40, long)
    const own = source.map((operation, i) => i % 2 === 0 ? put(i, 2, long) : operation)
    const holders = await holdersWith(source, [...own, ...Array.from({ length: 60 }, (_, i) => put(100 + i, 1))], { frameBytesMax: 64, scanPageRows: 3 })
    await holders.fill()
    // twenty rows that differ, each alone in its stretch, and the last stretch, which the further rows are in
    assert.equal(holders.at(0).count(storageMetrics.sent), 21)
    assert.equal(Object.keys(await shown(holders.at(1).store)).length, 100)
    await holders.tail()
    assert.equal(holders.at(0).count(storageMetrics.sent), 21 + 20 + 60)
    await assertEqual(holders.at(0), holders.at(1))
  })

  it('has a bound on what is kept until the tail, beyond which the fill fails and the copy stays', async () => {
    const further = (count: number): Operation[] => Array.from({ length: count }, (_, i) => put(100 + i, 1))
    const within = await holdersWith([put(1, 1)], further(5), { surplusKeysMax: 5 })
    await within.fill()
    const beyond = await holdersWith([put(1, 1)], further(6), { surplusKeysMax: 5 })
    await assert.rejects(beyond.fill(), { remoteName: 'FillError', definite: true, message: /more than 5 keys/ })
    // what it lacked may have come before
    assert.deepEqual(Object.keys(await shown(beyond.at(1).store)), names(1, 100, 101, 102, 103, 104, 105))
    assert.equal(storageDefaults.surplusKeysMax, 10_000)
  })
})
