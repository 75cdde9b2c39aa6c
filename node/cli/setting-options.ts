// The settings of the daemon as flags of commands, from the one table of settings.

import { Option, type Command } from 'commander'
import { loadSettings, type Flags, type Loaded } from '../config/load.ts'
import { keyOf, settingNames, settingsTable } from '../config/settings.ts'
import type { Io } from './io.ts'

export function settingOptions (command: Command): Command {
  command.option('--config <file>', 'settings file; else config.toml in the data directory')
  for (const name of settingNames) {
    const { argument, repeatable, doc } = settingsTable[name]
    const option = new Option(`--${keyOf(name)}${argument === undefined ? '' : ` ${argument}`}`, doc)
    command.addOption(repeatable ? option.argParser((value: string, before: string[] | undefined) => [...before ?? [], value]) : option)
  }
  return command
}

/** The settings in force for a command's flags. Likely slips in the environment are said on stderr. @throws ConfigError */
export function settingsFor (options: Flags & { config?: string }, io: Io): Loaded {
  const { config, ...flags } = options
  const loaded = loadSettings({ flags, env: io.env, configFile: config })
  for (const warning of loaded.warnings) io.stderr.write(`isobar: ${warning}\n`)
  return loaded
}
