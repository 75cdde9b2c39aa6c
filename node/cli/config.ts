// `isobar config show`: the settings in force, and with --origin where each came from.

import type { Command } from 'commander'
import type { Flags } from '../config/load.ts'
import { showSettings } from '../config/show.ts'
import { examples, exits, type Context } from './context.ts'
import { settingOptions, settingsFor } from './setting-options.ts'

export function configCommands (program: Command, context: Context): void {
  const config = program.command('config').description('the settings of the daemon')
  const show = settingOptions(config.command('show').description('the settings in force, as config.toml takes them'))
    .option('--origin', 'say for each where it came from')
  show.action(exits(context, async ({ origin = false, ...options }: Flags & { config?: string, origin?: boolean }) => {
    context.io.stdout.write(showSettings(settingsFor(options, context.io), { origin }))
  }))
  examples(config, 'isobar config show --origin')
  examples(show, 'isobar config show --origin', 'isobar config show > ~/.local/share/isobar/config.toml')
}
