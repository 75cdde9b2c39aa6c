// Faults that other systems have or had in the open, each with the smallest input that shows it, on a ring of whole simulated nodes
// and asked of every peer.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { holdsKey, intersect, type Key } from '../../../overlay/interval.ts'
import { curvePoint } from '../../../overlay/space/curve.ts'
import type { Extent } from '../../../overlay/space/extent.ts'
import type { Point } from '../../../overlay/space/point.ts'
import { collectionInterval, collectionPrefix, curveIndexOf, isWholeIndex, withoutCollection } from '../../../storage/records/key-layout.ts'
import type { FindRequest, PageAnswer, RangeRequest } from '../../../storage/storage-api.ts'
import { box, deadline, find, kvBoundaries, names, placeBoundaries, range, Ring, world } from './ring.ts'

/** What every peer answers, which must be the same. */
async function fromAll (ring: Ring, ask: (storage: Ring['nodes'][number]['node']['storage']) => Promise<PageAnswer>): Promise<string[]> {
  const answers = await ring.settle(Promise.all(ring.nodes.map(async ({ node }) => await ask(node.storage))))
  for (const answer of answers) {
    assert.equal(answer.complete, true)
    assert.deepEqual(names(answer).sort(), names(answers[0]!).sort())
  }
  return names(answers[0]!)
}

const found = async (ring: Ring, extent: Extent, more: Partial<FindRequest> = {}): Promise<string[]> => (await fromAll(ring, async storage => await storage.find(find(extent, more), deadline))).sort()
const ranged = async (ring: Ring, more: Partial<RangeRequest>): Promise<string[]> => await fromAll(ring, async storage => await storage.range(range(more), deadline))
const small = async (seed: number): Promise<Ring> => await Ring.at(placeBoundaries(5), { seed })

