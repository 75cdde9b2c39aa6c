// The checker of the line itself: a claim must name a node that is up or that the test took away, never one that has left.

import assert from 'node:assert/strict'
import { everything } from '../../../overlay/interval.ts'
import { Cluster } from '../../../testnet/simulator/cluster.ts'

/** Three nodes; n0 stays, of the others `going` goes. Then n0 hears of claims over its own keys that name the one that went. */
async function claimsNaming (go: (cluster: Cluster, name: string) => Promise<void> | void): Promise<void> {
  const cluster = new Cluster({ seed: 1, overlay: { copies: 1 } })
  await cluster.settle(cluster.join('n0', { founding: 'now' }))
  for (const name of ['n1', 'n2']) await cluster.settle(cluster.join(name, { bootstrap: ['n0'] }))
  const { memberId } = cluster.get('n1').overlay
  await cluster.settle((async () => { await go(cluster, 'n1') })())
  const { ownership } = cluster.get('n0')
  const claims = ownership!.registers.entries(everything).map(({ interval, value: { claim } }) => ({
    interval,
    claim: { ...claim, epoch: claim.epoch + 100, owner: memberId, members: [memberId], by: { counter: 1000, member: memberId } }
  }))
  await cluster.settle(ownership!.learn(claims))
}

describe('the checker of who owns the line', () => {
  it('finds the newest claim at fault that names a node that has left', async () => {
    await assert.rejects(claimsNaming(async (cluster, name) => { await cluster.leave(name, 60_000) }), { name: 'InvariantError', message: /names [0-9a-f]{32}, which is gone$/ })
  })

  it('has nothing against one that names a node which the test has stopped or killed', async () => {
    await claimsNaming((cluster, name) => { cluster.stop(name) })
    await claimsNaming((cluster, name) => { cluster.kill(name) })
  })

  it('looks at what a stopped node holds on its disk, too: what only that one knows is no gap', async () => {
    const cluster = new Cluster({ seed: 2, overlay: { copies: 1 } })
    await cluster.settle(cluster.join('n0', { founding: 'now' }))
    for (const name of ['n1', 'n2']) await cluster.settle(cluster.join(name, { bootstrap: ['n0'] }))
    await cluster.settle(cluster.leave('n0', 60_000))
    cluster.stop('n1')
    await cluster.run({ untilMs: cluster.world.now() + 30_000 })
    await cluster.settle(cluster.join('n1'))
  })
})
