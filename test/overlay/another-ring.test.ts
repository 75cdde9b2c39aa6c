// Stores that go from ring to ring. What a store held of a ring that it left is put aside: it neither keeps it from
// entering another ring, nor is it forgotten when it comes back. No two nodes of one ring serve a key; two rings do not
// know of each other here, so the checkers of a whole cluster are asked ring by ring.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { compareKeys, everything, holdsKey } from '../../overlay/interval.ts'
import { orderedKey } from '../../storage/records/key-layout.ts'
import { MemoryStore } from '../../storage/memory-store.ts'
import { OneServer } from '../../testnet/simulator/checkers/one-server.ts'
import { assertServedTiles } from '../../testnet/simulator/checkers/tiling.ts'
import { Cluster, type SimNode } from '../../testnet/simulator/cluster.ts'

const deadline = { deadlineMs: 20_000 }
const keys = Array.from({ length: 40 }, (_, number) => `${1000 + number * 100}`)

class Rings {
  readonly cluster: Cluster

  constructor (seed: number) {
    this.cluster = new Cluster({ seed, overlay: { copies: 1 } })
  }

  /** Ring x of g, r and s, with 40 records; r was given its part by g. Ring y of one node, y, which has none. */
  static async xAndY (seed: number): Promise<Rings> {
    const rings = new Rings(seed)
    const { cluster } = rings
    await rings.settle(cluster.join('g', { founding: 'now' }))
    const { storage } = cluster.get('g').node
    await rings.settle(Promise.all(keys.map(async key => { await storage.put({ collection: 'kv', key: fromString(key), value: fromString('x') }, deadline) })))
    for (const name of ['r', 's']) await rings.settle(cluster.join(name, { bootstrap: ['g'] }))
    await rings.settle(cluster.join('y', { founding: 'now' }))
    await rings.pass(10_000)
    return rings
  }

  async settle<T> (promise: Promise<T>): Promise<T> {
    return await this.cluster.world.settle(promise)
  }

  async pass (ms: number): Promise<void> {
    await this.cluster.world.run({ untilMs: this.cluster.world.now() + ms })
  }

  async leave (name: string): Promise<void> {
    await this.settle(this.cluster.leave(name, 60_000))
    await this.pass(2000)
  }

  chainOf (name: string): string {
    return this.cluster.get(name).ownership!.run()!.chain
  }

  /** These nodes together are a whole ring, in which each reads exactly these keys. */
  async assertRing (names: readonly string[], held: readonly string[]): Promise<void> {
    const nodes = new Map<string, SimNode>(names.map(name => [name, this.cluster.get(name)]))
    new OneServer().check(nodes)
    assertServedTiles(nodes)
    assert.deepEqual(new Set(names.map(name => this.chainOf(name))), new Set([this.chainOf(names[0]!)]))
    for (const [name, { node }] of nodes) {
      const { complete, records } = await this.settle(node.storage.range({ collection: 'kv', limit: 1000 }, deadline))
      assert.deepEqual([complete, records.map(({ key }) => toString(key))], [true, held], name)
    }
  }
}

describe('a store that goes to another ring', () => {
  it('does not take back, in its first ring again, what it gave away there, though the old giver tells it again', async () => {
    const rings = await Rings.xAndY(4)
    const { cluster } = rings
    const { low } = cluster.get('r').ownership!.run()!.interval
    const { memberId } = cluster.get('r').overlay
    await rings.leave('r')
    await rings.settle(cluster.join('r', { bootstrap: ['y'] }))
    await rings.pass(10_000)
    await rings.assertRing(['y', 'r'], [])
    await rings.leave('r')
    await rings.settle(cluster.join('r', { bootstrap: ['s'] }))
    await rings.pass(10_000)
    await rings.assertRing(['g', 'r', 's'], keys)
    assert.equal(cluster.get('g').ownership!.registers.get(low)!.claim.owner, memberId, 'the giver still knows no better')
    assert.equal(cluster.get('s').ownership!.standing({ key: low, below: false }).kind, 'serving')
    cluster.stop('g')
    await rings.pass(1000)
    await rings.settle(cluster.join('g', { bootstrap: ['s'] }))
    for (const ms of [3000, 60_000]) {
      await rings.pass(ms)
      await rings.assertRing(['g', 'r', 's'], keys)
    }
    await rings.assertRing(['y'], [])
  })

  it('serves the whole line when it founds anew', async () => {
    const rings = await Rings.xAndY(5)
    const { cluster } = rings
    await rings.leave('r')
    const founder = await rings.settle(cluster.join('r', { founding: 'now' }))
    await rings.pass(30_000)
    const [run, ...more] = founder.ownership!.runs()
    assert.deepEqual([compareKeys(run!.interval.low, everything.low), run!.interval.high, more], [0, undefined, []])
    assert.notEqual(run!.chain, rings.chainOf('g'))
    await rings.settle(founder.node.storage.put({ collection: 'kv', key: fromString('7'), value: fromString('r') }, deadline))
    await rings.assertRing(['r'], ['7'])
    await rings.assertRing(['g', 's'], keys)
  })

  // with these seeds r used to hear from its former neighbors first
  for (const seed of [7, 8]) {
    it(`goes where its list says, not back to those that it knew (seed ${seed})`, async () => {
      const rings = await Rings.xAndY(seed)
      const { cluster } = rings
      await rings.leave('r')
      await rings.settle(cluster.join('r', { bootstrap: ['y'] }))
      await rings.pass(30_000)
      assert.equal(rings.chainOf('r'), rings.chainOf('y'))
      await rings.assertRing(['r', 'y'], [])
      await rings.assertRing(['g', 's'], keys)
    })
  }

  it('that founds one at the address of a node that died is not taken for its heir: reads name the gap', async () => {
    const rings = await Rings.xAndY(1)
    const { cluster } = rings
    const keyOf = (key: string): Uint8Array => orderedKey('kv', fromString(key))
    const dead = ['g', 'r', 's'].find(name => holdsKey(cluster.get(name).ownership!.run()!.interval, keyOf(keys[0]!)))!
    const { interval } = cluster.get(dead).ownership!.run()!
    const left = keys.filter(key => !holdsKey(interval, keyOf(key)))
    cluster.kill(dead)
    await rings.settle(cluster.start(dead, { founding: 'now', store: new MemoryStore() }))
    await rings.pass(10_000)
    for (const name of ['g', 'r', 's'].filter(name => name !== dead)) {
      const page = await rings.settle(cluster.get(name).node.storage.range({ collection: 'kv', limit: 1000 }, deadline))
      assert.equal(page.complete, false, name)
      assert.deepEqual(page.records.map(({ key }) => toString(key)), left, name)
    }
  })
})
