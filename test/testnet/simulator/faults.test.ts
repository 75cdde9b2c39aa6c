// Plans of faults: drawn the same for a seed, within what was asked for, and carried out as they say.

import assert from 'node:assert/strict'
import { faultKinds, type Fault, type FaultKind } from '../../../testnet/simulator/faults/fault.ts'
import { drawChurn, type ChurnInit } from '../../../testnet/simulator/faults/churn.ts'
import { Faults } from '../../../testnet/simulator/faults/inject.ts'
import { drawPlan } from '../../../testnet/simulator/faults/plan.ts'
import { mayLoseDisk } from '../../../testnet/simulator/faults/spare-disks.ts'
import type { Claim } from '../../../overlay/ownership/claim.ts'
import type { Register } from '../../../overlay/ownership/register.ts'
import { Cluster, type ClusterInit } from '../../../testnet/simulator/cluster.ts'

const nodes = ['n0', 'n1', 'n2', 'n3']
const plan = (seed: number, more: { kinds?: FaultKind[], mayLoseDisks?: boolean } = {}): Fault[] => drawPlan({ seed, nodes, lengthMs: 60_000, faultsCount: 20, mayLoseDisks: false, ...more })
const plans = Array.from({ length: 200 }, (_, seed) => plan(seed))

describe('a plan of faults', () => {
  it('is the same for the same seed, and another for another', () => {
    assert.deepEqual(plan(7), plan(7))
    assert.notDeepEqual(plan(7), plan(8))
    assert.deepEqual(JSON.parse(JSON.stringify(plan(7))), plan(7), 'and goes through JSON unchanged')
  })

  it('is in order of time, within its length', () => {
    for (const [seed, faults] of plans.entries()) {
      assert(faults.every(({ atMs }) => atMs >= 0 && atMs < 60_000), `seed ${seed}`)
      assert(faults.every(({ atMs }, index) => index === 0 || faults[index - 1]!.atMs <= atMs), `seed ${seed}`)
    }
  })

  it('has any of the kinds, but seldom all of them', () => {
    const kindsOf = (faults: readonly Fault[]): Set<FaultKind> => new Set(faults.map(({ kind }) => kind))
    assert.deepEqual(kindsOf(plans.flat()), new Set(faultKinds))
    assert(plans.filter(faults => kindsOf(faults).size <= 3).length > 20)
    assert.deepEqual(kindsOf(plan(1, { kinds: ['pause'] })), new Set(['pause']))
  })

  it('loses disks for good only where it may', () => {
    const lost = (faults: readonly Fault[]): Fault[] => faults.filter(fault => fault.kind === 'crash' && fault.disk === 'lost')
    assert.equal(plans.flatMap(lost).length, 0)
    assert(Array.from({ length: 50 }, (_, seed) => plan(seed, { mayLoseDisks: true })).flatMap(lost).length > 0)
  })

  it('parts all nodes into two sides, of which neither is empty', () => {
    for (const fault of plans.flat()) {
      if (fault.kind !== 'partition') continue
      assert(fault.from.length > 0 && fault.to.length > 0)
      assert.equal(new Set([...fault.from, ...fault.to]).size, fault.from.length + fault.to.length)
    }
  })
})

describe('churn', () => {
  const init: ChurnInit = { seed: 1, nodes, lengthMs: 10_000_000, sessions: 'exponential', sessionMeanMs: 10_000, downMeanMs: 1000, crashShare: 0.5 }

  it('is the same for the same seed, and of a node whatever other nodes there are', () => {
    assert.deepEqual(drawChurn(init), drawChurn(init))
    const ofN1 = (faults: readonly Fault[]): Fault[] => faults.filter(fault => 'node' in fault && fault.node === 'n1')
    assert.deepEqual(ofN1(drawChurn({ ...init, nodes: ['n1'] })), ofN1(drawChurn(init)))
  })

  it('ends as many sessions by crashes as it is told to, and the others by stops and leaves alike', () => {
    const ends = drawChurn(init).filter(({ kind }) => kind !== 'join')
    // about 2,000 sessions: a leave takes 30 s more, so there are fewer than 4 · 10,000 / 11
    assert(ends.length > 1500 && ends.length < 3637, `${ends.length}`)
    const share = (kind: FaultKind): number => ends.filter(fault => fault.kind === kind).length / ends.length
    // five standard errors of a share of a half among 1,500
    for (const [kind, expected] of [['crash', 0.5], ['stop', 0.25], ['leave', 0.25]] as const) assert(Math.abs(share(kind) - expected) < 0.065, `${kind} ${share(kind)}`)
  })

  it('brings each node back that has left', () => {
    const joins = drawChurn(init).filter(({ kind }) => kind === 'join').length
    assert.equal(joins, drawChurn(init).filter(({ kind }) => kind === 'leave').length)
  })

  it('has a heavier tail by Pareto than by the exponential', () => {
    const median = (sessions: ChurnInit['sessions']): number => {
      const times = Array.from({ length: 400 }, (_, seed) => drawChurn({ ...init, seed, nodes: ['n0'], sessions, lengthMs: 2_000_000, crashShare: 1 })[0]!.atMs).sort((a, b) => a - b)
      return times[200]!
    }
    // medians for a mean of 10,000: exponential ln 2 · 10,000 = 6,931; Pareto of shape 1.5, scale 3,333, 2^(1/1.5) · 3,333 = 5,291
    assert(Math.abs(median('exponential') - 6931) < 1700, `${median('exponential')}`)
    assert(Math.abs(median('pareto') - 5291) < 800, `${median('pareto')}`)
  })
})

