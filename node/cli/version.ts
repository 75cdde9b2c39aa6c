// `isobar version`: this program's, with --json also Node's and those of the parts that decide how it behaves.

import type { Command } from 'commander'
import { version } from '../version.ts'
import { wordRule } from '../../storage/words.ts'
import { examples, exits, type Context } from './context.ts'

export function versionCommand (program: Command, context: Context): void {
  const command = program.command('version').description('print the version').option('--json', 'as JSON, with more')
  command.action(exits(context, async (options: { json?: boolean }) => {
    const { node, unicode } = process.versions
    context.io.stdout.write(options.json === true ? JSON.stringify({ name: 'isobar', version, node, unicode, wordRule }) + '\n' : `isobar ${version}\n`)
  }))
  examples(command, 'isobar version --json')
}
