// range over whole simulated nodes against a sorted array: every option, from any node, at rest and while nodes come and go.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import { assertServedTiles } from '../../../testnet/simulator/checkers/tiling.ts'
import type { RangeRequest } from '../../../storage/storage-api.ts'
import { deadline, kvBoundaries, names, range, Ring } from './ring.ts'

interface Query {
  readonly from?: { readonly key: string, readonly isExclusive: boolean }
  readonly to?: { readonly key: string, readonly isExclusive: boolean }
  readonly prefix?: string
  readonly reverse: boolean
}

const keyOf = (number: number): string => number.toString().padStart(4, '0')

function randomQuery (ring: Ring): Query {
  const [a, b] = [ring.integer(10_000), ring.integer(10_000)].sort((a, b) => a - b).map(keyOf)
  const bound = (key: string): Query['from'] & object => ({ key, isExclusive: ring.integer(2) === 0 })
  return {
    ...(ring.integer(4) > 0 ? { from: bound(a!) } : {}),
    ...(ring.integer(4) > 0 ? { to: bound(b!) } : {}),
    ...(ring.integer(4) === 0 ? { prefix: keyOf(ring.integer(10_000)).slice(0, 1 + ring.integer(3)) } : {}),
    reverse: ring.integer(2) === 0
  }
}

function requestOf ({ from, to, prefix, reverse }: Query): Partial<RangeRequest> {
  return {
    ...(from === undefined ? {} : { [from.isExclusive ? 'gt' : 'gte']: fromString(from.key) }),
    ...(to === undefined ? {} : { [to.isExclusive ? 'lt' : 'lte']: fromString(to.key) }),
    ...(prefix === undefined ? {} : { prefix: fromString(prefix) }),
    reverse
  }
}

/** All digits, so the order of texts is the order of bytes. */
function expected (sorted: readonly string[], { from, to, prefix, reverse }: Query): string[] {
  const found = sorted.filter(key =>
    (from === undefined || (from.isExclusive ? key > from.key : key >= from.key)) &&
    (to === undefined || (to.isExclusive ? key < to.key : key <= to.key)) &&
    (prefix === undefined || key.startsWith(prefix)))
  return reverse ? found.reverse() : found
}

/** All pages of a query, each asked of another node. */
async function paged (ring: Ring, query: Query, limit: number, going?: ReadonlySet<string>): Promise<string[]> {
  const found: string[] = []
  let cursor: string | undefined
  do {
    const page = await ring.asker(going).node.storage.range(range({ ...requestOf(query), limit, cursor }), deadline)
    assert.equal(page.complete, true, JSON.stringify(page.missing))
    assert(page.records.length <= limit)
    found.push(...names(page))
    cursor = page.cursor
  } while (cursor !== undefined)
  return found
}

async function filled (ring: Ring, count: number): Promise<string[]> {
  const keys = new Set<string>()
  while (keys.size < count) keys.add(keyOf(ring.integer(10_000)))
  await ring.load([...keys], async key => { await ring.putKey(key) })
  return [...keys].sort()
}

describe('range on a ring', () => {
  for (const [nodes, seed] of [[3, 1], [12, 2], [40, 3]] as const) {
    it(`gives what a sorted array gives, with all bounds, prefixes, directions and pages, over ${nodes} nodes (seed ${seed})`, async () => {
      const ring = await Ring.at(kvBoundaries(nodes), { seed })
      const sorted = await filled(ring, 300)
      for (let count = 0; count < 40; count++) {
        const query = randomQuery(ring)
        const whole = await ring.settle(ring.asker().node.storage.range(range(requestOf(query)), deadline))
        assert.deepEqual([whole.complete, names(whole)], [true, expected(sorted, query)], JSON.stringify(query))
        const limit = 1 + ring.integer(60)
        assert.deepEqual(await ring.settle(paged(ring, query, limit)), expected(sorted, query), JSON.stringify({ ...query, limit }))
      }
      const all = await ring.settle(ring.asker().node.storage.range(range({ keysOnly: true }), deadline))
      assert.deepEqual([names(all), all.records.every(({ value }) => value.length === 0), all.peers], [sorted, true, nodes], 'each node owns a part of kv and answers once')
    })
  }

  for (const seed of [4, 5]) {
    it(`is exact while nodes join and leave and other keys are written and deleted (seed ${seed})`, async () => {
      const ring = await Ring.at(kvBoundaries(8), { seed })
      const sorted = await filled(ring, 400)
      const lasting = new Set(sorted)
      const { cluster } = ring
      const going = new Set(['n1', 'n2', 'n6'])
      let isOver = false
      const changes = Promise.all([
        ...Array.from({ length: 8 }, async (_, index) => { await cluster.join(`j${index}`, { bootstrap: ['n0', 'n3', 'n7'] }) }),
        ...[...going].map(async name => { await cluster.leave(name, 120_000) })
      ]).then(() => { isOver = true })
      const read = async (): Promise<void> => {
        for (let count = 0; count < 12 || !isOver; count++) {
          const query = randomQuery(ring)
          const found = await paged(ring, query, 20 + ring.integer(400), going)
          assert.deepEqual(found.filter(key => lasting.has(key)), expected(sorted, query), JSON.stringify(query))
          assert.deepEqual(found, expected([...new Set(found)].sort(), query), 'in order, none twice')
        }
      }
      const write = async (writer: number): Promise<void> => {
        for (let round = 0; !isOver; round++) {
          const key = `${keyOf(ring.integer(10_000))}x${writer}`
          await ring.putKey(key, `${round}`, ring.asker(going))
          await ring.asker(going).node.storage.delete({ collection: 'kv', key: fromString(key), requestId: `${key} ${round}` }, deadline)
        }
      }
      await ring.settle(Promise.all([changes, read(), read(), write(0), write(1)]))
      assert.equal(cluster.nodes.size, 13)
      assertServedTiles(cluster.nodes)
      for (const { node } of ring.nodes) assert.deepEqual(names(await ring.settle(node.storage.range(range(), deadline))), sorted)
    })
  }
})
