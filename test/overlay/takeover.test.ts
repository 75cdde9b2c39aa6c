// Three copies: who has them, and what happens when an owner or a member dies, falls silent, wakes or leaves.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import type { StorageVerbs } from '../../storage/storage-api.ts'
import { assertServedTiles } from '../../testnet/simulator/checkers/tiling.ts'
import { Cluster } from '../../testnet/simulator/cluster.ts'

const keysCount = 60
const deadlineMs = 10_000

function keyOf (index: number): Uint8Array {
  return fromString(String(index).padStart(4, '0'))
}

class Ring {
  readonly cluster: Cluster

  constructor (seed: number) {
    this.cluster = new Cluster({ seed, latencyMs: { median: 5, sigma: 0.4 } })
  }

  async grow (count: number): Promise<void> {
    const { cluster } = this
    await cluster.settle(cluster.join('n0', { founding: 'now' }))
    for (let index = 1; index < count; index++) await cluster.settle(cluster.join(`n${index}`, { bootstrap: ['n0'] }))
    for (let index = 0; index < keysCount; index++) await this.put(index, 'first')
    await this.pass(20_000)
  }

  storage (name: string): StorageVerbs {
    return this.cluster.get(name).node.storage
  }

  async pass (ms: number): Promise<void> {
    await this.cluster.run({ untilMs: this.cluster.world.now() + ms })
  }

  async put (index: number, text: string, by = 'n0'): Promise<number> {
    const { copies } = await this.cluster.settle(this.storage(by).put({ collection: 'kv', key: keyOf(index), value: fromString(`${text} ${index}`) }, { deadlineMs }))
    return copies
  }

  /** Until an answer comes. */
  async get (index: number, by = 'n0'): Promise<string | undefined> {
    for (let tries = 0; ; tries++) {
      try {
        const { record } = await this.cluster.settle(this.storage(by).get({ collection: 'kv', key: keyOf(index) }, { deadlineMs }))
        return record && toString(record.value)
      } catch (error) {
        if (tries > 40) throw error
        await this.pass(500)
      }
    }
  }

  /** Names of the members of each piece, in key order, owner first. */
  pieces (): string[][] {
    const names = new Map([...this.cluster.nodes.values()].map(({ name, overlay }) => [overlay.memberId, name]))
    const segments = [...this.cluster.nodes.values()].flatMap(({ ownership }) => ownership!.ownedSegments())
    segments.sort((a, b) => toString(a.interval.low, 'hex') < toString(b.interval.low, 'hex') ? -1 : 1)
    return segments.map(({ value: { claim } }) => [claim.owner, ...claim.members.filter(id => id !== claim.owner)].map(id => names.get(id) ?? 'gone'))
  }

  /** The owners in key order, and of each piece its members are those beside the owner; at an end the two nearest. */
  assertNeighborsHold (): void {
    const pieces = this.pieces()
    const owners = pieces.map(([owner]) => owner!)
    pieces.forEach(([, ...others], at) => {
      const [low, high] = at === 0 ? [1, 2] : at === owners.length - 1 ? [at - 2, at - 1] : [at - 1, at + 1]
      assert.deepEqual([...others].sort(), [owners[low], owners[high]].sort(), `members beside ${owners[at]}`)
    })
  }

  ownerOf (index: number): string {
    const key = fromString(`kv\0${toString(keyOf(index))}`)
    const owner = [...this.cluster.nodes.values()].find(({ ownership }) => ownership!.standing({ key, below: false }).kind === 'serving')
    assert(owner !== undefined, `nobody serves key ${index}`)
    return owner.name
  }
}

describe('three copies', () => {
  it('are at the owner and the nodes beside it, and a put says so', async () => {
    const ring = new Ring(1)
    await ring.grow(6)
    ring.assertNeighborsHold()
    assert.equal(await ring.put(1, 'second'), 3)
  })

  it('are as many as there are nodes', async () => {
    const ring = new Ring(2)
    await ring.grow(2)
    assert.deepEqual(ring.pieces().map(members => members.length), [2, 2])
    assert.equal(await ring.put(1, 'second'), 2)
  })

  for (const seed of [3, 4, 5]) {
    it(`let a neighbor take over from an owner that was killed, and nothing acknowledged is lost (seed ${seed})`, async () => {
      const ring = new Ring(seed)
      await ring.grow(6)
      const victim = ring.ownerOf(30)
      const asker = ['n0', 'n1'].find(name => name !== victim)!
      ring.cluster.kill(victim)
      for (let index = 0; index < keysCount; index++) assert.equal(await ring.get(index, asker), `first ${index}`)
      const copies = await ring.put(30, 'second', asker)
      assert(copies === 2 || copies === 3, `${copies} copies while the third is being replaced`)
      await ring.pass(20_000)
      assertServedTiles(ring.cluster.nodes)
      ring.assertNeighborsHold()
      assert.equal(ring.pieces().flat().includes('gone'), false)
    })
  }

  it('keep all that was acknowledged when two of three members lose their disks one after the other', async () => {
    const ring = new Ring(6)
    await ring.grow(6)
    for (let round = 0; round < 2; round++) {
      const victim = ring.ownerOf(30)
      ring.cluster.kill(victim)
      ring.cluster.loseDisk(victim)
      await ring.pass(30_000)
    }
    const [asker] = ring.cluster.nodes.keys()
    for (let index = 0; index < keysCount; index++) assert.equal(await ring.get(index, asker), `first ${index}`)
  })

  it('never let an owner that was paused answer an old value when it wakes', async () => {
    const ring = new Ring(7)
    await ring.grow(6)
    const victim = ring.ownerOf(30)
    const asker = ['n0', 'n1'].find(name => name !== victim)!
    ring.cluster.world.pause(victim)
    await ring.pass(40_000)
    assert.notEqual(ring.ownerOf(30), victim, 'taken over')
    await ring.put(30, 'second', asker)
    ring.cluster.world.resume(victim)
    assert.equal(await ring.get(30, victim), 'second 30')
    await ring.pass(60_000)
    assert.equal(ring.cluster.get(victim).overlay.state, 'serving', 'it has come in again')
    assertServedTiles(ring.cluster.nodes)
  })

  it('are handed on by a node that leaves, before it goes', async () => {
    const ring = new Ring(8)
    await ring.grow(6)
    await ring.cluster.settle(ring.cluster.leave('n3', 60_000))
    assert.equal(ring.pieces().flat().includes('gone'), false, 'no claim names it in the moment in which it is gone')
    for (let index = 0; index < keysCount; index++) assert.equal(await ring.get(index), `first ${index}`)
  })

  it('come back as they were when all are stopped at once and started in another order', async () => {
    const ring = new Ring(9)
    await ring.grow(5)
    const names = [...ring.cluster.nodes.keys()]
    for (const name of names) ring.cluster.kill(name)
    for (const name of names.reverse()) await ring.cluster.settle(ring.cluster.start(name, { bootstrap: names }))
    await ring.pass(60_000)
    assertServedTiles(ring.cluster.nodes)
    for (let index = 0; index < keysCount; index++) assert.equal(await ring.get(index), `first ${index}`)
  })
})
