// What a command sees of the process it runs in. Tests give streams of their own; only node/main.ts knows `process`.

import type { Readable, Writable } from 'node:stream'
import type { Environment } from '../config/setting.ts'

export interface Io {
  readonly env: Environment
  readonly stdin: Readable
  readonly stdout: Writable & { readonly isTTY?: boolean, readonly columns?: number }
  readonly stderr: Writable & { readonly isTTY?: boolean }
  /** Told of SIGINT, SIGTERM and SIGHUP until the returned function is called. */
  onSignal (fn: (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') => void): () => void
  /** End at once, whatever still runs. */
  exit (code: number): void
}

/** Write and wait until the stream took it, so that a slow reader slows us. */
export async function write (stream: Writable, content: string | Uint8Array): Promise<void> {
  if (stream.write(content)) return
  await new Promise<void>((resolve, reject) => {
    const done = (): void => {
      stream.off('error', failed)
      resolve()
    }
    const failed = (error: Error): void => {
      stream.off('drain', done)
      reject(error)
    }
    stream.once('drain', done)
    stream.once('error', failed)
  })
}

/** Colors only for people who did not say no (no-color.org). */
export function hasColor ({ env, stdout }: Io): boolean {
  return stdout.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
}
