// Nodes that stop and come back on their disks: same claims, all records, in whatever order they start.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import type { Interval } from '../../overlay/interval.ts'
import { keyText } from '../../overlay/key-text.ts'
import { MemoryStore } from '../../storage/memory-store.ts'
import { assertServedTiles } from '../../testnet/simulator/checkers/tiling.ts'
import { Cluster } from '../../testnet/simulator/cluster.ts'
import { Random } from '../../testnet/simulator/random.ts'

const flushMs = 20
const deadline = { deadlineMs: 20_000 }

interface Held { readonly interval: Interval, readonly epoch: number, readonly chain: string }

function claimsOf (cluster: Cluster): Record<string, string> {
  const claims: Record<string, string> = {}
  for (const [name, { ownership }] of cluster.nodes) {
    claims[name] = ownership!.runs().map(({ interval, epoch, chain }: Held) => `${chain} ${epoch} ${keyText(interval.low)} ${keyText(interval.high)}`).join()
  }
  return claims
}

async function keysOf (cluster: Cluster, name: string): Promise<string[]> {
  const { complete, missing, records } = await cluster.settle(cluster.get(name).node.storage.range({ collection: 'kv', limit: 10_000 }, deadline))
  assert.equal(complete, true, JSON.stringify(missing))
  return records.map(({ key }) => toString(key))
}

/** A ring of `count` with 200 records in kv, joined one after the other. */
async function ringOf (cluster: Cluster, count: number): Promise<string[]> {
  await cluster.settle(cluster.join('n0', { founding: 'now' }))
  const keys = Array.from({ length: 200 }, (_, number) => number.toString().padStart(4, '0'))
  await cluster.settle(Promise.all(keys.map(async key => await cluster.get('n0').node.storage.put({ collection: 'kv', key: fromString(key), value: new Uint8Array(100) }, deadline))))
  for (let index = 1; index < count; index++) await cluster.settle(cluster.join(`n${index}`, { bootstrap: ['n0'] }))
  await cluster.run({ untilMs: cluster.world.now() + 20_000 })
  return keys
}

describe('a ring that stops and starts again', () => {
  for (const seed of [1, 2, 3]) {
    it(`has the same claims and all records, in whatever order its nodes come back (seed ${seed})`, async () => {
      const cluster = new Cluster({ seed, overlay: { copies: 1 } })
      const keys = await ringOf(cluster, 7)
      const before = claimsOf(cluster)
      const names = [...cluster.nodes.keys()]
      for (const name of names) cluster.stop(name)
      await cluster.run({ untilMs: cluster.world.now() + 5000 })
      const random = new Random(seed, 'order')
      for (const name of names.sort(() => random.next() - 0.5)) {
        await cluster.settle(cluster.join(name, { bootstrap: names.filter(other => other !== name) }))
        await cluster.run({ untilMs: cluster.world.now() + random.uint32() % 2000 })
      }
      await cluster.run({ untilMs: cluster.world.now() + 1000 })
      assert.deepEqual(claimsOf(cluster), before)
      assertServedTiles(cluster.nodes)
      for (const name of names) assert.deepEqual(await keysOf(cluster, name), keys, name)
    })
  }

  it('reads as complete again as soon as a node that was gone is back, without a list of others', async () => {
    const cluster = new Cluster({ seed: 4, overlay: { copies: 1 } })
    const keys = await ringOf(cluster, 5)
    const gone = [...cluster.nodes.values()].find(({ name, ownership }) => name !== 'n0' && ownership!.run()!.interval.low.length > 0)!
    cluster.stop(gone.name)
    const { complete } = await cluster.settle(cluster.get('n0').node.storage.range({ collection: 'kv', limit: 10_000 }, deadline))
    assert.equal(complete, keys.length === 0 || ownsNoKv(gone.ownership!.run()!.interval), 'the interval of the one that is gone is missing')
    await cluster.settle(cluster.join(gone.name))
    for (const name of cluster.nodes.keys()) assert.deepEqual(await keysOf(cluster, name), keys)
  })

  it('tells a joiner what it was given when the giver died at that very moment and is back', async () => {
    const cluster = new Cluster({ seed: 5, overlay: { copies: 1 } })
    const slow = new MemoryStore(async () => { await new Promise<void>(resolve => { cluster.world.clock.schedule(flushMs, { run: resolve }) }) })
    await cluster.settle(cluster.join('n0', { founding: 'now', store: slow }))
    await cluster.settle(cluster.start('j', { bootstrap: ['n0'] }))
    const joiner = cluster.get('j')
    // decided in the giver's memory and accepted on its disk; it flushes before it tells
    await cluster.run({ until: () => cluster.get('n0').ownership!.ownedRuns().some(run => run.high !== undefined) })
    cluster.stop('n0')
    await cluster.run({ untilMs: cluster.world.now() + 3000 })
    assert.equal(joiner.ownership!.run(), undefined, 'nobody has told it')
    const giver = await cluster.settle(cluster.join('n0'))
    await cluster.run({ until: () => joiner.overlay.state === 'serving', untilMs: cluster.world.now() + 60_000 })
    assert.equal(joiner.ownership!.ownedSegments().length, 1, 'it asks for nothing more')
    assertServedTiles(cluster.nodes)
    assert.deepEqual([giver, joiner].map(({ overlay }) => overlay.state), ['serving', 'serving'])
  })

  it('lets a node join anew that finds all it owned decided for another', async () => {
    const cluster = new Cluster({ seed: 6, overlay: { copies: 1 } })
    const keys = await ringOf(cluster, 3)
    const { node, ownership } = cluster.get('n1')
    const [before] = ownership!.ownedRuns()
    node.leave({ deadlineMs: 60_000 }).catch(() => {})
    await cluster.run({ until: () => ownership!.registers.entries().some(({ value }) => value.accepted !== undefined) })
    cluster.stop('n1')
    await cluster.run({ untilMs: cluster.world.now() + 2000 })
    assert.deepEqual(cluster.get('n0').ownership!.ownedRuns().concat(cluster.get('n2').ownership!.ownedRuns()).some(run => keyText(run.low) === keyText(before!.low)), false, 'nobody has heard of it')
    const back = await cluster.settle(cluster.start('n1', { bootstrap: ['n0'] }))
    assert.deepEqual([back.overlay.state, back.ownership!.ownedRuns()], ['joining', []])
    await cluster.settle(back.overlay.whenServing())
    await cluster.run({ untilMs: cluster.world.now() + 1000 })
    assert.equal(back.ownership!.runs().length, 1)
    assertServedTiles(cluster.nodes)
    for (const name of cluster.nodes.keys()) assert.deepEqual(await keysOf(cluster, name), keys, name)
  })
})

function ownsNoKv ({ low, high }: Interval): boolean {
  return keyText(low) >= '"kv\\x01' || (high !== undefined && keyText(high) <= '"kv\\x00')
}
