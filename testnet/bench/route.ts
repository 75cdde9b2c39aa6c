// How many requests a lookup takes, by number of nodes: cold, with every atlas empty before each lookup, and warm, from
// nodes that have walked the line once. A hop is a request to another node. The nodes are simulated and start from
// prepared stores by the restart path. Messages go as objects, not through the wire codecs: hops are the same, and
// thousands of nodes start in half the time.

import { overlayDefaults } from '../../overlay/init.ts'
import { compareKeys, everything, type Key } from '../../overlay/interval.ts'
import type { Holdings } from '../../overlay/holdings.ts'
import type { MemberId } from '../../overlay/member.ts'
import { Overlay } from '../../overlay/overlay.ts'
import type { Trace } from '../../overlay/routing/routing.ts'
import { walk } from '../../overlay/routing/walk.ts'
import { prepareRing } from '../simulator/prepared-ring.ts'
import { Random } from '../simulator/random.ts'
import { World } from '../simulator/world.ts'
import type { BenchOptions, BenchResult } from './bench.ts'

const seed = 1
const sizes = [64, 256, 1024, 4096]
const lookupsFull = 4000
const lookupsQuick = 1000
const warmAskers = 16
const keyBytes = 8
/** Virtual milliseconds for one lookup. */
const lookupMs = 10_000
/** Repairs would warm the atlases: none during a run. */
const noRefreshMs = 1e12

export async function run ({ quick, progress }: BenchOptions): Promise<BenchResult> {
  const lookups = quick ? lookupsQuick : lookupsFull
  const rows = []
  for (const nodes of sizes) {
    progress(`route: ${nodes} nodes`)
    rows.push(await measure(nodes, lookups))
  }
  return { setup: { seed, lookups, warmAskers, codecs: false, copies: 1, atlasEntriesMax: overlayDefaults.atlasEntriesMax }, rows }
}

interface Ring {
  readonly world: World
  readonly nodes: readonly Overlay[]
  /** Low keys in order, with their owners: worked out apart from the nodes. */
  readonly owners: ReadonlyArray<{ readonly low: Key, readonly id: MemberId }>
}

async function measure (size: number, lookups: number): Promise<Record<string, number>> {
  const random = new Random(seed, `route/${size}`)
  const ring = await startRing(size, random)
  const cold = await lookAll(ring, random, lookups, { askers: ring.nodes, emptied: true })
  const askers = Array.from({ length: warmAskers }, () => ring.nodes[random.uint32() % size]!)
  for (const asker of askers) await ring.world.settle(walkLine(asker))
  const warm = await lookAll(ring, random, lookups, { askers, emptied: false })
  const sorted = cold.hops.sort((a, b) => a - b)
  return {
    nodes: size,
    hopsMean: mean(cold.hops),
    hopsP99: sorted[Math.floor(sorted.length * 0.99)]!,
    hopsMax: sorted.at(-1)!,
    hopsMeanByLog2: mean(cold.hops) / Math.log2(size),
    warmHopsMean: mean(warm.hops),
    wrong: cold.wrong + warm.wrong
  }
}

async function startRing (size: number, random: Random): Promise<Ring> {
  const world = new World({ seed, codecs: false })
  const boundaries = Array.from({ length: size - 1 }, () => randomKey(random)).sort(compareKeys)
  const prepared = await prepareRing(boundaries, () => random.uint32() / 2 ** 32)
  const nodes = prepared.map(({ name, store }) => new Overlay({ host: world.host(name), store }, { ...overlayDefaults, copies: 1, refreshIntervalMs: noRefreshMs }))
  await world.settle(Promise.all(nodes.map(async node => { await node.open() })))
  await world.settle(Promise.all(nodes.map(async node => { await node.start(noHoldings, { founding: 'now' }) })))
  await world.run({ untilMs: world.now() + lookupMs })
  return { world, nodes, owners: prepared.map(({ node }) => ({ low: node.view.interval.low, id: node.view.owner.id })) }
}

async function lookAll (ring: Ring, random: Random, lookups: number, { askers, emptied }: { askers: readonly Overlay[], emptied: boolean }): Promise<{ hops: number[], wrong: number }> {
  const hops: number[] = []
  let wrong = 0
  for (let count = 0; count < lookups; count++) {
    const asker = askers[random.uint32() % askers.length]!
    const key = randomKey(random)
    if (emptied) for (const node of ring.nodes) node.atlas.clear()
    const trace: Trace = { hops: 0, peers: new Set() }
    const found = await ring.world.settle(asker.lookup({ key, below: false }, lookupMs, trace))
    hops.push(trace.hops)
    if (found.owner.id !== ownerOf(ring, key)) wrong++
  }
  return { hops, wrong }
}

async function walkLine (asker: Overlay): Promise<void> {
  const step = walk(everything, 'up', async target => {
    const found = await asker.lookup(target, lookupMs)
    return { answer: undefined, interval: found.interval, owner: found.owner }
  })
  for await (const { kind } of step) if (kind === 'missing') throw new Error('a part of the line has no owner')
}

function ownerOf ({ owners }: Ring, key: Key): MemberId {
  let low = 0
  let high = owners.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareKeys(owners[middle]!.low, key) <= 0) low = middle + 1
    else high = middle
  }
  return owners[low - 1]!.id
}

function randomKey (random: Random): Key {
  return Uint8Array.from({ length: keyBytes }, () => random.uint32() & 0xff)
}

function mean (values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Routing alone is measured: nobody holds a record. */
const noHoldings: Holdings = {
  weigh: async () => 0,
  boundaryFor: async () => undefined,
  fill: async () => {},
  tail: async () => {},
  release: () => {},
  refuseFills: () => {},
  isFilling: () => false,
  drained: async () => true,
  isFull: () => true,
  gained: () => {},
  lost: () => {},
  held: () => {},
  released: () => {}
}
