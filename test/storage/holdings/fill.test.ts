// Hand-over of rows while they are written: nothing acknowledged is lost, nothing deleted comes back, nothing is dropped
// before its owner has it. The expected end is what the writers were told.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { everything, prefixInterval } from '../../../overlay/interval.ts'
import type { Interval } from '../../../overlay/interval.ts'
import { FlakyStore } from '../flaky-store.ts'
import { storageDefaults } from '../../../storage/init.ts'
import { MemoryStore } from '../../../storage/memory-store.ts'
import type { Store } from '../../../overlay/store.ts'
import { deadline, FakeRing } from '../fake-ring.ts'

const key = (i: number): Uint8Array => fromString(`${i}`.padStart(4, '0'))
const lineKey = (text: string): Uint8Array => fromString(`kv\0${text}`)
const all = { collection: 'kv', limit: 100_000 }

async function rowsIn (store: Store, interval: Interval): Promise<string[]> {
  const keys: string[] = []
  const snapshot = store.snapshot()
  for await (const page of snapshot.pages(interval, { pageRows: 100 })) keys.push(...page.map(row => toString(row.key).slice(3)))
  snapshot.close()
  return keys
}

/** Puts and deletes without end; `acknowledged` is what the last answered write of each key left. */
class Writers {
  readonly acknowledged = new Map<string, string | undefined>()
  failed = 0
  #isOver = false
  readonly #ring: FakeRing
  readonly #running: Array<Promise<void>>

  constructor (ring: FakeRing, count: number, keys: number) {
    this.#ring = ring
    this.#running = Array.from({ length: count }, async (_, writer) => { await this.#write(writer, count, keys) })
  }

  async end (): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#running)
  }

  /** Each writer has its own keys, so its answers tell their order. */
  async #write (writer: number, count: number, keys: number): Promise<void> {
    const { host, storage } = this.#ring.nodes[writer % this.#ring.nodes.length]!
    for (let i = 0; !this.#isOver; i++) {
      const at = Math.floor(host.random() * keys / count) * count + writer
      const name = toString(key(at))
      try {
        if (host.random() < 0.3) {
          await storage.delete({ collection: 'kv', key: key(at) }, deadline)
          this.acknowledged.set(name, undefined)
        } else {
          await storage.put({ collection: 'kv', key: key(at), value: fromString(`${writer} ${i}`) }, deadline)
          this.acknowledged.set(name, `${writer} ${i}`)
        }
      } catch {
        this.failed++
      }
      await host.sleep(1)
    }
  }
}

async function contents (ring: FakeRing): Promise<Map<string, string>> {
  const answer = await ring.run(ring.any.range(all, deadline))
  assert.equal(answer.complete, true)
  return new Map(answer.records.map(({ key, value }) => [toString(key), toString(value)]))
}

const slowStore = (ring: () => FakeRing, index: number, flushMs = 2): Store => new MemoryStore(async () => { await ring().nodes[index]!.host.sleep(flushMs) })