describe('on every peer of a ring', () => {
  it('a box across the antimeridian holds both sides and nothing else (case 1)', async () => {
    const ring = await small(1)
    await ring.load<[string, Point]>([['a', [179.5, 0]], ['b', [-179.5, 0]], ['c', [0, 0]]], async ([id, point]) => { await ring.putObject(id, point) })
    assert.deepEqual(await found(ring, box(170, -10, -170, 10)), ['a', 'b'])
    assert.deepEqual(await found(ring, box(-170, -10, 170, 10)), ['c'])
  })

  it('the poles are stored and found (case 2)', async () => {
    const ring = await small(2)
    await ring.load<[string, Point]>([['pole', [0, -90]], ['np', [135, 90]]], async ([id, point]) => { await ring.putObject(id, point) })
    assert.deepEqual(await found(ring, box(-180, -90, 180, -85)), ['pole'])
    assert.deepEqual(await found(ring, box(-180, 85, 180, 90)), ['np'])
    assert.deepEqual(await found(ring, box(134, 89, 136, 90)), ['np'])
  })

  it('a key and a point exactly on the boundary of two owners are there once (case 3)', async () => {
    const ring = await Ring.at([...kvBoundaries(3), ...placeBoundaries(4)], { seed: 3 })
    await ring.load(['3332', '3333', '3334'], async key => { await ring.putKey(key) })
    const lows = ring.nodes.map(({ ownership }) => ownership!.run()!.interval.low)
    assert(lows.some(low => toString(withoutCollection('kv', low)) === '3333'), 'a boundary lies at 3333')
    assert.deepEqual(await ranged(ring, {}), ['3332', '3333', '3334'])
    assert.deepEqual(await ranged(ring, { gte: fromString('3333') }), ['3333', '3334'])
    assert.deepEqual(await ranged(ring, { lte: fromString('3333'), reverse: true }), ['3333', '3332'])
    assert.deepEqual([await ranged(ring, { gt: fromString('3333') }), await ranged(ring, { lt: fromString('3333') })], [['3334'], ['3332']])

    // the corner of the cell at each boundary of the curve: its own edges are where its neighbors' end
    const prefixBytes = collectionPrefix('places').length
    const corners = [1, 2, 3].map((quarter): [string, Point] => {
      const { column, row } = curvePoint(quarter * 2 ** 50)
      return [`q${quarter}`, [column / 2 ** 26 * 360 - 180, row / 2 ** 26 * 180 - 90]]
    })
    for (const quarter of [1, 2, 3]) assert(lows.some(low => low.length > prefixBytes && curveIndexOf(low, prefixBytes) === quarter * 2 ** 50))
    await ring.load(corners, async ([id, point]) => { await ring.putObject(id, point) })
    assert.deepEqual(await found(ring, world), ['q1', 'q2', 'q3'])
    for (const [id, [x, y]] of corners) {
      assert.deepEqual(await found(ring, box(x, y, x, y)), [id], 'a box of no area')
      const halves: Extent[] = [box(Math.max(-180, x - 1), Math.max(-90, y - 1), x, Math.min(90, y + 1)), box(x, Math.max(-90, y - 1), Math.min(180, x + 1), Math.min(90, y + 1))]
      for (const half of halves) assert((await found(ring, half)).includes(id), 'edges are inclusive')
    }
    const counts = await ring.settle(Promise.all(ring.nodes.map(async ({ node }) => (await node.storage.count(find(world), deadline)).count)))
    assert.deepEqual([...new Set(counts)], [3])
  })

  it('10,000 ids at one coordinate are all kept, and joins never cut between them (case 4)', async () => {
    const ring = await Ring.joined(2, { seed: 4 })
    const ids = Array.from({ length: 10_000 }, (_, index) => `i${index.toString().padStart(5, '0')}`)
    await ring.load(ids, async id => { await ring.putObject(id, [13.4, 52.5], undefined, ring.nodes[0]) })
    for (let index = 0; index < 4; index++) await ring.settle(ring.cluster.join(`j${index}`, { bootstrap: ['n0'] }))
    const places = collectionInterval('places')
    for (const { ownership } of ring.nodes) {
      for (const { interval: { low } } of ownership!.runs()) if (holdsKey(places, low)) assert(isWholeIndex(low, collectionPrefix('places').length))
    }
    for (const { node } of ring.nodes) {
      const { count, complete } = await ring.settle(node.storage.count(find(box(13, 52, 14, 53)), deadline))
      assert.deepEqual([count, complete], [10_000, true])
    }
    const gathered: string[] = []
    let cursor: string | undefined
    do {
      const page: PageAnswer = await ring.settle(ring.asker().node.storage.find(find(box(13.4, 52.5, 13.4, 52.5), { limit: 3000, cursor }), deadline))
      gathered.push(...names(page))
      cursor = page.cursor
    } while (cursor !== undefined)
    assert.deepEqual(gathered.sort(), ids)
    await ring.settle(ring.putObject('one more', [13.4, 52.5]))
    const { count } = await ring.settle(ring.asker().node.storage.count(find(world), deadline))
    assert.equal(count, 10_001, 'writes are still taken')
  })

  it('coordinates that are none are refused with their name, and nothing is stored (case 5)', async () => {
    const ring = await small(5)
    await ring.settle(ring.putObject('there', [1, 2]))
    const bad: unknown[] = [[Infinity, 0], [NaN, 0], [null, 0], ['1', 2], [0], [33.5, -112.2], [1e300, 0], [0, 0, 0], {}]
    for (const point of bad) {
      await assert.rejects(ring.settle(ring.putObject('bad', point as Point)), error => {
        const { name, message } = error as Error
        assert.equal(name, 'InvalidSpaceError')
        assert.match(message, /^point.*(\[lon, lat\])/s)
        return true
      }, JSON.stringify(point))
    }
    assert.deepEqual(await found(ring, world), ['there'])
    const { record } = await ring.settle(ring.asker().node.storage.get({ collection: 'places', key: fromString('bad') }, deadline))
    assert.equal(record, undefined)
  })

  it('bounds are kept in both directions, and odd ones are refused or empty (case 6)', async () => {
    const ring = await Ring.at([...'bdf'].map(text => fromString(`kv\0${text}`)), { seed: 6 })
    await ring.load([...'aceg'], async key => { await ring.putKey(key) })
    const bytes = fromString
    assert.deepEqual(await ranged(ring, { gte: bytes('a'), lte: bytes('d'), reverse: true }), ['c', 'a'])
    assert.deepEqual(await ranged(ring, { gt: bytes('a'), lt: bytes('e') }), ['c'])
    assert.deepEqual(await ranged(ring, { gte: bytes('') }), ['a', 'c', 'e', 'g'])
    assert.deepEqual(await ranged(ring, { lte: bytes(''), reverse: true }), ['g', 'e', 'c', 'a'], 'an empty bound is an open end')
    assert.deepEqual(await ranged(ring, { limit: 0 }), [])
    assert.deepEqual(await ranged(ring, { limit: 1e9 }), ['a', 'c', 'e', 'g'])
    for (const refused of [{ gte: bytes('e'), lte: bytes('a') }, { limit: -1 }, { limit: 1.5 }]) {
      await assert.rejects(ring.settle(ring.asker().node.storage.range(range(refused), deadline)), { name: 'InvalidRequestError' })
    }
  })

  it('keys are bytes and stay what they are (case 7)', async () => {
    const ring = await Ring.at([...'%akz'].map(text => fromString(`kv\0${text}`)), { seed: 7 })
    const keys = ['foo%foo', 'a/b', 'a//b', '%2F', '..', 'a b', 'a+b', 'a?b#c', 'ключ', '/', '%', 'a%2Fb', '\u{1f600}', 'e\u0301', '\u00e9', '__proto__']
    await ring.load(keys, async key => { await ring.putKey(key) })
    for (const { node } of ring.nodes) {
      for (const key of keys) {
        const { record } = await ring.settle(node.storage.get({ collection: 'kv', key: fromString(key) }, deadline))
        assert.equal(toString(record!.value), `v${key}`)
      }
    }
    const order = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    assert.deepEqual(await ranged(ring, {}), order)
  })

  it('words that are names of a language are words (case 8)', async () => {
    const ring = await small(8)
    assert.deepEqual(await found(ring, world, { words: ['constructor'] }), [])
    await ring.settle(ring.putObject('__proto__', [0, 0], 'constructor toString __proto__ hasOwnProperty'))
    for (const word of ['constructor', 'tostring', '__proto__', 'hasOwnProperty']) assert.deepEqual(await found(ring, world, { words: [word] }), ['__proto__'], word)
    assert.deepEqual(await found(ring, world, { words: ['valueOf'] }), [])
  })

  it('words are found however they are composed or spelled wide, and inside runs of Han (case 9)', async () => {
    const ring = await small(9)
    await ring.load<[string, string]>([['cafe', 'Caf\u00e9'], ['pizza', '\uff30\uff29\uff3a\uff3a\uff21'], ['tower', '东京塔']], async ([id, text]) => { await ring.putObject(id, [5, 5], text) })
    assert.deepEqual(await found(ring, world, { words: ['cafe\u0301'] }), ['cafe'])
    assert.deepEqual(await found(ring, world, { words: ['pizza'] }), ['pizza'])
    assert.deepEqual(await found(ring, world, { words: ['东京'] }), ['tower'])
    assert.deepEqual(await found(ring, world, { words: ['cafe'] }), [])
  })

  it('no words match all, and words of nothing are refused (case 10)', async () => {
    const ring = await small(10)
    await ring.settle(ring.putObject('x', [5, 5], 'something'))
    await ring.settle(ring.putObject('y', [-95, 5]))
    assert.deepEqual(await found(ring, world, { words: [] }), ['x', 'y'])
    for (const words of [[''], ['   '], ['!!!'], ['something', '!!!']]) {
      await assert.rejects(ring.settle(ring.asker().node.storage.find(find(world, { words }), deadline)), { name: 'InvalidRequestError' }, JSON.stringify(words))
    }
  })

  it('2,000 ranges at once through one of them are all answered, and 500 that give up leave nothing behind (case 15)', async () => {
    const ring = await Ring.at(kvBoundaries(5), { seed: 11 })
    const keys = Array.from({ length: 20 }, (_, number) => (number * 500).toString().padStart(4, '0'))
    await ring.load(keys, async key => { await ring.putKey(key) })
    const { storage } = ring.cluster.get('n2').node
    const answers = await ring.settle(Promise.all(Array.from({ length: 2000 }, async () => await storage.range(range(), deadline))))
    for (const answer of answers) assert.deepEqual([answer.complete, answer.records.length], [true, 20])
    const outcomes = await ring.settle(Promise.allSettled(Array.from({ length: 500 }, async (_, index) => {
      const controller = new AbortController()
      ring.cluster.world.clock.schedule(index % 40, { run: () => { controller.abort() } })
      await storage.range(range(), { ...deadline, signal: controller.signal })
    })))
    for (const outcome of outcomes) if (outcome.status === 'rejected') assert.equal((outcome.reason as Error).name, 'AbortError')
    assert(outcomes.some(({ status }) => status === 'rejected'))
    assert.deepEqual(await ranged(ring, {}), keys)
  })
})

