// `isobar testnet …`: many daemons on this machine. That is another program (testnet/), bundled beside this one; it is
// started as a child that gets the arguments and the signals, and its exit code is ours.

import type { Command } from 'commander'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { exits, type Context } from './context.ts'
import { Failure, exitCodes } from './failure.ts'
import type { Io } from './io.ts'

/** Beside the bundle, or, seen from the sources, in dist/. */
const places = ['./testnet.js', '../../dist/testnet.js']

export function testnetCommand (program: Command, context: Context): void {
  program.command('testnet')
    .description('many peers on this machine; see `isobar testnet --help`')
    .argument('[args...]')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(exits(context, async (args: string[]) => {
      const bundle = places.map(place => fileURLToPath(new URL(place, import.meta.url))).find(existsSync)
      if (bundle === undefined) throw new Failure(exitCodes.failed, 'the testnet is not built; run `npm run build`')
      return await runChild([bundle, ...args], context.io)
    }))
}

/** @returns the child's exit code */
export async function runChild (args: readonly string[], io: Io): Promise<number> {
  // By the end of the channel the child learns that we are gone, however that came.
  const child = spawn(process.execPath, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env: io.env })
  const off = io.onSignal(signal => {
    // On a terminal Ctrl-C reaches the child by itself; told twice it would end at once.
    if (signal !== 'SIGINT' || process.stdin.isTTY !== true) child.kill(signal)
  })
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (code, signal) => { resolve(code ?? (signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.failed)) })
    })
  } finally {
    off()
  }
}
