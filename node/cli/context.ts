// What every command is given, and how one is run: its action returns an exit code, or nothing for 0.

import type { Command } from 'commander'
import { Client } from './client.ts'
import type { Io } from './io.ts'
import { findRpc, type RpcOptions } from './rpc-address.ts'

export interface Context {
  readonly io: Io
  /** The exit code so far. */
  code: number
}

/** A command that talks to a daemon: how to find that. */
export function withRpc (command: Command): Command {
  return command
    .option('--rpc <addr>', 'the daemon: :7703, host:port or URL (else ISOBAR_RPC, else rpc.json of the data directory)')
    .option('--data-dir <dir>', 'data directory of the daemon')
    .option('--rpc-token-file <file>', 'file with the token of the daemon')
}

export function clientFor (options: RpcOptions, { io }: Context): Client {
  return new Client(findRpc(options, io.env))
}

/** Wrap an action so that what it returns becomes the exit code. */
export function exits<Args extends unknown[]> (context: Context, action: (...args: Args) => Promise<number | undefined | void>): (...args: Args) => Promise<void> {
  return async (...args) => { context.code = await action(...args) ?? 0 }
}

/** Examples at the end of a command's help. */
export function examples (command: Command, ...lines: readonly string[]): Command {
  return command.addHelpText('after', `\nExample${lines.length === 1 ? '' : 's'}:\n${lines.map(line => `  $ ${line}`).join('\n')}`)
}
