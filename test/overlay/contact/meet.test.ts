// Founding: nodes that start with nothing end in one ring, whoever is first, and none founds beside a ring that is there.

import assert from 'node:assert/strict'
import { overlayDefaults } from '../../../overlay/init.ts'
import { everything } from '../../../overlay/interval.ts'
import { assertServedTiles } from '../../../testnet/simulator/checkers/tiling.ts'
import { Cluster } from '../../../testnet/simulator/cluster.ts'

const { foundAfterMs } = overlayDefaults

/** Chains of the claims that nodes hold, each once: one chain, one ring. */
function chainsOf (cluster: Cluster): string[] {
  return [...new Set([...cluster.nodes.values()].flatMap(({ ownership }) => ownership?.registers.entries(everything).map(({ value }) => value.claim.chain) ?? []))]
}

const states = (cluster: Cluster): string[] => [...cluster.nodes.values()].map(({ overlay }) => overlay.state)

/** Start each with all as bootstrap, itself among them, and wait until each serves. */
async function startAll (cluster: Cluster, names: readonly string[]): Promise<void> {
  const nodes = await cluster.settle(Promise.all(names.map(async name => await cluster.start(name, { bootstrap: names }))))
  await cluster.settle(Promise.all(nodes.map(async ({ overlay }) => { await overlay.whenServing() })))
}

describe('founding', function () {
  for (const seed of [1, 2, 3, 4, 5]) {
    it(`gives one ring where five start at the same moment, each with all others in its list (seed ${seed})`, async () => {
      const cluster = new Cluster({ seed, overlay: { copies: 1 } })
      await startAll(cluster, ['a', 'b', 'c', 'd', 'e'])
      assert.equal(chainsOf(cluster).length, 1)
      assertServedTiles(cluster.nodes)
      assert(cluster.world.now() < 15_000, `took ${cluster.world.now()} ms`)
    })
  }

  it('gives one ring over a network that loses one message in ten', async () => {
    for (const seed of [6, 7]) {
      const cluster = new Cluster({ seed, lossShare: 0.1, overlay: { copies: 1, joinMs: 20_000 } })
      await startAll(cluster, ['a', 'b', 'c', 'd', 'e'])
      assert.equal(chainsOf(cluster).length, 1, `seed ${seed}`)
      await cluster.run({ untilMs: cluster.world.now() + 30_000 })
      assertServedTiles(cluster.nodes)
    }
  })

  it('gives one ring where each knows only the next', async () => {
    const cluster = new Cluster({ seed: 8, overlay: { copies: 1 } })
    const names = ['a', 'b', 'c', 'd']
    const nodes = await cluster.settle(Promise.all(names.map(async (name, index) => await cluster.start(name, { bootstrap: [names[(index + 1) % names.length]!] }))))
    await cluster.settle(Promise.all(nodes.map(async ({ overlay }) => { await overlay.whenServing() })))
    assert.equal(chainsOf(cluster).length, 1)
    assertServedTiles(cluster.nodes)
  })

  it('waits for long where one of the list refuses, and then gives one ring', async () => {
    const cluster = new Cluster({ seed: 9, overlay: { copies: 1 } })
    const names = ['a', 'b', 'c', 'absent']
    const nodes = await cluster.settle(Promise.all(names.slice(0, 3).map(async name => await cluster.start(name, { bootstrap: names }))))
    await cluster.run({ untilMs: foundAfterMs - 1000 })
    assert.deepEqual(states(cluster), ['joining', 'joining', 'joining'], 'the one that refuses may lead into a ring')
    await cluster.settle(Promise.all(nodes.map(async ({ overlay }) => { await overlay.whenServing() })))
    assert.equal(chainsOf(cluster).length, 1)
    assert(cluster.world.now() >= foundAfterMs && cluster.world.now() < foundAfterMs + 15_000, `took ${cluster.world.now()} ms`)
    assertServedTiles(cluster.nodes)
  })

  it('waits for one of the list that starts late', async () => {
    const cluster = new Cluster({ seed: 10, overlay: { copies: 1 } })
    const names = ['a', 'b', 'late']
    const nodes = await cluster.settle(Promise.all(['a', 'b'].map(async name => await cluster.start(name, { bootstrap: names }))))
    await cluster.run({ untilMs: 20_000 })
    nodes.push(await cluster.settle(cluster.start('late', { bootstrap: names })))
    await cluster.settle(Promise.all(nodes.map(async ({ overlay }) => { await overlay.whenServing() })))
    assert.equal(chainsOf(cluster).length, 1)
    assert(cluster.world.now() < 40_000)
  })

  it('founds at once when told so, and not at all with a ring in its list', async () => {
    const cluster = new Cluster({ seed: 11, overlay: { copies: 1 } })
    await cluster.settle(cluster.join('first', { founding: 'now' }))
    assert.equal(cluster.world.now(), 0)
    await cluster.settle(cluster.join('second', { bootstrap: ['first', 'absent'] }))
    assert.equal(chainsOf(cluster).length, 1)
    assert(cluster.world.now() < 10_000)
    assertServedTiles(cluster.nodes)
  })

  it('does not found while the ring of its list answers, though it lets nobody in', async () => {
    // nothing can be cut: the ring's only node is changing all the time
    const cluster = new Cluster({ seed: 12, overlay: { copies: 1, joinAttemptsMax: 4 } })
    const { ownership } = await cluster.settle(cluster.join('first', { founding: 'now' }))
    const gate = ownership!.freeze({ low: Uint8Array.of(1), high: undefined })
    await cluster.settle(cluster.start('second', { bootstrap: ['first'] }))
    await cluster.run({ untilMs: 3 * foundAfterMs })
    assert.deepEqual([states(cluster), chainsOf(cluster).length], [['serving', 'joining'], 1])
    ownership!.thaw({ low: Uint8Array.of(1), high: undefined }, gate)
    await cluster.settle(cluster.get('second').overlay.whenServing())
    assertServedTiles(cluster.nodes)
  })
})