describe('faults that happen', () => {
  /** A ring of three, and what happens to it while the plan goes. */
  async function under (plan: readonly Fault[], init: Partial<ClusterInit> = {}): Promise<{ cluster: Cluster, faults: Faults }> {
    const cluster = new Cluster({ seed: 1, latencyMs: { min: 5, max: 5 }, ...init })
    await cluster.settle(cluster.join('n0', { founding: 'now' }))
    for (const name of ['n1', 'n2']) await cluster.settle(cluster.join(name, { bootstrap: ['n0'] }))
    const faults = new Faults(cluster, { disksLostMax: 0, onFailure: error => { assert.fail(String(error)) } })
    faults.schedule(plan)
    return { cluster, faults }
  }
  const pass = async (cluster: Cluster, ms: number): Promise<void> => { await cluster.run({ untilMs: cluster.world.now() + ms }) }

  it('crash, stop, pause and join nodes, and end by themselves', async () => {
    const { cluster, faults } = await under([
      { kind: 'crash', atMs: 100, node: 'n1', downMs: 2000, disk: 'kept', writtenShare: 0 },
      { kind: 'crash', atMs: 200, node: 'n1', downMs: 50, disk: 'kept', writtenShare: 0 },
      { kind: 'pause', atMs: 100, node: 'n2', forMs: 1000 },
      { kind: 'join', atMs: 5000, node: 'j0' },
      { kind: 'stop', atMs: 10_000, node: 'j0', downMs: 1000 }
    ])
    await pass(cluster, 500)
    assert.deepEqual([...cluster.nodes.keys()], ['n0', 'n2'])
    assert.equal(cluster.world.isPaused('n2'), true)
    await pass(cluster, 2500)
    assert.deepEqual([...cluster.nodes.keys()], ['n0', 'n2', 'n1'])
    assert.equal(cluster.world.isPaused('n2'), false)
    await pass(cluster, 17_000)
    assert.deepEqual(faults.counts, { crash: 1, pause: 1, join: 1, stop: 1 }, 'a node that is down does not crash')
    assert.equal(faults.restarts, 2)
    for (const { overlay } of cluster.nodes.values()) assert.equal(overlay.state, 'serving')
  })

  it('are over at once when all is healed, and none begins after that', async () => {
    const { cluster, faults } = await under([
      { kind: 'crash', atMs: 100, node: 'n1', downMs: 1e6, disk: 'kept', writtenShare: 0 },
      { kind: 'suspend', atMs: 100, node: 'n2', forMs: 1e6 },
      { kind: 'partition', atMs: 100, from: ['n0'], to: ['n1', 'n2'], direction: 'both', forMs: 1e6 },
      { kind: 'network', atMs: 100, lossShare: 0.3, duplicateShare: 0.5, latencyMs: { min: 200, max: 900 }, forMs: 1e6 },
      { kind: 'slow disk', atMs: 100, node: 'n0', flushMs: 300, forMs: 1e6 },
      { kind: 'stop', atMs: 5000, node: 'n0', downMs: 10 }
    ])
    const calm = cluster.world.network.conditions
    await pass(cluster, 1000)
    assert.deepEqual(cluster.world.network.conditions, { latencyMs: { min: 200, max: 900 }, lossShare: 0.3, duplicateShare: 0.5 })
    assert.equal(cluster.paceOf('n0').flushMs, 300)
    faults.heal()
    await pass(cluster, 30_000)
    assert.deepEqual(cluster.world.network.conditions, calm)
    assert.equal(cluster.paceOf('n0').flushMs, 0)
    assert.deepEqual([...cluster.nodes.values()].map(({ name, overlay }) => `${name} ${overlay.state}`), ['n0 serving', 'n2 serving', 'n1 serving'])
    assert.equal(faults.counts.stop, undefined)
  })

  it('lose no disk where none may be lost: the node comes back as who it was', async () => {
    const { cluster, faults } = await under([{ kind: 'crash', atMs: 100, node: 'n1', downMs: 100, disk: 'lost', writtenShare: 0 }])
    const { memberId } = cluster.get('n1').overlay
    await pass(cluster, 5000)
    assert.equal(cluster.get('n1').overlay.memberId, memberId)
    assert.equal(faults.counts['disk lost'], undefined)
  })

  it('may lose a disk while those that are left of each claim are a majority, and not more than are allowed', () => {
    const claim = (...members: string[]): Claim => ({ chain: 'c', epoch: 1, owner: members[0]!, members, floor: 0, by: { counter: 1, member: members[0]! } })
    const held = (...members: string[]): Pick<Register, 'claim' | 'promised' | 'accepted'> => ({ claim: claim(...members), promised: undefined, accepted: undefined })
    const three = [held('a', 'b', 'c'), held('b', 'c', 'd')]
    assert.equal(mayLoseDisk(three, new Set(), 'a', 1), true)
    assert.equal(mayLoseDisk(three, new Set(), 'a', 0), false)
    assert.equal(mayLoseDisk(three, new Set('b'), 'a', 1), false)
    assert.equal(mayLoseDisk(three, new Set('d'), 'a', 1), true, 'they are of different claims')
    assert.equal(mayLoseDisk(three, new Set('b'), 'a', 2), false, 'one of three is no majority')
    assert.equal(mayLoseDisk([held('a')], new Set(), 'a', 1), false, 'the only member')
    assert.equal(mayLoseDisk([held('a', 'b', 'c', 'd', 'e')], new Set('b'), 'a', 2), true)
    const ballot = { counter: 2, member: 'b' }
    assert.equal(mayLoseDisk([{ ...three[0]!, promised: ballot }], new Set(), 'a', 1), false, 'a change is under way')
    assert.equal(mayLoseDisk([{ ...three[1]!, promised: ballot, accepted: { ballot, claim: claim('b', 'a') } }], new Set(), 'a', 1), false, 'it is named in what may be decided')
  })
})
