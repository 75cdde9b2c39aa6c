// The command line run within this process, on streams that are kept.

import { Readable, Writable } from 'node:stream'
import type { Io } from '../../../node/cli/io.ts'
import { runCli } from '../../../node/cli/program.ts'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string | Uint8Array
  readonly tty?: boolean
}

export function createIo ({ env = {}, stdin = '', tty = false }: RunOptions = {}): Io & { out: Buffer[], err: Buffer[], signal (name: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): void, exits: number[] } {
  const out: Buffer[] = []
  const err: Buffer[] = []
  const exits: number[] = []
  const listeners = new Set<(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') => void>()
  const keep = (parts: Buffer[]) => Object.assign(new Writable({ write: (part: Buffer, _encoding, done) => { parts.push(part); done() } }), { isTTY: tty })
  return {
    env: { HOME: '/nonexistent', ...env },
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout: keep(out),
    stderr: keep(err),
    onSignal: fn => {
      listeners.add(fn)
      return () => { listeners.delete(fn) }
    },
    exit: code => { exits.push(code) },
    out,
    err,
    exits,
    signal: name => { for (const listener of listeners) listener(name) }
  }
}

export async function run (args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const io = createIo(options)
  const code = await runCli(args, io)
  return { code, stdout: Buffer.concat(io.out).toString('utf8'), stderr: Buffer.concat(io.err).toString('utf8') }
}
