// What processes have used so far, by Linux's /proc (proc(5)): processor time of all their threads, and memory. Clocks on
// the wall count what other programs take; processor time does not.

import { readFileSync } from 'node:fs'

/** USER_HZ, which Linux has fixed at 100 for all machines that Node runs on. */
const ticksPerSecond = 100
const usPerTick = 1e6 / ticksPerSecond
/** Fields 14 and 15 of /proc/PID/stat, counted from the one behind the name in parentheses, which is the third. */
const userTicksAt = 14 - 3
const systemTicksAt = 15 - 3

/** Microseconds of processor time that processes have used, in steps of 10 ms; NaN where there is no /proc. */
export function cpuUsOf (pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuUs(pid), 0)
}

function cpuUs (pid: number): number {
  const stat = read(`/proc/${pid}/stat`)
  if (stat === undefined) return NaN
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[userTicksAt]) + Number(fields[systemTicksAt])) * usPerTick
}

/** Resident memory in MiB; NaN where there is no /proc. */
export function rssMiB (pid: number): number {
  const kiB = /^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1]
  return kiB === undefined ? NaN : Number(kiB) / 1_024
}

function read (file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
