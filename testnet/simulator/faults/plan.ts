// A plan of faults drawn from a seed. Each plan draws first which kinds it has at all: runs that leave some out reach states
// that runs with a little of everything do not (Groce and others, "Swarm testing", ISSTA 2012, section 2).
// Times and lengths are guesses: short against a lease and long against one, within one run.

import { between, chance, exponential, integer, pick, shuffled } from '../draw.ts'
import type { Latency } from '../network.ts'
import { Random } from '../random.ts'
import { faultKinds, inOrder, type Fault, type FaultKind } from './fault.ts'

export interface PlanInit {
  readonly seed: number
  /** Nodes at the start. */
  readonly nodes: readonly string[]
  /** Faults begin within this time; some end after it. */
  readonly lengthMs: number
  readonly faultsCount: number
  /** May a disk be lost for good? How many at once is for faults/inject.ts to see to. */
  readonly mayLoseDisks: boolean
  /** Kinds to draw from; all by default. */
  readonly kinds?: readonly FaultKind[]
}

const hourMs = 3_600_000
const clockJumpsMs = [-24 * hourMs, -hourMs, hourMs, 24 * hourMs]
/** Means of how long faults last: a blink, a time-out or two, longer than any lease. */
const lengthMeansMs = [200, 3000, 20_000]
const leaveDeadlineMs = 30_000
const lostDiskShare = 0.4
/** Shares of lost packets: the loss of a bad radio link, and of a path that is all but cut. */
const lossShares = [0.01, 0.05, 0.3]
const duplicateShares = [0, 0.05, 0.5]
const spreadLatencies: readonly Latency[] = [{ median: 20, sigma: 1 }, { min: 1, max: 300 }, { min: 200, max: 1500 }]
const flushTimesMs = [20, 200, 3000]
const slowBeforeCrashShare = 0.4
const slowBeforeMs = 1000

export function drawPlan (init: PlanInit): Fault[] {
  const random = new Random(init.seed, 'faults')
  const drawn = shuffled(random, init.kinds ?? faultKinds)
  const kinds = drawn.slice(0, integer(random, 1, drawn.length))
  const names = [...init.nodes]
  const faults = Array.from({ length: init.faultsCount }, () => drawFault(pick(random, kinds), random, names, init))
  return inOrder(faults.flatMap(fault => fault.kind === 'crash' && chance(random, slowBeforeCrashShare) ? [slowBefore(fault), fault] : [fault]))
}

/** A crash takes more where much waits for the disk. */
function slowBefore ({ atMs, node }: Extract<Fault, { kind: 'crash' }>): Fault {
  return { kind: 'slow disk', atMs: Math.max(0, atMs - slowBeforeMs), node, flushMs: slowBeforeMs / 2, forMs: slowBeforeMs }
}

/** @param names - of nodes there may be; a joiner's is added */
function drawFault (kind: FaultKind, random: Random, names: string[], init: PlanInit): Fault {
  const atMs = Math.floor(between(random, 0, init.lengthMs))
  const forMs = Math.ceil(exponential(random, pick(random, lengthMeansMs)))
  const node = pick(random, names)
  switch (kind) {
    case 'crash': return { kind, atMs, node, downMs: forMs, disk: init.mayLoseDisks && chance(random, lostDiskShare) ? 'lost' : 'kept', writtenShare: pick(random, [0, 0.5, 1]) }
    case 'stop': return { kind, atMs, node, downMs: forMs }
    case 'pause': case 'suspend': return { kind, atMs, node, forMs }
    case 'partition': return { kind, atMs, ...drawSides(random, names), direction: chance(random, 0.3) ? 'out' : 'both', forMs }
    case 'network': return { kind, atMs, lossShare: pick(random, lossShares), duplicateShare: pick(random, duplicateShares), latencyMs: pick(random, spreadLatencies), forMs }
    case 'slow disk': return { kind, atMs, node, flushMs: pick(random, flushTimesMs), forMs }
    case 'leave': return { kind, atMs, node, deadlineMs: leaveDeadlineMs }
    case 'clock': return { kind, atMs, node, byMs: pick(random, clockJumpsMs) }
    case 'join': {
      const joiner = `j${names.length - init.nodes.length}`
      names.push(joiner)
      return { kind, atMs, node: joiner }
    }
  }
}

/** Two sides, of which neither is empty where there are two nodes: one node against all others, or a cut anywhere. */
function drawSides (random: Random, names: readonly string[]): { from: string[], to: string[] } {
  const order = shuffled(random, names)
  const size = chance(random, 0.5) ? 1 : integer(random, 1, Math.max(1, order.length - 1))
  return { from: order.slice(0, size), to: order.slice(size) }
}
