// `isobar join ADDR` and `isobar leave`: what changes the ring. Leave hands all over first; Ctrl-C on a daemon does not.

import type { Command } from 'commander'
import { clientFor, examples, exits, withRpc, type Context } from './context.ts'
import { usage } from './failure.ts'
import type { RpcOptions } from './rpc-address.ts'

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 }

export function ringCommands (program: Command, context: Context): void {
  const post = async (path: string, body: object, options: RpcOptions): Promise<void> => {
    await clientFor(options, context).call(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  }
  const join = withRpc(program.command('join').description('let a peer that serves nothing yet meet a ring').argument('<addr>', 'multiaddr or host:port of any peer of the ring'))
  join.action(exits(context, async (address: string, options: RpcOptions) => {
    await post('/v1/admin/join', { address }, options)
    context.io.stderr.write('joined\n')
  }))
  examples(join, 'isobar join 127.0.0.1:7701 --rpc :7702')

  const leave = withRpc(program.command('leave').description('hand all over to other peers, then stop the daemon'))
    .option('--timeout <time>', 'give up after that time, e.g. 500ms, 30s, 2m', '30s')
  leave.action(exits(context, async (options: RpcOptions & { timeout: string }) => {
    await post('/v1/admin/leave', { deadlineMs: durationMs(options.timeout) }, options)
    context.io.stderr.write('left: all was handed over\n')
  }))
  examples(leave, 'isobar leave --rpc :7702 --timeout 1m')
}

/** @throws Failure */
export function durationMs (text: string): number {
  const parts = /^(?<count>\d+)(?<unit>ms|s|m)$/.exec(text)?.groups
  const value = Number(parts?.['count']) * (unitMs[parts?.['unit'] ?? ''] ?? NaN)
  if (!(value > 0)) throw usage(`--timeout: ${JSON.stringify(text)} is no time; expected 500ms, 30s or 2m`)
  return value
}
