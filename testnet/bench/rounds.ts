// Measuring several subjects in turn, round after round (A B C, A B C), so that what else the machine does falls on all of
// them alike; the first round only warms them up. Of each: median operations a second, and processor time an operation.

import { cpuUsOf } from './process-usage.ts'
import { median } from './statistics.ts'
import type { Done, Span } from './parts/load.ts'

export interface Subject {
  readonly name: string
  /** Processes that carry the operations out, the load generator not among them. */
  readonly pids: readonly number[]
  run (span: Span): Promise<Done>
}

export interface Measured {
  /** Operations a second by the wall clock. */
  readonly perS: number
  /** Processor time of all its processes, µs an operation. */
  readonly cpuUs: number
}

export interface RoundsInit {
  readonly rounds: number
  readonly forMs: number
  /** Of the first round: compilers look at counts. */
  readonly warmUp: Span
  readonly progress: (line: string) => void
}

export async function measureInTurn (subjects: readonly Subject[], { rounds, forMs, warmUp, progress }: RoundsInit): Promise<ReadonlyMap<string, Measured>> {
  const samples = new Map(subjects.map(({ name }) => [name, { perS: [] as number[], count: 0, cpuUs: 0 }]))
  for (let round = 0; round <= rounds; round++) {
    progress(round === 0 ? `  warm-up of ${subjects.map(({ name }) => name).join(', ')}` : `  round ${round} of ${rounds}`)
    for (const { name, pids, run } of subjects) {
      const beforeUs = cpuUsOf(pids)
      const { count, ms } = await run(round === 0 ? warmUp : { ms: forMs, count: 1 })
      if (round === 0) continue
      const sample = samples.get(name)!
      sample.perS.push(count / ms * 1_000)
      // Summed over the rounds, since a clock of 10 ms is coarse for one.
      sample.count += count
      sample.cpuUs += cpuUsOf(pids) - beforeUs
    }
  }
  return new Map([...samples].map(([name, { perS, count, cpuUs }]) => [name, { perS: median(perS), cpuUs: cpuUs / count }]))
}
