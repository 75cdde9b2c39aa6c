// Leaving: everything goes to a neighbor, records too, and whoever stays can tell. Neighbors may leave together; the last
// node has nobody to give to and says so.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { comparePositions } from '../../overlay/graph/neighbors.ts'
import type { Method } from '../../overlay/host.ts'
import type { Key } from '../../overlay/interval.ts'
import { RoutedReply } from '../../overlay/wire/overlay.ts'
import { confirmMethod, deleteMethod, getMethod, offerMethod, putMethod, rangeMethod } from '../../storage/messages.ts'
import { orderedKey } from '../../storage/records/key-layout.ts'
import { assertServedTiles } from '../../testnet/simulator/checkers/tiling.ts'
import { Cluster, type ClusterInit } from '../../testnet/simulator/cluster.ts'
import { prepareRing } from '../../testnet/simulator/prepared-ring.ts'
import { Random } from '../../testnet/simulator/random.ts'

const deadline = { deadlineMs: 20_000 }
/** A frame holds one row, so that handing over takes a while. */
const smallFrames = { frameBytesMax: 100 }
const manyKeys = Array.from({ length: 400 }, (_, number) => number.toString().padStart(4, '0'))
const keys = manyKeys.slice(0, 120)

async function load (cluster: Cluster, keys: readonly string[]): Promise<void> {
  await cluster.settle(Promise.all(keys.map(async key => {
    const request = { collection: 'kv', key: fromString(key), value: new Uint8Array(200), requestId: key }
    const { storage } = cluster.get('n0').node
    await storage.put(request, deadline).catch(async () => await storage.put(request, deadline))
  })))
}

/** Four nodes of which the first has all records: the others have little to hand over. */
async function lopsidedRing (init: ClusterInit): Promise<Cluster> {
  const cluster = new Cluster({ ...init, overlay: { copies: 1, ...init.overlay }, storage: smallFrames, latencyMs: { median: 5, sigma: 0.4 } })
  const random = new Random(init.seed, 'vectors')
  const boundaries = ['2', '5', '7'].map(key => orderedKey('kv', fromString(key)))
  for (const { name, store } of await cluster.settle(prepareRing(boundaries, () => random.next()))) await cluster.settle(cluster.start(name, { store }))
  await load(cluster, manyKeys)
  return cluster
}

async function ringOf (count: number, init: ClusterInit): Promise<Cluster> {
  const cluster = new Cluster({ ...init, overlay: { copies: 1, ...init.overlay } })
  await cluster.settle(cluster.join('n0', { founding: 'now' }))
  await load(cluster, keys)
  for (let index = 1; index < count; index++) await cluster.settle(cluster.join(`n${index}`, { bootstrap: ['n0'] }))
  return cluster
}

async function pass (cluster: Cluster, ms: number): Promise<void> {
  await cluster.run({ untilMs: cluster.world.now() + ms })
}

/** The method as it is on the wire: with the envelope of the router open. */
function enveloped<Request> (method: Method<Request, unknown>): Method<Request, RoutedReply> {
  return { name: method.name, request: method.request, reply: { encode: RoutedReply.encode, decode: bytes => RoutedReply.decode(bytes) } }
}

/** Names in the order of keys. */
function inOrder (cluster: Cluster): string[] {
  return [...cluster.nodes.values()].sort((a, b) => comparePositions(a.overlay.self()!.view, b.overlay.self()!.view)).map(({ name }) => name)
}

