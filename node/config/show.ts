// `isobar config show`: the settings in force as TOML, which can be saved as config.toml; with their origin as comments.

import { stringify } from 'smol-toml'
import type { Loaded, Origin } from './load.ts'
import { keyOf, settingNames, settingsTable } from './settings.ts'

/** A line a setting; those without a value are commented out. */
export function showSettings ({ settings, origins }: Pick<Loaded, 'settings' | 'origins'>, options: { origin: boolean }): string {
  return settingNames.map(name => {
    const value = settings[name]
    const line = value === undefined ? `# ${keyOf(name)} =` : stringify({ [keyOf(name)]: value }).trim()
    return options.origin ? `${line}  # ${originText(origins[name])}` : line
  }).join('\n') + '\n'
}

/** The file that `isobar init` writes: each setting with what it is for, commented out at its default unless it was given. */
export function templateFile ({ settings, origins }: Pick<Loaded, 'settings' | 'origins'>): string {
  const parts = settingNames.filter(name => name !== 'dataDir').map(name => {
    const value = settings[name]
    const given = origins[name].source !== 'default'
    const line = value === undefined ? `${keyOf(name)} = ""` : stringify({ [keyOf(name)]: value }).trim()
    return `# ${settingsTable[name].doc}\n${given ? '' : '# '}${line}\n`
  })
  return `# Settings of isobar. Flags and ISOBAR_… variables come before what stands here.\n\n${parts.join('\n')}`
}

function originText (origin: Origin): string {
  return origin.detail === '' ? origin.source : `${origin.source} ${origin.detail}`
}
