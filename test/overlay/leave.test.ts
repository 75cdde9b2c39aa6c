// Leaving: everything goes to a neighbor, records too, and whoever stays can tell. Neighbors may leave together; the last
// node has nobody to give to and says so.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { comparePositions } from '../../overlay/graph/neighbors.ts'
import { assertServedTiles } from '../../testnet/simulator/checkers/tiling.ts'
import { Cluster, type ClusterInit } from '../../testnet/simulator/cluster.ts'

const deadline = { deadlineMs: 20_000 }
const keys = Array.from({ length: 120 }, (_, number) => number.toString().padStart(4, '0'))

async function ringOf (count: number, init: ClusterInit): Promise<Cluster> {
  const cluster = new Cluster(init)
  await cluster.settle(cluster.join('n0', { founding: 'now' }))
  await cluster.settle(Promise.all(keys.map(async key => {
    const request = { collection: 'kv', key: fromString(key), value: new Uint8Array(200), requestId: key }
    const { storage } = cluster.get('n0').node
    await storage.put(request, deadline).catch(async () => await storage.put(request, deadline))
  })))
  for (let index = 1; index < count; index++) await cluster.settle(cluster.join(`n${index}`, { bootstrap: ['n0'] }))
  return cluster
}

/** Names in the order of keys. */
function inOrder (cluster: Cluster): string[] {
  return [...cluster.nodes.values()].sort((a, b) => comparePositions(a.overlay.self()!.view, b.overlay.self()!.view)).map(({ name }) => name)
}

async function assertWhole (cluster: Cluster): Promise<void> {
  assertServedTiles(cluster.nodes)
  for (const name of cluster.nodes.keys()) {
    const { complete, records } = await cluster.settle(cluster.get(name).node.storage.range({ collection: 'kv', limit: 1000 }, deadline))
    assert.equal(complete, true)
    assert.deepEqual(records.map(({ key }) => toString(key)), keys)
  }
}

describe('leaving', () => {
  it('hands all to a neighbor, wherever the leaver stands', async () => {
    for (const which of [0, 2, 4]) {
      const cluster = await ringOf(5, { seed: 1 })
      await cluster.settle(cluster.leave(inOrder(cluster)[which]!, 60_000))
      await assertWhole(cluster)
    }
  })

  it('works for three neighbors in a row at once', async () => {
    for (const seed of [2, 3]) {
      const cluster = await ringOf(6, { seed })
      const row = inOrder(cluster).slice(2, 5)
      await cluster.settle(Promise.all(row.map(async name => { await cluster.leave(name, 60_000) })))
      assert.equal(cluster.nodes.size, 3)
      await assertWhole(cluster)
    }
  })

  it('ends for all at their deadline when all leave at once, with the reason, and loses nothing', async () => {
    for (const seed of [4, 5]) {
      const cluster = await ringOf(5, { seed })
      const outcomes = await cluster.settle(Promise.allSettled(inOrder(cluster).map(async name => { await cluster.leave(name, 10_000) })))
      const failed = outcomes.flatMap(outcome => outcome.status === 'rejected' ? [outcome.reason as Error] : [])
      assert(failed.length >= 1)
      for (const { name, message } of failed) assert.match(`${name}: ${message}`, /^LeaveError: could not hand over in time \(neighbor: leaving\); this node still serves its interval$/)
      await assertWhole(cluster)
    }
  })

  it('leaves the last of a ring with everything, and tells it why, when one after the other goes', async () => {
    const cluster = await ringOf(5, { seed: 14 })
    const names = inOrder(cluster)
    for (const name of names.slice(0, 4)) await cluster.settle(cluster.leave(name, 60_000))
    await assert.rejects(cluster.settle(cluster.leave(names[4]!, 60_000)), { name: 'LeaveError', message: 'this is the last node of its ring and has nobody to hand over to; stop it instead' })
    assert.equal(cluster.get(names[4]!).overlay.state, 'serving')
    await assertWhole(cluster)
  })

  it('tells the only node of a ring at once that it must stop instead', async () => {
    const cluster = await ringOf(1, { seed: 6 })
    const startMs = cluster.world.now()
    await assert.rejects(cluster.settle(cluster.leave('n0', 60_000)), { name: 'LeaveError', message: /last node of its ring/ })
    assert(cluster.world.now() - startMs < 5000)
    await assertWhole(cluster)
  })

  it('gives nothing to a node that leaves', async () => {
    const cluster = await ringOf(4, { seed: 7 })
    const [first, second] = inOrder(cluster) as [string, string, string, string]
    const leaver = cluster.get(second)
    let gained = 0
    await cluster.settle(Promise.all([first, second].map(async name => {
      const { ownership } = cluster.get(name)
      const before = ownership!.onClaim
      ownership!.onClaim = change => {
        if (leaver.overlay.state === 'leaving' && name === second) gained += change.gained.length
        before(change)
      }
      await cluster.leave(name, 60_000)
    })))
    assert.equal(gained, 0)
    await assertWhole(cluster)
  })

  it('lets a joiner come elsewhere', async () => {
    const cluster = await ringOf(3, { seed: 8 })
    const leaving = inOrder(cluster)[1]!
    await cluster.settle(Promise.all([cluster.leave(leaving, 60_000), cluster.join('j', { bootstrap: ['n0', 'n1', 'n2'] })]))
    await assertWhole(cluster)
    assert.equal(cluster.nodes.size, 3)
  })

  it('does not end before the new owner knows, over a network that loses messages', async () => {
    for (const seed of [9, 10, 11]) {
      const cluster = await ringOf(5, { seed, lossShare: 0.1, overlay: { joinMs: 20_000 } })
      const [, second, , fourth] = inOrder(cluster)
      await cluster.settle(Promise.all([second!, fourth!].map(async name => { await cluster.leave(name, 300_000) })))
      assertServedTiles(cluster.nodes)
    }
  })

  it('fails with its reason when no neighbor hears, and goes on serving', async () => {
    const cluster = await ringOf(3, { seed: 12 })
    const names = inOrder(cluster)
    const heal = cluster.world.partition([names[1]!], [names[0]!, names[2]!])
    await assert.rejects(cluster.settle(cluster.leave(names[1]!, 20_000)), { name: 'LeaveError' })
    assert.equal(cluster.get(names[1]!).overlay.state, 'serving')
    heal()
    await cluster.run({ untilMs: cluster.world.now() + 10_000 })
    await assertWhole(cluster)
    await cluster.settle(cluster.leave(names[1]!, 60_000))
    await assertWhole(cluster)
  })

  it('is possible after a restart though a node that was given keys before has left since', async () => {
    const cluster = await ringOf(2, { seed: 13 })
    await cluster.settle(cluster.join('n2', { bootstrap: ['n0'] }))
    await cluster.settle(cluster.leave('n1', 60_000))
    cluster.stop('n0')
    await cluster.settle(cluster.join('n0'))
    await cluster.run({ untilMs: cluster.world.now() + 60_000 })
    await cluster.settle(cluster.leave('n0', 60_000))
    await assertWhole(cluster)
    assert.deepEqual([...cluster.nodes.keys()], ['n2'])
  })
})
