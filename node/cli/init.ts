// `isobar init`: make the data directory with identity and settings file, and say who this peer is. The daemon does the
// same by itself; this is for looking at them first.

import type { Command } from 'commander'
import { access } from 'node:fs/promises'
import { writeAtomically } from '../atomic-file.ts'
import type { Flags } from '../config/load.ts'
import { templateFile } from '../config/show.ts'
import { openDataDir } from '../data-dir.ts'
import { createLog } from '../log.ts'
import { examples, exits, type Context } from './context.ts'
import { settingOptions, settingsFor } from './setting-options.ts'

const readableMode = 0o644

export function initCommand (program: Command, context: Context): void {
  const { io } = context
  const command = settingOptions(program.command('init').description('write identity and settings into the data directory'))
  command.action(exits(context, async (options: Flags & { config?: string }) => {
    const config = options.config
    // The file need not exist: it is what we write.
    const missing = config !== undefined && !await exists(config)
    const loaded = settingsFor(missing ? withoutConfig(options) : options, io)
    const dataDir = await openDataDir({ path: loaded.settings.dataDir, inMemory: false })
    const { loadIdentity } = await import('../identity.ts')
    const log = createLog({ level: 'warn', format: loaded.settings.logFormat, sink: { write: line => { io.stderr.write(line) } } })
    const identity = await loadIdentity({ file: dataDir.identityFile, dataPresent: dataDir.dataPresent, log })
    const file = config ?? dataDir.configFile
    if (!await exists(file)) await writeAtomically(file, templateFile(loaded), readableMode)
    io.stdout.write(`${identity.peerId}\n`)
    io.stderr.write(`${identity.created ? 'new identity' : 'identity'} ${dataDir.identityFile}, settings ${file}\n`)
  }))
  examples(command, 'isobar init --data-dir ~/.local/share/isobar-one')
}

function withoutConfig ({ config: _config, ...options }: Flags & { config?: string }): Flags {
  return options
}

async function exists (file: string): Promise<boolean> {
  return await access(file).then(() => true, () => false)
}
