// The lists of the skip graph, against sorting all nodes by position and splitting them by the bits of their vectors.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import { sharedLevels } from '../../../overlay/graph/membership-vector.ts'
import { comparePositions } from '../../../overlay/graph/neighbors.ts'
import type { GraphNode } from '../../../overlay/messages.ts'
import { missingLinks } from '../../../testnet/simulator/checkers/links.ts'
import { Cluster } from '../../../testnet/simulator/cluster.ts'
import { prepareRing } from '../../../testnet/simulator/prepared-ring.ts'
import { Random } from '../../../testnet/simulator/random.ts'
import { orderedKey } from '../../../storage/records/key-layout.ts'

/** Of each node that serves, its two neighbors at each level from `fromLevel` up to where it has none, by sorting and filtering. */
function wanted (cluster: Cluster, fromLevel: number): Record<string, string[]> {
  const nodes = selves(cluster)
  return Object.fromEntries(nodes.map((self, index) => {
    const levels: string[] = []
    for (let level = fromLevel; ; level++) {
      const list = nodes.filter((node, other) => other === index || sharedLevels(node.vector, self.vector) >= level)
      const at = list.indexOf(self)
      if (list.length === 1 && level > 0) return [nameOf(self), levels]
      levels.push(`${nameOf(list[at - 1])} ${nameOf(list[at + 1])}`)
    }
  }))
}

function present (cluster: Cluster, fromLevel: number): Record<string, string[]> {
  return Object.fromEntries(selves(cluster).map(self => {
    const levels = cluster.get(nameOf(self)).overlay.neighbors.levels().slice(fromLevel)
    return [nameOf(self), levels.map(({ left, right }) => `${nameOf(left)} ${nameOf(right)}`)]
  }))
}

/** In order of position. */
function selves (cluster: Cluster): GraphNode[] {
  return [...cluster.nodes.values()].flatMap(({ overlay }) => overlay.self() ?? []).sort((a, b) => comparePositions(a.view, b.view))
}

function nameOf (node: GraphNode | undefined): string {
  return node?.view.owner.contact.id ?? '-'
}

async function preparedRing (cluster: Cluster, count: number): Promise<void> {
  const random = new Random(cluster.world.seed, 'ring')
  const boundaries = Array.from({ length: count - 1 }, (_, index) => orderedKey('kv', fromString((index + 1).toString().padStart(4, '0'))))
  for (const { name, store } of await cluster.settle(prepareRing(boundaries, () => random.next()))) await cluster.settle(cluster.start(name, { store }))
}

describe('the skip graph', () => {
  it('has exactly the lists that the vectors ask for when nodes come one after the other', async () => {
    for (const seed of [1, 2]) {
      const cluster = new Cluster({ seed, overlay: { copies: 1 } })
      await cluster.settle(cluster.join('n0', { founding: 'now' }))
      for (let index = 1; index < 14; index++) {
        await cluster.settle(cluster.join(`n${index}`, { bootstrap: ['n0'] }))
        // linking in goes on for some round trips after a node serves
        await cluster.run({ untilMs: cluster.world.now() + 2000 })
        assert.deepEqual(present(cluster, 0), wanted(cluster, 0), `seed ${seed}, after n${index}`)
      }
      assert(missingLinks(cluster.nodes).every(count => count === 0))
    }
  })

  it('comes to these lists by refresh when many come at once', async () => {
    const cluster = new Cluster({ seed: 3, overlay: { copies: 1 } })
    await cluster.settle(cluster.join('n0', { founding: 'now' }))
    await cluster.settle(Promise.all(Array.from({ length: 15 }, async (_, index) => await cluster.join(`n${index + 1}`, { bootstrap: ['n0'] }))))
    await cluster.run({ untilMs: cluster.world.now() + 120_000 })
    assert.deepEqual(present(cluster, 0), wanted(cluster, 0))
  })

  it('comes up from disk with the links that were kept', async () => {
    const cluster = new Cluster({ seed: 4, overlay: { copies: 1 } })
    await preparedRing(cluster, 30)
    assert.deepEqual(present(cluster, 0), wanted(cluster, 0))
    await cluster.run({ untilMs: cluster.world.now() + 60_000 })
    assert.deepEqual(present(cluster, 0), wanted(cluster, 0), 'and keeps them')
  })

  it('closes its upper lists over nodes that died, and level 0 over none, since these still own their keys', async () => {
    const cluster = new Cluster({ seed: 5, overlay: { copies: 1 } })
    await preparedRing(cluster, 24)
    const dead = ['n3', 'n4', 'n11', 'n20']
    const before = present(cluster, 0)
    for (const name of dead) cluster.stop(name)
    await cluster.run({ untilMs: cluster.world.now() + 180_000 })
    assert.deepEqual(present(cluster, 1), wanted(cluster, 1))
    for (const [name, levels] of Object.entries(present(cluster, 0))) assert.equal(levels[0], before[name]![0], name)
  })

  it('closes all lists over nodes that left', async () => {
    const cluster = new Cluster({ seed: 6, overlay: { copies: 1 } })
    await preparedRing(cluster, 24)
    await cluster.settle(Promise.all(['n3', 'n4', 'n5', 'n11', 'n23', 'n0'].map(async name => { await cluster.leave(name, 60_000) })))
    await cluster.run({ untilMs: cluster.world.now() + 180_000 })
    assert.deepEqual(present(cluster, 0), wanted(cluster, 0))
  })

  it('takes a node that comes back on its old disk after leaving for a new one at a new place', async () => {
    const cluster = new Cluster({ seed: 7, overlay: { copies: 1 } })
    await preparedRing(cluster, 12)
    const placementBefore = cluster.get('n5').overlay.self()!.placement
    await cluster.settle(cluster.leave('n5', 60_000))
    await cluster.settle(cluster.join('n5', { bootstrap: ['n0'] }))
    const self = cluster.get('n5').overlay.self()!
    assert(self.placement > placementBefore)
    await cluster.run({ untilMs: cluster.world.now() + 120_000 })
    assert.deepEqual(present(cluster, 0), wanted(cluster, 0))
    for (const { overlay } of cluster.nodes.values()) {
      for (const node of overlay.neighbors.all()) if (nameOf(node) === 'n5') assert.equal(node.placement, self.placement)
    }
  })
})
