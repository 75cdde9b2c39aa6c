// Churn: nodes that come and go by themselves for the whole of a run. A node is up for a session, goes (by a crash, a stop or
// a leave), is down for a time and comes back. Session lengths are exponential, or Pareto as measured in the open: Stutzbach
// and Rejaie, "Understanding churn in peer-to-peer networks", IMC 2006, section 5, find tails heavier than exponential.

import { chance, exponential, pareto, pick } from '../draw.ts'
import { Random } from '../random.ts'
import { inOrder, type Fault } from './fault.ts'

export interface ChurnInit {
  readonly seed: number
  readonly nodes: readonly string[]
  readonly lengthMs: number
  readonly sessions: 'exponential' | 'pareto'
  readonly sessionMeanMs: number
  readonly downMeanMs: number
  /** Share of sessions that end by a crash; the others end by a stop or a leave, as often the one as the other. */
  readonly crashShare: number
}

/** Of Pareto's distribution (guess: infinite variance, but a mean that 1,000 draws come near). */
const sessionShape = 1.5
const leaveDeadlineMs = 30_000

export function drawChurn (init: ChurnInit): Fault[] {
  return inOrder(init.nodes.flatMap(node => livesOf(node, init)))
}

function livesOf (node: string, { seed, lengthMs, sessions, sessionMeanMs, downMeanMs, crashShare }: ChurnInit): Fault[] {
  const random = new Random(seed, `churn/${node}`)
  const faults: Fault[] = []
  let atMs = 0
  for (;;) {
    atMs += Math.ceil(sessions === 'pareto' ? pareto(random, sessionMeanMs, sessionShape) : exponential(random, sessionMeanMs))
    if (atMs >= lengthMs) return faults
    const downMs = Math.ceil(exponential(random, downMeanMs))
    if (chance(random, crashShare)) faults.push({ kind: 'crash', atMs, node, downMs, disk: 'kept', writtenShare: pick(random, [0, 0.5, 1]) })
    else if (chance(random, 0.5)) faults.push({ kind: 'stop', atMs, node, downMs })
    else {
      faults.push({ kind: 'leave', atMs, node, deadlineMs: leaveDeadlineMs })
      atMs += leaveDeadlineMs
      faults.push({ kind: 'join', atMs: atMs + downMs, node })
    }
    atMs += downMs
  }
}