describe('hand-over', () => {
  it('loses no acknowledged write and brings back no delete, over many moves among three owners', async () => {
    const ring: FakeRing = new FakeRing({
      boundaries: [lineKey('0300'), lineKey('0600')],
      init: { frameBytesMax: 200, tailKeysMax: 5, scanPageRows: 7 },
      storeOf: index => slowStore(() => ring, index)
    })
    for (let i = 0; i < 900; i += 3) await ring.run(ring.any.put({ collection: 'kv', key: key(i), value: fromString('start') }, deadline))
    const before = await contents(ring)
    const writers = new Writers(ring, 6, 900)
    const parts: Array<[string, string, number]> = [['0200', '0300', 1], ['0300', '0500', 2], ['0600', '0900', 0], ['0200', '0300', 2], ['0000', '0200', 1], ['0300', '0500', 0]]
    for (const [low, high, to] of parts) {
      await ring.run(ring.move({ low: lineKey(low), high: lineKey(high) }, to))
      const scan = await ring.run(ring.any.range({ ...all, keysOnly: true }, deadline))
      const keys = scan.records.map(record => toString(record.key))
      assert.deepEqual(keys, [...new Set(keys)].sort())
    }
    await ring.run(writers.end())
    assert.equal(writers.failed, 0)
    const wanted = new Map([...before, ...writers.acknowledged])
    for (const [name, value] of wanted) if (value === undefined) wanted.delete(name)
    assert.deepEqual([...await contents(ring)].sort(), [...wanted].sort())
    await ring.pass(30_000)
    for (const [index, { store }] of ring.nodes.entries()) {
      for (const { interval, node } of ring.owners) if (node !== index) assert.deepEqual(await rowsIn(store, interval), [])
    }
    assert.deepEqual([...await contents(ring)].sort(), [...wanted].sort())
  })

  it('works when neither end calls it', async () => {
    const ring: FakeRing = new FakeRing({ spare: 2, storeOf: index => slowStore(() => ring, index, index === 1 ? 100 : 0) })
    for (let i = 0; i < 50; i++) await ring.run(ring.any.put({ collection: 'kv', key: key(i), value: fromString('x') }, deadline))
    const [source, learner, caller] = ring.nodes
    const request = { session: 's', interval: everything, epoch: 1, source: source!.member, learners: [{ ...learner!.member, holds: false }] }
    const signal = caller!.host.deadline(10_000)
    await ring.run(caller!.storage.holdings.fill(request, signal))
    await ring.run(ring.any.put({ collection: 'kv', key: key(7), value: fromString('late') }, deadline))
    await ring.run(caller!.storage.holdings.tail(request, signal))
    assert.deepEqual(await rowsIn(learner!.store, everything), await rowsIn(source!.store, everything))
    assert.deepEqual(learner!.store.getSync(lineKey('0007')), source!.store.getSync(lineKey('0007')))
  })

  it('replaces what the learner held, after its owner has got it', async () => {
    const ring = new FakeRing({ spare: 1 })
    const other = new FakeRing()
    await other.run(other.any.put({ collection: 'kv', key: key(1), value: fromString('only there') }, deadline))
    const stray = other.nodes[0]!.store.getSync(lineKey('0001'))!
    await ring.run(ring.nodes[1]!.store.batch([{ type: 'put', key: lineKey('0001'), value: stray }]))
    await ring.run(ring.any.put({ collection: 'kv', key: key(2), value: fromString('x') }, deadline))
    await ring.run(ring.move(everything, 1))
    assert.deepEqual([...await contents(ring)], [['0001', 'only there'], ['0002', 'x']])
  })

  it('keeps what the learner held, when a first try could not bring it to its owner', async () => {
    const ring = new FakeRing({ spare: 1 })
    const other = new FakeRing()
    await other.run(other.any.put({ collection: 'kv', key: key(1), value: fromString('only there') }, deadline))
    await ring.run(ring.nodes[1]!.store.batch([{ type: 'put', key: lineKey('0001'), value: other.nodes[0]!.store.getSync(lineKey('0001'))! }]))
    await ring.run(ring.any.put({ collection: 'kv', key: key(2), value: fromString('x') }, deadline))
    ring.silent.add(0)
    await assert.rejects(ring.run(ring.move(everything, 1)))
    ring.nodes[0]!.storage.holdings.release({ session: 'first', interval: everything, epoch: 1, source: ring.nodes[0]!.member, learners: [{ ...ring.nodes[1]!.member, holds: false }] }, false)
    ring.silent.clear()
    await ring.pass(1000)
    assert.deepEqual(await rowsIn(ring.nodes[1]!.store, everything), ['0001'])
    await ring.run(ring.move(everything, 1))
    assert.deepEqual([...await contents(ring)], [['0001', 'only there'], ['0002', 'x']])
  })

  it('replaces what the learner had given away and not yet dropped', async () => {
    const ring = new FakeRing({ spare: 1 })
    const other = new FakeRing()
    await other.run(other.any.put({ collection: 'kv', key: key(1), value: fromString('old') }, deadline))
    await ring.run(ring.nodes[1]!.store.batch([{ type: 'put', key: lineKey('0001'), value: other.nodes[0]!.store.getSync(lineKey('0001'))! }]))
    ring.silent.add(0)
    ring.lose(1, everything, 0)
    await ring.pass(1000)
    assert.deepEqual(await rowsIn(ring.nodes[1]!.store, everything), ['0001'])
    ring.silent.clear()
    await ring.run(ring.any.put({ collection: 'kv', key: key(2), value: fromString('x') }, deadline))
    await ring.run(ring.move(everything, 1))
    assert.deepEqual([...await contents(ring)], [['0002', 'x']])
  })

  it('fails and leaves nothing when the source forgets the session', async () => {
    const ring = new FakeRing({ spare: 1 })
    await ring.run(ring.any.put({ collection: 'kv', key: key(1), value: fromString('x') }, deadline))
    const [source, learner] = ring.nodes
    const request = { session: 's', interval: everything, epoch: 1, source: source!.member, learners: [{ ...learner!.member, holds: false }] }
    const signal = source!.host.deadline(10_000)
    await ring.run(source!.storage.holdings.fill(request, signal))
    source!.storage.holdings.release({ ...request, learners: [] }, false)
    await assert.rejects(ring.run(source!.storage.holdings.tail(request, signal)))
    await ring.pass(100)
    assert.deepEqual(await rowsIn(learner!.store, everything), [])
  })

  it('that is given up is dropped at the learner, and is no part of the source', async () => {
    const ring = new FakeRing({ spare: 1 })
    await ring.run(ring.any.put({ collection: 'kv', key: key(1), value: fromString('x') }, deadline))
    const [source, learner] = ring.nodes
    const request = { session: 's', interval: everything, epoch: 1, source: source!.member, learners: [{ ...learner!.member, holds: false }] }
    await ring.run(source!.storage.holdings.fill(request, source!.host.deadline(10_000)))
    assert.deepEqual(await rowsIn(learner!.store, everything), ['0001'])
    source!.storage.holdings.release(request, false)
    await ring.pass(100)
    assert.deepEqual(await rowsIn(learner!.store, everything), [])
    assert.deepEqual([...await contents(ring)], [['0001', 'x']])
  })

  it('that is given up in doubt stays at the learner when the claim was decided for it', async () => {
    const ring = new FakeRing({ spare: 1 })
    await ring.run(ring.any.put({ collection: 'kv', key: key(1), value: fromString('x') }, deadline))
    const [source, learner] = ring.nodes
    const request = { session: 's', interval: everything, epoch: 1, source: source!.member, learners: [{ ...learner!.member, holds: false }] }
    await ring.run(source!.storage.holdings.fill(request, source!.host.deadline(10_000)))
    ring.decide(everything, 1)
    source!.storage.holdings.release(request, false)
    await ring.pass(1000)
    ring.gain(1, everything)
    ring.lose(0, everything, 1)
    await ring.pass(200_000)
    assert.deepEqual([...await contents(ring)], [['0001', 'x']])
    assert.deepEqual(await rowsIn(source!.store, everything), [])
  })

  it('is refused by a node that leaves, while one that has begun goes on to its end', async () => {
    const ring = new FakeRing({ spare: 2 })
    await ring.run(ring.any.put({ collection: 'kv', key: key(1), value: fromString('x') }, deadline))
    const [source, learner] = ring.nodes
    const signal = source!.host.deadline(60_000)
    const begun = { session: 'begun', epoch: 1, interval: { low: new Uint8Array(0), high: lineKey('0500') }, source: source!.member, learners: [{ ...learner!.member, holds: false }] }
    const late = { ...begun, session: 'late', interval: { low: lineKey('0500'), high: undefined } }
    await ring.run(source!.storage.holdings.fill(begun, signal))
    learner!.storage.holdings.refuseFills(true)
    await assert.rejects(ring.run(source!.storage.holdings.fill(late, signal)), { remoteName: 'FillError', definite: true, message: /leaving/ })
    await ring.run(ring.any.put({ collection: 'kv', key: key(2), value: fromString('y') }, deadline))
    await ring.run(source!.storage.holdings.tail(begun, signal))
    assert.deepEqual(await rowsIn(learner!.store, everything), ['0001', '0002'])
    learner!.storage.holdings.refuseFills(false)
    await ring.run(source!.storage.holdings.fill(late, signal))
  })

  it('lasts at the learner until the claim has come, the giver has released it, or nobody asks any more', async () => {
    const ring = new FakeRing({ spare: 1 })
    await ring.run(ring.any.put({ collection: 'kv', key: key(1), value: fromString('x') }, deadline))
    const [source, learner] = ring.nodes
    const { holdings } = learner!.storage
    const request = { interval: everything, epoch: 1, source: source!.member, learners: [{ ...learner!.member, holds: false }] }
    const begin = async (session: string): Promise<void> => { await ring.run(source!.storage.holdings.fill({ ...request, session }, source!.host.deadline(60_000))) }
    assert.equal(holdings.isFilling(), false)
    await begin('released')
    assert.equal(holdings.isFilling(), true)
    source!.storage.holdings.release({ ...request, session: 'released' }, false)
    await ring.pass(100)
    assert.equal(holdings.isFilling(), false)
    await begin('forgotten')
    await ring.pass(storageDefaults.sessionMs - 1000)
    assert.equal(holdings.isFilling(), true)
    await ring.pass(2000)
    assert.equal(holdings.isFilling(), false)
    await begin('decided')
    holdings.held({ low: new Uint8Array(0), high: lineKey('0001') })
    assert.equal(holdings.isFilling(), true)
    holdings.held({ low: lineKey('0001'), high: undefined })
    assert.equal(holdings.isFilling(), false)
  })

  it('does not read what a disk lost: a write that was not flushed is not told as done', async () => {
    const flaky = new FlakyStore()
    const ring = new FakeRing({ storeOf: () => flaky })
    flaky.isFull = true
    await assert.rejects(ring.run(ring.any.put({ collection: 'kv', key: key(1), value: fromString('x') }, deadline)), { remoteName: 'StoreFullError', definite: true })
    flaky.isFull = false
    assert.equal((await ring.run(ring.any.get({ collection: 'kv', key: key(1) }, deadline))).record, undefined)
    assert.equal((await ring.run(ring.any.put({ collection: 'kv', key: key(1), value: fromString('y') }, deadline))).created, true)
  })
})

