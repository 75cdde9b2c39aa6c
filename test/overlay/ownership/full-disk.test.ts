// A disk that is full at the worst moments of a change. What was decided stays decided; while there is no space nobody may
// serve the part, but as soon as there is, and the word is told again as at each refresh, exactly one does: the same one
// after later restarts.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { overlayDefaults } from '../../../overlay/init.ts'
import type { Register } from '../../../overlay/ownership/register.ts'
import { tellOwed } from '../../../overlay/ownership/tell.ts'
import { MemoryStore } from '../../../storage/memory-store.ts'
import { assertServedTiles } from '../../../testnet/simulator/checkers/tiling.ts'
import { Cluster } from '../../../testnet/simulator/cluster.ts'
import { FlakyStore } from '../../storage/flaky-store.ts'
import { BareRing, kv, kvSpan, type BareNode } from '../bare-ring.ts'

/** Long enough that a test can stop the world between two flushes. */
const flushMs = 40
const deadline = { deadlineMs: 20_000 }
const keys = Array.from({ length: 20 }, (_, number) => `${50 + number}`)
const part = kvSpan('60')
const key = kv('65')

type Name = 'giver' | 'taker'

class Scene {
  readonly ring = new BareRing()
  readonly disks = new Map<Name, FlakyStore>()

  /** `giver` owns all and has 50 to 69 in kv, and gives 60 and above to `taker`. */
  static async giving (): Promise<Scene> {
    const scene = new Scene()
    for (const name of ['giver', 'taker'] as const) await scene.start(name)
    await scene.ring.found(scene.node('giver'))
    await scene.ring.settle(Promise.all(keys.map(async key => { await scene.node('giver').storage.put({ collection: 'kv', key: fromString(key), value: fromString(key) }, deadline) })))
    void scene.node('giver').give(part, scene.node('taker')).catch(() => {})
    return scene
  }

  node (name: Name): BareNode {
    return this.ring.nodes.get(name)!
  }

  async start (name: Name): Promise<void> {
    const { clock } = this.ring.world
    const disk = new FlakyStore(async () => { await new Promise<void>(resolve => { clock.schedule(flushMs, { run: resolve }) }) }, this.disks.get(name)?.rows)
    this.disks.set(name, disk)
    await this.ring.start(name, disk)
  }

  /** On its disk, which has space again. */
  async restart (name: Name): Promise<void> {
    this.ring.kill(name)
    await this.start(name)
    await this.ring.settle(this.node(name).resume())
  }

  async untilGiver (holds: (register: Register) => boolean): Promise<void> {
    await this.ring.world.run({ until: () => holds(this.node('giver').ownership.registers.get(key)!) })
  }

  /** Full for some seconds, then either restarts or goes on with space, and what is owed is told as at a refresh. */
  async fullFor (full: Name, restarts: Name | undefined): Promise<void> {
    const disk = this.disks.get(full)!
    disk.isFull = true
    await this.ring.pass(5000)
    assert.deepEqual(this.ring.servers(key), [], 'no claim is flushed that anybody could serve by')
    disk.isFull = false
    if (restarts !== undefined) await this.restart(restarts)
    await this.ring.pass(60_000)
    await this.ring.settle(tellOwed(this.node('giver').components, overlayDefaults))
  }

  /** Owner alone serves the part, and all records are there. */
  async assertServes (owner: Name): Promise<void> {
    assert.deepEqual([this.ring.servers(key), this.ring.servers(kv('55'))], [[owner], ['giver']])
    const held = this.node('giver').holds(key)!
    assert.deepEqual([held.owner, held.isPromised, held.epoch > 1], [owner, false, true])
    assert.deepEqual(this.node('taker').holds(key), owner === 'taker' ? held : undefined)
    assert.equal(this.node('giver').ownership.owed.size, 0)
    if (owner === 'taker') this.node('giver').hear(this.node('taker'), part, held.epoch)
    const { complete, records } = await this.ring.settle(this.node('giver').storage.range({ collection: 'kv', limit: 100 }, deadline))
    assert.deepEqual([complete, records.map(record => toString(record.key))], [true, keys])
  }
}

interface Moment {
  readonly name: string
  readonly full: Name
  readonly reached: (register: Register) => boolean
  /** Who restarts when there is space again, and who serves in the end. */
  readonly ends: ReadonlyArray<readonly [restarts: Name | undefined, owner: Name]>
}

const moments: Moment[] = [
  {
    name: 'of the taker is full when it is told',
    full: 'taker',
    reached: ({ claim }) => claim.epoch === 2,
    ends: [[undefined, 'taker'], ['taker', 'taker']]
  },
  {
    name: 'of the giver is full when it has accepted and not yet learned',
    full: 'giver',
    reached: ({ accepted }) => accepted !== undefined,
    ends: [[undefined, 'taker'], ['giver', 'taker'], ['taker', 'taker']]
  },
  {
    name: 'of the giver is full when it has promised',
    full: 'giver',
    reached: ({ promised }) => promised !== undefined,
    // a giver that restarts knows only what is on its disk: it has accepted nothing, and claims the part anew
    ends: [[undefined, 'taker'], ['giver', 'giver'], ['taker', 'taker']]
  }
]

describe('a change of owner while a disk is full', () => {
  for (const { name, full, reached, ends } of moments) {
    for (const [restarts, owner] of ends) {
      it(`has one server in the end when the disk ${name}${restarts === undefined ? '' : ` and the ${restarts} restarts`}`, async () => {
        const scene = await Scene.giving()
        await scene.untilGiver(reached)
        await scene.fullFor(full, restarts)
        await scene.assertServes(owner)
        for (const again of ['giver', 'taker'] as const) {
          await scene.restart(again)
          await scene.assertServes(owner)
        }
      })
    }
  }

  it('reaches a joiner whose disk was full when it was told, though the giver has restarted since', async () => {
    const cluster = new Cluster({ seed: 1, overlay: { copies: 1 } })
    const slow = new MemoryStore(async () => { await new Promise<void>(resolve => { cluster.world.clock.schedule(flushMs, { run: resolve }) }) })
    const disk = new FlakyStore()
    const { node } = await cluster.settle(cluster.join('giver', { founding: 'now', store: slow }))
    await cluster.settle(Promise.all(keys.map(async key => { await node.storage.put({ collection: 'kv', key: fromString(key), value: fromString(key) }, deadline) })))
    const joiner = await cluster.settle(cluster.start('joiner', { bootstrap: ['giver'], store: disk }))
    await cluster.run({ until: () => cluster.get('giver').ownership!.ownedRuns().some(run => run.high !== undefined) })
    disk.isFull = true
    await cluster.run({ untilMs: cluster.world.now() + 5000 })
    cluster.stop('giver')
    await cluster.settle(cluster.join('giver'))
    await cluster.run({ untilMs: cluster.world.now() + 30_000 })
    assert.deepEqual(joiner.ownership!.runs(), [])
    disk.isFull = false
    await cluster.run({ untilMs: cluster.world.now() + 30_000 })
    assert.equal(joiner.overlay.state, 'serving')
    assertServedTiles(cluster.nodes)
    const { complete, records } = await cluster.settle(joiner.node.storage.range({ collection: 'kv', limit: 100 }, deadline))
    assert.deepEqual([complete, records.map(record => toString(record.key))], [true, keys])
  })
})
