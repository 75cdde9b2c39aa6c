// One daemon as a child process, with its own data directory. It has a process group of its own, so that Ctrl-C on the
// terminal reaches only us, who then stop it; and it watches its stdin, so that it ends when we are killed. Its log goes
// into a file, of which the last lines explain a failure.

import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Failure, exitCodes } from '../../node/cli/failure.ts'
import { readRpc } from '../../node/data-dir.ts'
import { logLinesShown, readyMsMax } from './init.ts'
import { loopback } from './ports.ts'
import { waitFor } from './wait.ts'

export interface PeerInit {
  /** From 1. */
  readonly number: number
  readonly dataDir: string
  readonly rpcPort: number
  readonly p2pPort: number
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Beside the bundle, or, seen from the sources, in dist/. */
const places = ['./isobar.js', '../../dist/isobar.js']

/** The bundle of the command line. @throws Failure when it is not built */
export function isobarFile (): string {
  const file = places.map(place => fileURLToPath(new URL(place, import.meta.url))).find(existsSync)
  if (file === undefined) throw new Failure(exitCodes.failed, 'isobar is not built; run `npm run build`')
  return file
}

export class PeerProcess {
  readonly rpc: string
  /** Settles when the process has ended. */
  readonly exited: Promise<Exit>
  /** Was its end asked for? */
  expected = false
  exit: Exit | undefined
  readonly #child: ChildProcess
  readonly #logFrom: number

  /** @param args - further flags of `isobar daemon` */
  constructor (readonly init: PeerInit, args: readonly string[]) {
    const { dataDir, rpcPort, p2pPort } = init
    this.rpc = `http://${loopback}:${rpcPort}`
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    this.#logFrom = existsSync(this.logFile) ? readFileSync(this.logFile).length : 0
    const log = openSync(this.logFile, 'a', 0o600)
    const own = ['--data-dir', dataDir, '--rpc-listen', `${loopback}:${rpcPort}`, '--p2p-listen', `${loopback}:${p2pPort}`]
    try {
      this.#child = spawn(process.execPath, [isobarFile(), 'daemon', '--exit-with-parent', ...own, ...args], { stdio: ['pipe', 'ignore', log], detached: true })
    } finally {
      closeSync(log)
    }
    this.exited = new Promise(resolve => {
      const ended = (exit: Exit): void => {
        this.exit = exit
        resolve(exit)
      }
      this.#child.once('error', () => { ended({ code: exitCodes.failed, signal: null }) })
      this.#child.once('exit', (code, signal) => { ended({ code, signal }) })
    })
  }

  get pid (): number { return this.#child.pid ?? 0 }
  get logFile (): string { return join(this.init.dataDir, 'daemon.log') }

  /** @throws Failure with the end of its log, when it ends before it serves */
  async ready (signal?: AbortSignal): Promise<void> {
    try {
      await waitFor('answer of a peer that serves', async () => {
        if (this.exit !== undefined) throw new Error(exitText(this.exit))
        // The file is cheaper to look for than a port, which during the start does not listen yet.
        const listens = readRpc(this.init.dataDir)?.pid === this.pid
        return listens && await isReady(this.rpc) ? true : undefined
      }, { deadlineMs: readyMsMax, signal })
    } catch (error) {
      signal?.throwIfAborted()
      throw new Failure(exitCodes.failed, `peer ${this.init.number} did not start: ${(error as Error).message}; its log: ${this.logEnd()}`)
    }
  }

  /** Send a signal; nothing happens when it has ended. */
  signal (signal: NodeJS.Signals): void {
    if (this.exit === undefined) this.#child.kill(signal)
  }

  /** SIGTERM, and SIGKILL when that was not heard in time. */
  async stop (graceMs: number): Promise<Exit> {
    this.expected = true
    this.signal('SIGTERM')
    const timer = setTimeout(() => { this.signal('SIGKILL') }, graceMs)
    try {
      return await this.exited
    } finally {
      clearTimeout(timer)
    }
  }

  /** The last lines that this process logged, as one line. */
  logEnd (): string {
    const lines = readFileSync(this.logFile).subarray(this.#logFrom).toString().trim().split('\n')
    return lines.slice(-logLinesShown).join(' | ') || 'empty'
  }
}

export function exitText ({ code, signal }: Exit): string {
  return signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`
}

async function isReady (rpc: string): Promise<boolean> {
  try {
    const response = await fetch(`${rpc}/readyz`)
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false
  }
}
