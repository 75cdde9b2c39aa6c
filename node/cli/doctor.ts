// `isobar doctor`: is all well with a data directory and the daemon on it? One line a check, with what to do. It changes
// nothing. Ends with 0 unless there is a problem; warnings alone are none.

import type { Command } from 'commander'
import { examples, exits, withRpc, type Context } from './context.ts'
import { exitCodes } from './failure.ts'
import type { ExamineOptions } from '../doctor/examine.ts'
import { lineOf, type Finding } from '../doctor/finding.ts'

type Options = ExamineOptions & { json?: boolean }

export function doctorCommand (program: Command, context: Context): void {
  const { io } = context
  const command = withRpc(program.command('doctor').description('check a data directory and its daemon: settings, disk, identity, store, peers, clock'))
    .option('--config <file>', 'settings file; else config.toml in the data directory')
    .option('--json', 'all findings as one JSON object')
  command.action(exits(context, async ({ json = false, ...options }: Options) => {
    const findings: Finding[] = []
    // Identity and store bring native code, which no other command needs.
    const { examine } = await import('../doctor/examine.ts')
    for await (const finding of examine(options, io.env)) {
      findings.push(finding)
      if (!json) io.stdout.write(lineOf(finding))
    }
    const isWell = findings.every(finding => finding.verdict !== 'problem')
    if (json) io.stdout.write(JSON.stringify({ ok: isWell, checks: findings }) + '\n')
    return isWell ? exitCodes.done : exitCodes.failed
  }))
  examples(command, 'isobar doctor', 'isobar doctor --data-dir /var/lib/isobar --json | jq \'.checks[] | select(.verdict != "ok")\'', 'isobar doctor --rpc :7703')
}
