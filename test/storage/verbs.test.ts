// put, get, delete, range and collections as users see them, over a few simulated owners: what they answer, what they
// refuse, and what they say of owners that do not answer. Cases by number are those of public faults in other stores.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import type { PageAnswer, PutRequest, RangeRequest, Version } from '../../storage/storage-api.ts'
import { MemoryStore } from '../../storage/memory-store.ts'
import { curveKey } from '../../storage/records/key-layout.ts'
import { deadline, FakeRing } from './fake-ring.ts'

const bytes = (text: string): Uint8Array => fromString(text)
const keysOf = (answer: PageAnswer): string[] => answer.records.map(({ key }) => toString(key))
const put = (key: string, value: string, more: Partial<PutRequest> = {}): PutRequest => ({ collection: 'kv', key: bytes(key), value: bytes(value), ...more })
const isAfter = (a: Version, b: Version): boolean => a.ms > b.ms || (a.ms === b.ms && a.counter > b.counter)

function failsFor (field: string): (error: unknown) => boolean {
  return error => {
    assert(error instanceof Error)
    assert.match(error.name, /^Invalid(Request|Space)Error$/)
    assert.equal((error as Error & { field: string }).field.split(/[.[]/)[0], field)
    return true
  }
}

describe('records of ordered collections', () => {
  it('are read as they were put, from every node', async () => {
    const ring = new FakeRing({ boundaries: [bytes('kv\0m'), bytes('kv\0t')] })
    for (const key of ['a', 'n', 'z']) await ring.run(ring.any.put(put(key, `value of ${key}`, { contentType: 'text/plain' }), deadline))
    for (const { storage } of ring.nodes) {
      for (const key of ['a', 'n', 'z']) {
        const { record } = await ring.run(storage.get({ collection: 'kv', key: bytes(key) }, deadline))
        assert(record !== undefined)
        assert.deepEqual([toString(record.key), toString(record.value), record.contentType], [key, `value of ${key}`, 'text/plain'])
      }
    }
  })

  it('tell whether they were created and deleted', async () => {
    const ring = new FakeRing()
    const remove = async (): Promise<boolean> => (await ring.run(ring.any.delete({ collection: 'kv', key: bytes('k') }, deadline))).deleted
    assert.equal(await remove(), false)
    assert.equal((await ring.run(ring.any.put(put('k', '1'), deadline))).created, true)
    assert.equal((await ring.run(ring.any.put(put('k', '2'), deadline))).created, false)
    assert.equal(await remove(), true)
    assert.equal(await remove(), false)
    assert.equal((await ring.run(ring.any.get({ collection: 'kv', key: bytes('k') }, deadline))).record, undefined)
    assert.equal((await ring.run(ring.any.put(put('k', '3'), deadline))).created, true)
  })

  it('get ascending versions though the wall clock goes back, and never one below the floor', async () => {
    const ring = new FakeRing()
    const first = await ring.run(ring.any.put(put('k', '1'), deadline))
    ring.world.jumpWallClock('node 0', -3_600_000)
    const second = await ring.run(ring.any.put(put('k', '2'), deadline))
    assert(isAfter(second.version, first.version))
    ring.floorMs = first.version.ms + 86_400_000
    const third = await ring.run(ring.any.put(put('new', '3'), deadline))
    assert.equal(third.version.ms, ring.floorMs)
  })

  it('give each of several writes at once its own version, and end as the greatest says', async () => {
    const ring = new FakeRing()
    const writes = Array.from({ length: 20 }, async (_, i) => await ring.any.put(put('k', `${i}`), deadline))
    const answers = await ring.run(Promise.all(writes))
    assert.equal(answers.filter(({ created }) => created).length, 1)
    const sorted = answers.map(({ version }, i) => ({ version, i })).sort((a, b) => isAfter(a.version, b.version) ? 1 : -1)
    assert.equal(new Set(answers.map(({ version }) => `${version.ms}-${version.counter}`)).size, 20)
    const { record } = await ring.run(ring.any.get({ collection: 'kv', key: bytes('k') }, deadline))
    assert.equal(toString(record!.value), `${sorted.at(-1)!.i}`)
  })

  it('that are deleted and put again before the first is flushed answer as if one after the other', async () => {
    const ring: FakeRing = new FakeRing({ storeOf: () => new MemoryStore(async () => { await ring.nodes[0]!.host.sleep(50) }) })
    const writes = [
      ring.any.put(put('k', '1'), deadline), ring.any.put(put('k', '2'), deadline), ring.any.put(put('k', '2', { requestId: 'r' }), deadline),
      ring.any.put(put('k', '2', { requestId: 'r' }), deadline), ring.any.delete({ collection: 'kv', key: bytes('k') }, deadline)
    ] as const
    assert.equal((await ring.run(ring.any.get({ collection: 'kv', key: bytes('k') }, deadline))).record, undefined)
    const [first, second, third, again, deleted] = await ring.run(Promise.all(writes))
    assert.deepEqual([first.created, second.created, third.created, again.created, deleted.deleted], [true, false, false, false, true])
    assert(isAfter(second.version, first.version) && isAfter(third.version, second.version))
    assert.deepEqual(again.version, third.version)
  })

  it('answer a retry with the same request id as the first time, and do nothing', async () => {
    const ring = new FakeRing()
    const first = await ring.run(ring.any.put(put('k', '1', { requestId: 'r1' }), deadline))
    const again = await ring.run(ring.any.put(put('k', '1', { requestId: 'r1' }), deadline))
    assert.deepEqual([again.version, again.created], [first.version, true])
    const remove = { collection: 'kv', key: bytes('k'), requestId: 'r2' }
    assert.equal((await ring.run(ring.any.delete(remove, deadline))).deleted, true)
    assert.equal((await ring.run(ring.any.delete(remove, deadline))).deleted, true)
    assert.equal((await ring.run(ring.any.put(put('k', '2', { requestId: 'r3' }), deadline))).created, true)
  })

  it('keep keys byte-exact', async () => {
    const ring = new FakeRing()
    const keys = ['foo%foo', 'a/b', 'a//b', '%2F', '..', 'a b', 'a+b', 'a?b#c', 'ключ', '\0', 'a\0b', '__proto__']
    for (const key of keys) await ring.run(ring.any.put(put(key, key), deadline))
    for (const key of keys) assert.equal(toString((await ring.run(ring.any.get({ collection: 'kv', key: bytes(key) }, deadline))).record!.value), key)
    const all = await ring.run(ring.any.range({ collection: 'kv', limit: 100 }, deadline))
    assert.deepEqual(keysOf(all), keys.map(bytes).sort(Buffer.compare).map(key => toString(key)))
  })
})

describe('bad requests', () => {
  const cases: Array<[string, PutRequest]> = [
    ['key', put('', 'x')],
    ['key', put('k'.repeat(1025), 'x')],
    ['value', { ...put('k', ''), value: new Uint8Array(256 * 1024 + 1) }],
    ['contentType', put('k', 'x', { contentType: 'a'.repeat(256) })],
    ['contentType', put('k', 'x', { contentType: 'text/plain\r\nx: y' })],
    ['requestId', put('k', 'x', { requestId: '' })],
    ['requestId', put('k', 'x', { requestId: 'r'.repeat(129) })],
    ['point', put('k', 'x', { point: [0, 0] })],
    ['text', put('k', 'x', { text: 'words' })],
    ['collection', put('k', 'x', { collection: '$collections' })],
    ['collection', put('k', 'x', { collection: '' })],
    ['text', put('k', 'x', { collection: 'places', text: 'a '.repeat(9000) })],
    ['point', put('k', 'x', { collection: 'places', point: [33.5, -112.2] })],
    ['point', put('k', 'x', { collection: 'places', point: [Infinity, 0] })],
    ['point', put('k', 'x', { collection: 'places', point: [null, 0] as unknown as [number, number] })],
    ['point', put('k', 'x', { collection: 'places', point: ['1', 2] as unknown as [number, number] })],
    ['point', put('k', 'x', { collection: 'places', point: [0] as unknown as [number, number] })]
  ]

  it('are refused by field, and store nothing', async () => {
    const ring = new FakeRing()
    for (const [field, request] of cases) await assert.rejects(ring.run(ring.any.put(request, deadline)), failsFor(field))
    assert.deepEqual(keysOf(await ring.run(ring.any.range({ collection: 'kv', limit: 10 }, deadline))), [])
    const world = { collection: 'places', extent: { kind: 'box', west: -180, south: -90, east: 180, north: 90 }, words: [], match: 'all', limit: 10 } as const
    assert.deepEqual(keysOf(await ring.run(ring.any.find(world, deadline))), [])
    assert.equal(ring.asked.filter(({ method }) => method === 'storage/1/put').length, 0)
  })

  it('are accepted at their bounds', async () => {
    const ring = new FakeRing()
    const key = 'k'.repeat(1024)
    await ring.run(ring.any.put({ ...put(key, ''), value: new Uint8Array(256 * 1024) }, deadline))
    assert.equal((await ring.run(ring.any.get({ collection: 'kv', key: bytes(key) }, deadline))).record?.value.length, 256 * 1024)
  })

  it('name an unknown collection', async () => {
    const ring = new FakeRing()
    await assert.rejects(ring.run(ring.any.put(put('k', 'x', { collection: 'nowhere' }), deadline)), { name: 'UnknownCollectionError' })
  })
})

describe('ranges of small sets', () => {
  const ranges: Array<[Partial<RangeRequest>, string[]]> = [
    [{ gte: bytes('a'), lte: bytes('d'), reverse: true }, ['c', 'a']],
    [{ gt: bytes('a'), lt: bytes('e') }, ['c']],
    [{ gte: bytes(''), lte: bytes('') }, ['a', 'c', 'e', 'g']],
    [{ gt: bytes('c'), lt: bytes('c') }, []],
    [{ gte: bytes('c'), lte: bytes('c') }, ['c']],
    [{ gt: bytes('g') }, []],
    [{ prefix: bytes('e') }, ['e']],
    [{ prefix: bytes('e'), lt: bytes('e') }, []],
    [{ reverse: true, limit: 3 }, ['g', 'e', 'c']],
    [{ limit: 0 }, []],
    [{ limit: 1e9 }, ['a', 'c', 'e', 'g']]
  ]
  const refused: Array<[Partial<RangeRequest>, string]> = [
    [{ gte: bytes('d'), lte: bytes('a') }, 'gte'],
    [{ gt: bytes('d'), lt: bytes('a') }, 'gt'],
    [{ gte: bytes('a'), gt: bytes('a') }, 'gt'],
    [{ lte: bytes('a'), lt: bytes('a') }, 'lt'],
    [{ limit: -1 }, 'limit'],
    [{ limit: 0.5 }, 'limit'],
    [{ limit: NaN }, 'limit'],
    [{ collection: 'places' }, 'collection'],
    [{ cursor: 'no cursor' }, 'cursor'],
    [{ cursor: 'AAAA' }, 'cursor']
  ]

  it('give what lies between their bounds', async () => {
    const ring = new FakeRing({ boundaries: [bytes('kv\0c')] })
    for (const key of ['a', 'c', 'e', 'g']) await ring.run(ring.any.put(put(key, key), deadline))
    for (const [request, expected] of ranges) {
      assert.deepEqual(keysOf(await ring.run(ring.any.range({ collection: 'kv', limit: 100, ...request }, deadline))), expected, JSON.stringify(request))
    }
    for (const [request, field] of refused) await assert.rejects(ring.run(ring.any.range({ collection: 'kv', limit: 100, ...request }, deadline)), failsFor(field))
  })

  it('give keys only when asked so', async () => {
    const ring = new FakeRing()
    const { version } = await ring.run(ring.any.put(put('a', 'value'), deadline))
    const { records } = await ring.run(ring.any.range({ collection: 'kv', limit: 1, keysOnly: true }, deadline))
    assert.deepEqual(records.map(({ key, value, version }) => [toString(key), value.length, version]), [['a', 0, version]])
  })

  it('refuse the cursor of another query, and go on though its row is deleted', async () => {
    const ring = new FakeRing()
    for (const key of ['a', 'b', 'c', 'd']) await ring.run(ring.any.put(put(key, key), deadline))
    const { cursor } = await ring.run(ring.any.range({ collection: 'kv', limit: 2 }, deadline))
    assert(cursor !== undefined)
    await assert.rejects(ring.run(ring.any.range({ collection: 'kv', limit: 2, cursor, prefix: bytes('c') }, deadline)), failsFor('cursor'))
    await assert.rejects(ring.run(ring.any.range({ collection: 'kv', limit: 2, cursor, reverse: true }, deadline)), failsFor('cursor'))
    for (const key of ['b', 'c']) await ring.run(ring.any.delete({ collection: 'kv', key: bytes(key) }, deadline))
    const rest = await ring.run(ring.any.range({ collection: 'kv', limit: 5, cursor }, deadline))
    assert.deepEqual([keysOf(rest), rest.cursor, rest.complete], [['d'], undefined, true])
  })
})

describe('owners that do not answer', () => {
  it('are named with their interval, and the walk goes on behind them, in both directions', async () => {
    const ring = new FakeRing({ boundaries: [bytes('kv\0h'), bytes('kv\0p')] })
    for (const key of ['a', 'b', 'h', 'k', 'p', 'z']) await ring.run(ring.any.put(put(key, key), deadline))
    ring.silent.add(1)
    for (const reverse of [false, true]) {
      const answer = await ring.run(ring.any.range({ collection: 'kv', limit: 100, reverse }, deadline))
      assert.deepEqual(keysOf(answer), reverse ? ['z', 'p', 'b', 'a'] : ['a', 'b', 'p', 'z'])
      assert.equal(answer.complete, false)
      assert.deepEqual(answer.missing, [{ from: bytes('h'), to: bytes('p'), peer: 'node 1', reason: 'unreachable' }])
      assert.equal(answer.hops > 0 && answer.peers === 2, true)
    }
    ring.silent.delete(1)
    assert.equal((await ring.run(ring.any.range({ collection: 'kv', limit: 100 }, deadline))).complete, true)
  })

  it('are waited for while they are busy', async () => {
    const ring = new FakeRing({ boundaries: [bytes('kv\0h')] })
    for (const key of ['a', 'k']) await ring.run(ring.any.put(put(key, key), deadline))
    ring.busy.add(1)
    ring.nodes[0]!.host.after(1000, () => { ring.busy.clear() })
    const answer = await ring.run(ring.any.range({ collection: 'kv', limit: 100 }, deadline))
    assert.deepEqual([keysOf(answer), answer.complete], [['a', 'k'], true])
  })

  it('are named as busy when they stay so, and the walk goes on behind them, in both directions', async () => {
    const ring = new FakeRing({ boundaries: [bytes('kv\0h'), bytes('kv\0p')] })
    for (const key of ['a', 'h', 'p', 'z']) await ring.run(ring.any.put(put(key, key), deadline))
    ring.busy.add(1)
    for (const reverse of [false, true]) {
      const start = ring.world.now()
      const answer = await ring.run(ring.any.range({ collection: 'kv', limit: 100, reverse }, deadline))
      assert.equal(ring.world.now() - start < deadline.deadlineMs, true)
      assert.deepEqual(keysOf(answer), reverse ? ['z', 'p', 'a'] : ['a', 'p', 'z'])
      assert.deepEqual(answer.missing, [{ from: bytes('h'), to: bytes('p'), peer: 'node 1', reason: 'busy' }])
    }
  })

  it('at the end of a range leave the end open', async () => {
    const ring = new FakeRing({ boundaries: [bytes('kv\0h')] })
    ring.silent.add(1)
    const answer = await ring.run(ring.any.range({ collection: 'kv', limit: 100 }, deadline))
    assert.deepEqual(answer.missing, [{ from: bytes('h'), to: undefined, peer: 'node 1', reason: 'unreachable' }])
  })

  it('cost no more than the deadline: what is left then is missing', async () => {
    const ring = new FakeRing({ boundaries: [bytes('kv\0h')] })
    const thaw = ring.freeze({ low: bytes('kv\0h'), high: undefined })
    await ring.run(ring.any.put(put('a', 'a'), deadline))
    const start = ring.world.now()
    const answer = await ring.run(ring.any.range({ collection: 'kv', limit: 100 }, { deadlineMs: 2000 }))
    assert.equal(ring.world.now() - start, 2000)
    assert.deepEqual([keysOf(answer), answer.complete, answer.missing[0]?.reason], [['a'], false, 'deadline'])
    assert.deepEqual(answer.missing[0]?.from, bytes('h'))
    thaw()
  })
})

describe('streams', () => {
  it('give rows as they come and ask for one page ahead at most', async () => {
    const ring = new FakeRing({ init: { messageRowsMax: 10 } })
    for (let i = 0; i < 100; i++) await ring.run(ring.any.put(put(`${i}`.padStart(3, '0'), 'x'), deadline))
    ring.asked = []
    const { rows, end } = ring.any.rangeStream({ collection: 'kv', limit: 1000 }, deadline)
    const iterator = rows[Symbol.asyncIterator]()
    await ring.run(iterator.next())
    await ring.pass(1000)
    assert.equal(ring.asked.length, 2)
    const keys: string[] = []
    await ring.run((async () => {
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) keys.push(toString(next.value.key))
    })())
    assert.deepEqual(keys, Array.from({ length: 99 }, (_, i) => `${i + 1}`.padStart(3, '0')))
    assert.equal((await ring.run(end)).complete, true)
  })

  it('stop asking when their reader gives up', async () => {
    const ring = new FakeRing({ init: { messageRowsMax: 10 } })
    for (let i = 0; i < 100; i++) await ring.run(ring.any.put(put(`${i}`.padStart(3, '0'), 'x'), deadline))
    ring.asked = []
    const { rows, end } = ring.any.rangeStream({ collection: 'kv', limit: 1000 }, deadline)
    const iterator = rows[Symbol.asyncIterator]()
    await ring.run(iterator.next())
    await ring.run(iterator.return!())
    assert.equal((await ring.run(end)).complete, false)
    await ring.pass(1000)
    assert(ring.asked.length <= 2)
  })
})