describe('an owner that does not answer', () => {
  const keys = Array.from({ length: 100 }, (_, number) => (number * 100).toString().padStart(4, '0'))
  const limits = { deadlineMs: 10_000 }

  /** Five nodes: kv is parted among n0 to n3, the curve among n3 and n4. */
  async function loaded (seed: number): Promise<Ring> {
    const ring = await Ring.at([...kvBoundaries(4), placeBoundaries(2)[0]!], { seed })
    await ring.load(keys, async key => { await ring.putKey(key) })
    await ring.load<[string, Point]>([['west', [-90, 10]], ['east', [90, 10]]], async ([id, point]) => { await ring.putObject(id, point) })
    return ring
  }

  async function assertWhole (ring: Ring): Promise<void> {
    assert.deepEqual(await ranged(ring, {}), keys)
    assert.deepEqual(await ranged(ring, { reverse: true }), [...keys].reverse())
    assert.deepEqual(await found(ring, world), ['east', 'west'])
  }

  /** n2 owns 5000 to 7500 of kv. Each other peer answers in time, and names that and nothing else. */
  async function assertMissing (ring: Ring): Promise<void> {
    for (const { name, node } of ring.nodes.filter(({ name }) => name !== 'n2')) {
      for (const reverse of [false, true]) {
        const startMs = ring.cluster.world.now()
        const answer = await ring.settle(node.storage.range(range({ reverse }), limits))
        assert(ring.cluster.world.now() - startMs <= limits.deadlineMs, name)
        assert.deepEqual(answer.missing.map(({ from, to, peer }) => [toString(from), to && toString(to), peer]), [['5000', '7500', 'n2']], `${name} ${reverse}`)
        assert.equal(answer.complete, false)
        const left = keys.filter(key => key < '5000' || key >= '7500')
        assert.deepEqual(names(answer), reverse ? left.reverse() : left)
      }
      const elsewhere = await ring.settle(node.storage.range(range({ lt: fromString('5000') }), limits))
      assert.equal(elsewhere.complete, true, 'what it does not own is not touched')
    }
  }

  for (const [how, seed] of [['dead', 1], ['paused', 2]] as const) {
    it(`is named with its interval within the deadline when it is ${how}, and all is complete again when it is back`, async () => {
      const ring = await loaded(seed)
      await assertWhole(ring)
      if (how === 'dead') ring.cluster.stop('n2')
      else ring.cluster.world.pause('n2')
      await assertMissing(ring)
      await ring.pass(30_000)
      await assertMissing(ring)
      if (how === 'dead') await ring.settle(ring.cluster.join('n2'))
      else ring.cluster.world.resume('n2')
      await ring.pass(2000)
      await assertWhole(ring)
    })
  }

  it('hides exactly its part of the map from find and count', async () => {
    const ring = await loaded(3)
    const eastern: Key = ring.nodes.find(({ name }) => name === 'n4')!.ownership!.run()!.interval.low
    const part = intersect(collectionInterval('places'), { low: eastern, high: undefined })!
    ring.cluster.stop('n4')
    for (const { name, node } of ring.nodes) {
      const answer = await ring.settle(node.storage.find(find(world), limits))
      assert.deepEqual(answer.missing.map(({ from, to, peer }) => [from, to, peer]), [[withoutCollection('places', part.low), undefined, 'n4']], name)
      const counted = await ring.settle(node.storage.count(find(world), limits))
      assert.deepEqual([counted.complete, counted.count, names(answer).length], [false, 1, 1])
    }
    await ring.settle(ring.cluster.join('n4'))
    await ring.pass(2000)
    await assertWhole(ring)
  })

  it('is named also when two side by side are dead, and when the last of the line is', async () => {
    const ring = await loaded(4)
    ring.cluster.stop('n1')
    ring.cluster.stop('n2')
    for (const name of ['n0', 'n3', 'n4']) {
      const answer = await ring.settle(ring.cluster.get(name).node.storage.range(range(), limits))
      assert.equal(answer.complete, false)
      assert.deepEqual([toString(answer.missing[0]!.from), toString(answer.missing.at(-1)!.to!)], ['2500', '7500'], name)
      assert.deepEqual(names(answer), keys.filter(key => key < '2500' || key >= '7500'))
    }
    for (const name of ['n2', 'n1']) await ring.settle(ring.cluster.join(name))
    await ring.pass(2000)
    await assertWhole(ring)
  })

  it('makes a write fail within its deadline, definitely where nothing was sent', async () => {
    const ring = await loaded(5)
    ring.cluster.stop('n2')
    await ring.pass(1000) // the connections are known to be closed
    const startMs = ring.cluster.world.now()
    await assert.rejects(ring.settle(ring.cluster.get('n0').node.storage.put({ collection: 'kv', key: fromString('6000'), value: new Uint8Array(1) }, limits)), { name: 'OwnerUnreachableError', definite: true })
    assert(ring.cluster.world.now() - startMs <= limits.deadlineMs)
    await ring.settle(ring.putKey('1000', 'again', ring.cluster.get('n4')))
  })
})