describe('strays', () => {
  it('are offered to their owner, who keeps the newer version, and are dropped then', async () => {
    const ring = new FakeRing({ boundaries: [lineKey('0500')], init: { strayCheckMs: 1000 } })
    const other = new FakeRing()
    other.world.jumpWallClock('node 0', 1000)
    await ring.run(ring.any.put({ collection: 'kv', key: key(600), value: fromString('older') }, deadline))
    for (const i of [600, 700]) await other.run(other.any.put({ collection: 'kv', key: key(i), value: fromString('newer') }, deadline))
    await ring.pass(5000)
    await ring.run(ring.any.put({ collection: 'kv', key: key(800), value: fromString('newest') }, deadline))
    await other.run(other.any.put({ collection: 'kv', key: key(800), value: fromString('older') }, deadline))
    const strays = ['0600', '0700', '0800'].map(name => ({ type: 'put' as const, key: lineKey(name), value: other.nodes[0]!.store.getSync(lineKey(name))! }))
    await ring.run(ring.nodes[0]!.store.batch(strays))
    await ring.pass(5000)
    assert.deepEqual([...await contents(ring)], [['0600', 'newer'], ['0700', 'newer'], ['0800', 'newest']])
    assert.deepEqual(await rowsIn(ring.nodes[0]!.store, prefixInterval(lineKey('0'))), [])
  })

  it('are kept while their owner is silent', async () => {
    const ring = new FakeRing({ boundaries: [lineKey('0500')], init: { strayCheckMs: 1000 } })
    const other = new FakeRing()
    await other.run(other.any.put({ collection: 'kv', key: key(600), value: fromString('x') }, deadline))
    await ring.run(ring.nodes[0]!.store.batch([{ type: 'put', key: lineKey('0600'), value: other.nodes[0]!.store.getSync(lineKey('0600'))! }]))
    ring.silent.add(1)
    await ring.pass(10_000)
    assert.deepEqual(await rowsIn(ring.nodes[0]!.store, everything), ['0600'])
    ring.silent.clear()
    await ring.pass(3000)
    assert.deepEqual(await rowsIn(ring.nodes[0]!.store, everything), [])
    assert.deepEqual([...await contents(ring)], [['0600', 'x']])
  })
})