async function assertWhole (cluster: Cluster, expected = keys): Promise<void> {
  assertServedTiles(cluster.nodes)
  for (const name of cluster.nodes.keys()) {
    const { complete, records } = await cluster.settle(cluster.get(name).node.storage.range({ collection: 'kv', limit: 1000 }, deadline))
    assert.equal(complete, true)
    assert.deepEqual(records.map(({ key }) => toString(key)), expected)
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
      for (const { name, message } of failed) assert.match(`${name}: ${message}`, /^LeaveError: could not hand over in time \(neighbor: leaving\); this node still serves its interval; try again, or give more time$/)
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

  it('gives nothing to a node that is leaving already', async () => {
    const random = new Random(7, 'offsets')
    for (const seed of [7, 15, 16, 17]) {
      const cluster = await ringOf(4, { seed, storage: smallFrames })
      const [first, second] = inOrder(cluster) as [string, string, string, string]
      const leaver = cluster.get(second)
      let gained = 0
      const before = leaver.ownership!.onClaim
      leaver.ownership!.onClaim = change => {
        gained += change.gained.length
        before(change)
      }
      const leaves = [cluster.leave(second, 60_000)]
      await pass(cluster, random.next() * 300)
      leaves.push(cluster.leave(first, 60_000))
      await cluster.settle(Promise.all(leaves))
      assert.equal(gained, 0)
      await assertWhole(cluster)
    }
  })

  it('gives on what it had begun to take, when it leaves while its neighbor hands over to it', async () => {
    const random = new Random(8, 'offsets')
    let taken = 0
    for (let round = 0; round < 8; round++) {
      const cluster = await lopsidedRing({ seed: 20 + round })
      const [first, second] = inOrder(cluster) as [string, string, string, string]
      const leaver = cluster.get(second)
      const before = leaver.ownership!.onClaim
      leaver.ownership!.onClaim = change => {
        if (leaver.overlay.state === 'leaving') taken += change.gained.length
        before(change)
      }
      const leaves = [cluster.leave(first, 60_000)]
      await pass(cluster, 100 + (round + random.next()) * 16)
      leaves.push(cluster.leave(second, 60_000))
      await cluster.settle(Promise.all(leaves))
      await pass(cluster, 30_000)
      assert.equal(cluster.nodes.size, 2)
      await assertWhole(cluster, manyKeys)
    }
    assert(taken > 0, 'at some of these offsets the second leaves during the hand-over')
  })

  it('answers requests of others with redirects only from then until its process ends', async () => {
    const cluster = await ringOf(3, { seed: 18 })
    const leaver = cluster.get('n0')
    await cluster.settle(leaver.node.leave({ deadlineMs: 60_000 }))
    const asker = cluster.world.host('asker')
    const [key, high] = ['0001', '0002'].map(text => orderedKey('kv', fromString(text))) as [Key, Key]
    const assertRedirects = async <Request>(method: Method<Request, unknown>, request: Request): Promise<void> => {
      const { answer, near } = await cluster.settle(asker.call({ id: 'n0', addresses: ['/memory/n0'] }, enveloped(method), request, deadline))
      assert.equal(answer, undefined, `${method.name} was answered`)
      assert(near.length > 0, `${method.name} came back without a hint`)
    }
    const state = { value: fromString('late'), contentType: undefined, point: undefined, text: undefined }
    const write = { key, object: false, requestId: 'late', turn: undefined }
    await assertRedirects(putMethod, { ...write, state, place: undefined })
    await assertRedirects(deleteMethod, write)
    await assertRedirects(getMethod, { key })
    await assertRedirects(rangeMethod, { low: key, high, reverse: false, keysOnly: false, rowsMax: 10, bytesMax: 1000 })
    await assertRedirects(confirmMethod, { member: 'nobody', interval: { low: key, high } })
    await assertRedirects(offerMethod, { rows: [{ key, value: fromString('late') }] })
    await cluster.settle(cluster.leave('n0', 60_000))
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
      const cluster = await ringOf(5, { seed, lossShare: 0.1, overlay: { copies: 1, joinMs: 20_000 } })
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

  for (const [mended, waitMs] of [['a third leave', 0], ['a refresh', 30_000]] as const) {
    it(`fails for as long as the new owner cannot hear its claim, and ${mended} brings it there once it can`, async () => {
      const cluster = await ringOf(3, { seed: 15 })
      const { leaver, taker, leaving } = await untilAccepted(cluster, inOrder(cluster)[1]!)
      const heal = cluster.world.partition([leaver], [taker])
      const unheard = { name: 'LeaveError', message: new RegExp(`all was handed over, but ${taker} did not answer`) }
      await assert.rejects(cluster.settle(leaving), unheard)
      await assert.rejects(cluster.settle(cluster.get(leaver).node.leave({ deadlineMs: 20_000 })), unheard)
      const { ownership, overlay } = cluster.get(leaver)
      assert.deepEqual([ownership!.ownedRuns(), ownership!.owed.size, overlay.state], [[], 1, 'leaving'])
      assert.throws(() => { assertServedTiles(cluster.nodes) }, { name: 'InvariantError' }, 'until it is told nobody serves the part')
      heal()
      await cluster.run({ untilMs: cluster.world.now() + waitMs })
      if (waitMs > 0) await assertWhole(cluster)
      await cluster.settle(cluster.leave(leaver, 20_000))
      assert.equal(cluster.nodes.size, 2)
      await assertWhole(cluster)
    })
  }
})

/** Leaver has accepted that another owns its interval; nobody else knows yet. */
async function untilAccepted (cluster: Cluster, leaver: string): Promise<{ leaver: string, taker: string, leaving: Promise<void> }> {
  const { node, ownership } = cluster.get(leaver)
  const leaving = node.leave({ deadlineMs: 20_000 })
  const accepted = (): string | undefined => ownership!.registers.entries().find(({ value }) => value.accepted !== undefined)?.value.accepted!.claim.owner
  await cluster.run({ until: () => accepted() !== undefined })
  const taker = [...cluster.nodes.values()].find(({ overlay }) => overlay.memberId === accepted())!.name
  return { leaver, taker, leaving }
}
