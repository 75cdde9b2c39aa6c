// How long a daemon takes from spawn until it serves (GET /readyz gives 200), and its memory once it is idle, for one
// daemon and for a ring of eight that are spawned at once. Beside it, in the same run, what Node itself takes for an empty
// program. The clock on the wall counts what other programs take, so the processor time until ready is told too. The daemons are the bundle in dist/, with data directories of their own.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure, exitCodes } from '../../node/cli/failure.ts'
import { readyMsMax } from '../local/init.ts'
import { exitText, type PeerProcess } from '../local/peer-process.ts'
import { loopback } from '../local/ports.ts'
import type { BenchOptions, BenchResult } from './bench.ts'
import { Daemons } from './daemons.ts'
import { cpuUsOf, rssMiB } from './process-usage.ts'
import { median, rounded } from './statistics.ts'

interface Plan { readonly daemons: number, readonly rounds: number }

const full: readonly Plan[] = [{ daemons: 1, rounds: 9 }, { daemons: 8, rounds: 3 }]
const quickly: readonly Plan[] = [{ daemons: 1, rounds: 5 }, { daemons: 8, rounds: 1 }]
/** Between two looks whether a daemon serves: the error of a time. Shorter ones would take the processor that is measured. */
const pollMs = 5
/** From ready to idle, when code of the start has been thrown away (guess). */
const idleMs = 1_500

interface Ready {
  /** From spawn. */
  readonly ms: number
  /** Processor time of the daemon by then. */
  readonly cpuMs: number
}

interface Round {
  readonly ready: readonly Ready[]
  readonly rssMiB: readonly number[]
  readonly emptyMs: number
}

export async function run ({ quick, progress }: BenchOptions): Promise<BenchResult> {
  const rows = []
  for (const { daemons, rounds } of quick ? quickly : full) {
    const measured: Round[] = []
    for (let round = 1; round <= rounds; round++) {
      progress(`start: ${daemons} daemons, round ${round} of ${rounds}`)
      measured.push(await measure(daemons))
    }
    rows.push({ daemons, rounds, ...summary(measured) })
  }
  return { setup: { pollMs, idleMs }, rows }
}

function summary (rounds: readonly Round[]): Record<string, number> {
  const ready = rounds.flatMap(round => round.ready)
  const readyMs = ready.map(({ ms }) => ms)
  return {
    readyMsMedian: rounded(median(readyMs), 0),
    readyMsMax: rounded(Math.max(...readyMs), 0),
    readyCpuMsMedian: rounded(median(ready.map(({ cpuMs }) => cpuMs)), 0),
    emptyNodeMsMedian: rounded(median(rounds.map(round => round.emptyMs)), 0),
    rssMiBMedian: rounded(median(rounds.flatMap(round => round.rssMiB)), 1),
    rssMiBTotal: rounded(median(rounds.map(round => round.rssMiB.reduce((sum, each) => sum + each, 0))), 1)
  }
}

async function measure (count: number): Promise<Round> {
  const emptyMs = await emptyNodeMs()
  const daemons = new Daemons()
  try {
    const starts: Array<Promise<Ready>> = []
    for (let number = 1; number <= count; number++) {
      const sinceMs = performance.now()
      const peer = await daemons.spawn()
      starts.push(readyAt(peer).then(atMs => ({ ms: atMs - sinceMs, cpuMs: cpuUsOf([peer.pid]) / 1_000 })))
    }
    const ready = await Promise.all(starts)
    await sleep(idleMs)
    return { ready, rssMiB: daemons.pids.map(rssMiB), emptyMs }
  } finally {
    await daemons.stop()
  }
}

async function emptyNodeMs (): Promise<number> {
  const sinceMs = performance.now()
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit')
  return performance.now() - sinceMs
}

/** @throws Failure when it ends first, or takes too long */
async function readyAt (peer: PeerProcess): Promise<number> {
  const endMs = performance.now() + readyMsMax
  const agent = new Agent({ keepAlive: false })
  while (!await isReady(peer.init.rpcPort, agent)) {
    if (peer.exit !== undefined) throw new Failure(exitCodes.failed, `a daemon did not start: ${exitText(peer.exit)}; its log: ${peer.logEnd()}`)
    if (performance.now() > endMs) throw new Failure(exitCodes.failed, `a daemon was not ready after ${readyMsMax} ms; its log: ${peer.logEnd()}`)
    await sleep(pollMs)
  }
  return performance.now()
}

async function isReady (port: number, agent: Agent): Promise<boolean> {
  return await new Promise(resolve => {
    get({ host: loopback, port, path: '/readyz', agent }, response => {
      response.resume()
      resolve(response.statusCode === 200)
    }).once('error', () => { resolve(false) })
  })
}
