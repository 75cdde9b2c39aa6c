// One run of the simulator as data: everything it depends on, so that a file of it replays the run. A scenario is drawn from a
// seed; what shrinks one changes its fields and leaves the seed, from which nodes, network and clients draw.

import { overlayDefaults, type OverlayInit } from '../../../overlay/init.ts'
import type { storageDefaults } from '../../../storage/init.ts'
import { between, chance, integer, pick } from '../draw.ts'
import { drawChurn } from '../faults/churn.ts'
import { inOrder, type Fault } from '../faults/fault.ts'
import { drawPlan } from '../faults/plan.ts'
import type { Latency, NetworkInit } from '../network.ts'
import { Random } from '../random.ts'
import { drawOverlay, drawStorage } from './options.ts'

export interface Scenario {
  readonly seed: number
  readonly nodes: number
  /** How the ring begins: from prepared stores whose boundaries lie among the keys, or grown by joins. */
  readonly ring: 'prepared' | 'joined'
  readonly overlay: Partial<OverlayInit>
  readonly storage: Partial<typeof storageDefaults>
  /** Apart from faults. */
  readonly network: NetworkInit
  readonly flushMs: number
  readonly clients: number
  /** Between two operations of a client, in the mean. */
  readonly thinkMs: number
  /** How many keys there are of each sort; see workload.ts. */
  readonly keys: { readonly hot: number, readonly cold: number, readonly objects: number }
  /** Operations and faults, then all is healed. */
  readonly safetyMs: number
  /** After it all has to be well again within this time. */
  readonly livenessMs: number
  /** Of the members of one claim, so many disks may be lost for good. */
  readonly disksLostMax: number
  readonly faults: readonly Fault[]
}

export interface DrawOptions {
  /** Nodes at the start; drawn by default. */
  readonly nodes?: number | undefined
  /** Virtual hours of operations and faults, with nodes that come and go all the time. Drawn by default, less than two minutes. */
  readonly hours?: number | undefined
}

const hourMs = 3_600_000
/** Guess: some times the longest wait of a protocol that doubles its waits. */
const livenessMs = 240_000
const latencies: readonly Latency[] = [{ median: 1, sigma: 0.3 }, { median: 10, sigma: 0.4 }, { min: 1, max: 40 }, { median: 60, sigma: 0.8 }]
/** With hours, clients are slower, so that a run has as many operations as it has time for. */
const thinkMsOfHours = 5000

export function nodeNames (count: number): string[] {
  return Array.from({ length: count }, (_, index) => `n${index}`)
}

export function drawScenario (seed: number, options: DrawOptions = {}): Scenario {
  const random = new Random(seed, 'scenario')
  const nodes = options.nodes ?? integer(random, 3, 12)
  const overlay = drawOverlay(random)
  const { copies } = { ...overlayDefaults, ...overlay }
  // a majority of each claim has to be left
  const disksLostMax = Math.floor((copies - 1) / 2)
  const safetyMs = options.hours === undefined ? integer(random, 20_000, 60_000) : Math.round(options.hours * hourMs)
  return {
    seed,
    nodes,
    ring: chance(random, 0.7) ? 'prepared' : 'joined',
    overlay,
    storage: drawStorage(random),
    network: { latencyMs: pick(random, latencies), lossShare: chance(random, 0.2) ? 0.01 : 0, duplicateShare: chance(random, 0.2) ? 0.02 : 0 },
    flushMs: pick(random, [0, 2, 20]),
    clients: integer(random, 2, 6),
    thinkMs: options.hours === undefined ? pick(random, [60, 200, 600]) : thinkMsOfHours,
    keys: { hot: integer(random, 1, 3), cold: integer(random, 5, 40), objects: integer(random, 2, 12) },
    safetyMs,
    livenessMs,
    disksLostMax,
    faults: drawFaults(seed, random, { nodes: nodeNames(nodes), safetyMs, mayLoseDisks: disksLostMax > 0, isLong: options.hours !== undefined })
  }
}

function drawFaults (seed: number, random: Random, { nodes, safetyMs, mayLoseDisks, isLong }: { nodes: readonly string[], safetyMs: number, mayLoseDisks: boolean, isLong: boolean }): readonly Fault[] {
  const single = drawPlan({ seed, nodes, lengthMs: safetyMs, faultsCount: isLong ? Math.ceil(safetyMs / 120_000) : integer(random, 1, 16), mayLoseDisks })
  if (!isLong && !chance(random, 0.15)) return single
  const sessionMeanMs = isLong ? 600_000 : between(random, 0.3, 2) * safetyMs
  const churn = drawChurn({ seed, nodes, lengthMs: safetyMs, sessions: chance(random, 0.5) ? 'pareto' : 'exponential', sessionMeanMs, downMeanMs: sessionMeanMs / 10, crashShare: pick(random, [0.2, 0.5, 1]) })
  return inOrder([...single, ...churn])
}
