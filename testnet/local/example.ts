// The two example commands, as they are printed and can be copied into a second terminal: one of the command line, one
// of curl, each to another peer. `--once` runs them and knows the right answers.

import { execFile } from 'node:child_process'
import { accessSync, constants, realpathSync } from 'node:fs'
import { delimiter, join, relative } from 'node:path'
import { promisify } from 'node:util'
import type { ExampleQuery } from './data-set.ts'
import { isobarFile } from './peer-process.ts'

export interface Example {
  /** A line for a shell. */
  readonly text: string
  readonly what: string
  readonly expected: number
  /** Carry it out. @throws what went wrong */
  run (): Promise<number>
}

/** Time for one example (guess). */
const runMsMax = 30_000

/** @param rpcs - base URLs of the peers */
export function examplesFor (queries: readonly ExampleQuery[], rpcs: readonly string[]): Example[] {
  return queries.map((query, at) => {
    // Not the first peer: any answers for all.
    const rpc = rpcs[Math.min(rpcs.length - 1, 3 + 2 * at)] ?? ''
    return at % 2 === 0 ? byCommand(query, rpc) : byCurl(query, rpc)
  })
}

/** How `isobar` is called here: from the path, by npx, or by the file. */
export function isobarCommand (): string {
  const file = isobarFile()
  if (process.env['npm_command'] === 'exec') return 'npx isobar'
  if ((process.env['PATH'] ?? '').split(delimiter).some(folder => isSame(join(folder, 'isobar'), file))) return 'isobar'
  return `node ${shellWord(relative(process.cwd(), file))}`
}

/** A word as a shell takes it. */
export function shellWord (word: string): string {
  return /^[\w./:=,+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

function byCommand ({ what, command, expected, inOutput }: ExampleQuery, rpc: string): Example {
  const [verb = '', ...rest] = command
  const args = [verb, '--rpc', `:${new URL(rpc).port}`, ...rest]
  return {
    text: `${isobarCommand()} ${args.map(shellWord).join(' ')}`,
    what,
    expected,
    run: async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [isobarFile(), ...args], { timeout: runMsMax })
      return inOutput(stdout)
    }
  }
}

function byCurl ({ what, path, query, expected, inAnswer }: ExampleQuery, rpc: string): Example {
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${value}`)
  const url = `${rpc}${path}?${pairs.join('&')}`
  return {
    text: `curl -s '${url}'`,
    what,
    expected,
    run: async () => {
      const response = await fetch(url, { signal: AbortSignal.timeout(runMsMax) })
      if (!response.ok) throw new Error(`${url} answered ${response.status}`)
      return inAnswer(await response.json() as object)
    }
  }
}

function isSame (file: string, wanted: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return realpathSync(file) === realpathSync(wanted)
  } catch {
    return false
  }
}
