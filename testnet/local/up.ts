// `testnet up`: start the peers, fill the ring, print who owns what and two commands to try, and stay until told to stop;
// with --once, run those commands instead and say by the exit code whether their answers were right. However it ends, no
// process, port or temporary file is left.

import { exitCodes, Failure } from '../../node/cli/failure.ts'
import { thousands } from '../../node/cli/table.ts'
import { openControl, type Control } from './control.ts'
import { dataSets } from './data-set.ts'
import { examplesFor, isobarCommand, type Example } from './example.ts'
import { openFolder, type Folder, type FolderOptions } from './folder.ts'
import { load } from './load.ts'
import { ringOf } from './peer-fields.ts'
import { peerTable } from './peer-table.ts'
import { createProgress } from './progress.ts'
import { removeRunning, writeRunning } from './running-file.ts'
import { StopRequest } from './stop-request.ts'
import { Testnet } from './testnet.ts'
import { verbsOf } from './verbs.ts'

export interface UpOptions extends FolderOptions {
  readonly once: boolean
}

/** @returns the exit code */
export async function up (options: UpOptions): Promise<number> {
  let force = (): void => { process.exit(exitCodes.interrupted) }
  const stop = new StopRequest(() => { force() })
  try {
    const folder = await openFolder(options)
    const remove = (): void => {
      removeRunning(folder.kept.basePort)
      folder.remove()
    }
    try {
      return await run(options, folder, stop, kill => {
        force = () => {
          kill()
          remove()
          process.exit(exitCodes.interrupted)
        }
      })
    } finally {
      remove()
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error
    return exitCodes.interrupted
  } finally {
    stop.close()
  }
}

async function run (options: UpOptions, folder: Folder, stop: StopRequest, onKill: (kill: () => void) => void): Promise<number> {
  const { basePort } = folder.kept
  let control: Control | undefined
  const testnet: Testnet = new Testnet({
    dataDir: folder.dataDir,
    kept: folder.kept,
    onEnd: (_peer, text) => { say(text) },
    onChange: async () => {
      if (control === undefined) return
      await writeRunning(basePort, { pid: process.pid, peers: testnet.peers.map(peer => peer.pid), control: control.url, token: control.token, dataDir: folder.dataDir, temporary: folder.temporary })
    }
  })
  const kill = (): void => { testnet.killAll() }
  onKill(kill)
  process.once('exit', kill)
  try {
    control = await openControl(verbsOf(testnet, () => { stop.ask() }))
    await start(testnet, stop.signal)
    await fill(testnet, options.load, stop.signal)
    const examples = examplesFor(dataSets[options.load]?.examples ?? [], testnet.rpcs)
    process.stdout.write(peerTable((await ringOf(testnet.peers))?.peers ?? []))
    if (options.once) return await runAll(examples, stop.signal)
    printExamples(examples, testnet.rpcs)
    await stop.asked()
    return exitCodes.done
  } finally {
    await end(testnet, control)
  }
}

async function start (testnet: Testnet, signal: AbortSignal): Promise<void> {
  const startMs = performance.now()
  const { basePort, peersCount } = testnet.kept
  const progress = createProgress('starting peers', peersCount)
  try {
    await testnet.start(signal, () => { progress.increment(1) })
  } finally {
    progress.stop()
  }
  process.stdout.write(`${peersCount} ${peersCount === 1 ? 'peer' : 'peers'} on 127.0.0.1:${basePort}-${basePort + peersCount - 1}, one ring after ${seconds(startMs)}\n`)
}

async function fill (testnet: Testnet, name: string, signal: AbortSignal): Promise<void> {
  const set = dataSets[name]
  if (set === undefined) return
  if (testnet.kept.loaded.includes(name)) {
    process.stdout.write(`${thousands(set.rowsCount)} ${set.noun} are there from an earlier run\n`)
    return
  }
  const startMs = performance.now()
  const progress = createProgress(`loading ${set.noun}`, set.rowsCount)
  let loaded
  try {
    loaded = await load({ rows: set.rows(), collection: set.collection, rpcs: testnet.rpcs, signal, onProgress: rows => { progress.increment(rows) } })
  } finally {
    progress.stop()
  }
  for (const problem of loaded.problems) say(problem)
  process.stdout.write(`${thousands(loaded.stored)} ${set.noun} loaded after ${seconds(startMs)}${loaded.failed === 0 ? '' : `, ${thousands(loaded.failed)} failed`}\n`)
  if (loaded.failed > 0 || loaded.stored !== set.rowsCount) throw new Failure(exitCodes.failed, `${thousands(set.rowsCount - loaded.stored)} of ${thousands(set.rowsCount)} ${set.noun} were not stored`)
  await testnet.keep({ loaded: [...testnet.kept.loaded, name] })
}

async function runAll (examples: readonly Example[], signal: AbortSignal): Promise<number> {
  let wrong = 0
  for (const { text, expected, run } of examples) {
    signal.throwIfAborted()
    const found = await run().catch((error: Error) => error.message)
    if (found !== expected) wrong++
    process.stdout.write(`${text}\n  ${found}${found === expected ? ', as it must be' : `, but it must be ${thousands(expected)}`}\n`)
  }
  return wrong === 0 ? exitCodes.done : exitCodes.failed
}

function printExamples (examples: readonly Example[], rpcs: readonly string[]): void {
  const [first = ''] = rpcs
  const lines = examples.length > 0
    ? examples.map(({ text, what, expected }) => `  ${text}    # ${thousands(expected)} ${what}`)
    : [`  ${isobarCommand()} put --rpc :${new URL(first).port} greeting 'good morning'`, `  ${isobarCommand()} get --rpc :${new URL(rpcs.at(-1) ?? first).port} greeting`]
  process.stdout.write(`\nAny peer answers for all. In another terminal:\n${lines.join('\n')}\nStop: Ctrl-C\n`)
}

async function end (testnet: Testnet, control: Control | undefined): Promise<void> {
  const isQuiet = testnet.peers.every(peer => peer.exit !== undefined)
  if (!isQuiet) say('stopping the peers')
  await testnet.stop()
  await control?.close()
}

function say (text: string): void {
  process.stderr.write(`isobar testnet: ${text}\n`)
}

function seconds (sinceMs: number): string {
  return `${((performance.now() - sinceMs) / 1_000).toFixed(1)} s`
}
