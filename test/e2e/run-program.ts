// A program as a child, with what it writes and how it ends.

import { spawn, type ChildProcess } from 'node:child_process'
import { root } from './build.ts'

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Program {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** What it has written so far. */
  output (): string
}

export function start (command: string, args: readonly string[], options: { readonly env?: NodeJS.ProcessEnv, readonly input?: string } = {}): Program {
  const child = spawn(command, args, { cwd: root, env: { ...process.env, ...options.env }, stdio: ['pipe', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', chunk => { stdout += String(chunk) })
  child.stderr.on('data', chunk => { stderr += String(chunk) })
  child.stdin.on('error', () => {})
  child.stdin.end(options.input ?? '')
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => { resolve({ code, signal, stdout, stderr }) })
  })
  return { child, ended, output: () => stdout + stderr }
}

/** `isobar …` to its end. */
export async function isobar (args: readonly string[], options: { readonly input?: string } = {}): Promise<Ended> {
  return await start(process.execPath, ['dist/isobar.js', ...args], options).ended
}
