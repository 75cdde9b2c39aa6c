// The machine that figures were taken on, as far as it explains them.

import { availableParallelism, cpus, loadavg } from 'node:os'

export interface Machine {
  readonly node: string
  readonly cores: number
  readonly cpu: string
  /** Processes that ran or waited, mean of the last minute, when the run began: other work takes its share of the clock. */
  readonly loadAverage: number
}

export function machineNow (): Machine {
  return { node: process.version, cores: availableParallelism(), cpu: cpus()[0]?.model ?? 'unknown', loadAverage: Number((loadavg()[0] ?? 0).toFixed(2)) }
}
