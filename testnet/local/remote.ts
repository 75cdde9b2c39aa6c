// `testnet ps | add | start | kill | down`: a testnet that runs in another terminal, found by its base port.

import { exitCodes, Failure } from '../../node/cli/failure.ts'
import { ask } from './control.ts'
import { stopMsMax } from './init.ts'
import { peerTable } from './peer-table.ts'
import { isAlive, readRunning, type Running } from './running-file.ts'
import type { ProcessFields, PsAnswer } from './verbs.ts'
import { waitFor } from './wait.ts'

/** A stop of the peers and what comes after it (guess). */
const downMsMax = stopMsMax + 4_000

export async function ps (basePort: number): Promise<void> {
  const { processes, ring } = await ask<PsAnswer>(find(basePort), 'ps')
  process.stdout.write(ring === null ? 'no peer answers\n' : peerTable(ring.peers))
  for (const { number, running } of processes) if (!running) process.stdout.write(`peer ${number} has ended; isobar testnet start ${number} starts it again\n`)
  if (ring !== null && !ring.complete) process.stdout.write('for some keys no peer answers\n')
}

export async function add (basePort: number): Promise<void> {
  const { number, rpc, pid } = await ask<ProcessFields>(find(basePort), 'add')
  process.stdout.write(`peer ${number} serves at ${rpc} (process ${pid})\n`)
}

export async function startAgain (basePort: number, number: number): Promise<void> {
  const { rpc, pid } = await ask<ProcessFields>(find(basePort), 'start', { number })
  process.stdout.write(`peer ${number} serves again at ${rpc} (process ${pid})\n`)
}

export async function kill (basePort: number, number: number, force: boolean): Promise<void> {
  const { pid } = await ask<ProcessFields>(find(basePort), 'kill', { number, force })
  process.stdout.write(`peer ${number} (process ${pid}) has ended; isobar testnet start ${number} starts it again\n`)
}

export async function down (basePort: number): Promise<void> {
  const running = find(basePort)
  await ask(running, 'down')
  await waitFor('end of the testnet', async () => isAlive(running.pid) ? undefined : true, { deadlineMs: downMsMax })
    .catch(() => { throw new Failure(exitCodes.failed, `the testnet (process ${running.pid}) did not end in ${downMsMax / 1_000} s; end it with kill -9 ${running.pid}`) })
  process.stdout.write('the testnet has ended\n')
}

function find (basePort: number): Running {
  const running = readRunning(basePort)
  if (running === undefined || !isAlive(running.pid)) throw new Failure(exitCodes.unreachable, `no testnet runs on port ${basePort}; start one with \`isobar testnet up\`, or say where with --base-port`)
  return running
}