describe('collections', () => {
  const floor = { name: 'floor', kind: 'spatial', space: { kind: 'planar', minX: 0, minY: 0, maxX: 50, maxY: 20 } } as const

  it('are defined once, found from every node, and listed', async () => {
    const ring = new FakeRing({ boundaries: [bytes('kv\0')] })
    const [first, second] = ring.nodes
    await ring.run(first!.storage.defineCollection(floor, deadline))
    await ring.run(second!.storage.defineCollection(floor, deadline))
    assert.deepEqual(await ring.run(second!.storage.collection('floor', deadline)), floor)
    assert.equal(await ring.run(second!.storage.collection('attic', deadline)), undefined)
    await assert.rejects(ring.run(second!.storage.defineCollection({ name: 'floor', kind: 'ordered' }, deadline)), { name: 'CollectionConflictError' })
    await assert.rejects(ring.run(second!.storage.defineCollection({ name: 'kv', kind: 'spatial', space: { kind: 'lonlat' } }, deadline)), { name: 'CollectionConflictError' })
    assert.deepEqual((await ring.run(second!.storage.collections(deadline))).map(({ name }) => name), ['floor', 'kv', 'places'])
    for (const name of ['$x', '', 'a\0b', 'x'.repeat(65), '\ud800']) {
      await assert.rejects(ring.run(first!.storage.defineCollection({ name, kind: 'ordered' }, deadline)), failsFor('name'))
    }
  })

  it('of a plane find what lies on its edges', async () => {
    const ring = new FakeRing({ boundaries: [curveKey('floor', 2 ** 51)] })
    await ring.run(ring.any.defineCollection(floor, deadline))
    await ring.run(ring.any.put({ collection: 'floor', key: bytes('corner'), value: bytes('x'), point: [50, 20] }, deadline))
    const answer = await ring.run(ring.any.find({ collection: 'floor', extent: { kind: 'box', west: 50, south: 0, east: 50, north: 20 }, words: [], match: 'all', limit: 9 }, deadline))
    assert.deepEqual(keysOf(answer), ['corner'])
  })
})
