// Settings from their four sources, the first that says something winning: flags, environment, file, default. A key or
// a flag that nobody knows is an error that names the nearest known one; nothing is ignored silently.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, TomlError } from 'smol-toml'
import { ConfigError } from '../errors.ts'
import { isLoopback, parseHostPort } from './listen.ts'
import { didYouMean, nearest } from './nearest.ts'
import { keyOf, settingNames, settingsTable, variableOf, type SettingName, type Settings } from './settings.ts'
import type { Environment, Setting } from './setting.ts'

export type Source = 'flag' | 'environment' | 'file' | 'default'

/** Where a value came from: `flag --data-dir`, `environment ISOBAR_COPIES`, `file /x/config.toml`, `default`. */
export interface Origin {
  readonly source: Source
  readonly detail: string
}

/** Values of flags by setting name, as the command line gave them. */
export type Flags = Partial<Record<SettingName, readonly string[] | string | boolean>>

export interface LoadInit {
  readonly flags: Flags
  readonly env: Environment
  /** --config: this file must exist. Without it `<data-dir>/config.toml` is read if it is there. */
  readonly configFile?: string | undefined
}

export interface Loaded {
  readonly settings: Settings
  readonly origins: Readonly<Record<SettingName, Origin>>
  /** The file that was read. */
  readonly file: string | undefined
  /** One line each: variables that look like a misspelled setting. */
  readonly warnings: readonly string[]
}

/** Variables with our prefix that are no settings. */
const otherVariables = ['ISOBAR_RPC', 'ISOBAR_CONFIG', 'ISOBAR_SEED']

/** @throws ConfigError, one line with the remedy */
export function loadSettings ({ flags, env, configFile }: LoadInit): Loaded {
  const chosen = configFile ?? (env['ISOBAR_CONFIG'] === '' ? undefined : env['ISOBAR_CONFIG'])
  const dataDir = pick('dataDir', flags, env, {}, '').value
  const file = chosen ?? join(dataDir as string, 'config.toml')
  const table = readTable(file, chosen !== undefined)
  if (chosen === undefined && table?.['data-dir'] !== undefined && table['data-dir'] !== dataDir) {
    throw new ConfigError('data-dir', `${file}: data-dir cannot lead elsewhere from the file that it led to; use --data-dir, ISOBAR_DATA_DIR, or --config with another file`)
  }
  const settings: Record<string, unknown> = {}
  const origins: Record<string, Origin> = {}
  for (const name of settingNames) {
    const { value, origin } = pick(name, flags, env, table ?? {}, file)
    settings[name] = value
    origins[name] = origin
  }
  const loaded = settings as unknown as Settings
  checkTogether(loaded)
  return { settings: loaded, origins: origins as Record<SettingName, Origin>, file: table === undefined ? undefined : file, warnings: warningsOf(env) }
}

function pick (name: SettingName, flags: Flags, env: Environment, table: Record<string, unknown>, file: string): { value: unknown, origin: Origin } {
  const setting: Setting<unknown> = settingsTable[name]
  const key = keyOf(name)
  const flag = flags[name]
  if (flag !== undefined) {
    const texts = Array.isArray(flag) ? flag as string[] : [String(flag)]
    return { value: setting.fromText(texts, `--${key}`), origin: { source: 'flag', detail: `--${key}` } }
  }
  const variable = variableOf(name)
  const given = env[variable]
  if (given !== undefined && given !== '') return { value: setting.fromText([given], variable), origin: { source: 'environment', detail: variable } }
  if (table[key] !== undefined) return { value: setting.fromToml(table[key], `${file}: ${key}`), origin: { source: 'file', detail: file } }
  return { value: setting.byDefault(env), origin: { source: 'default', detail: '' } }
}

function readTable (file: string, mustExist: boolean): Record<string, unknown> | undefined {
  let source: string
  try {
    source = readFileSync(file, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' && !mustExist) return undefined
    throw new ConfigError('config', `${file}: cannot be read (${code ?? String(error)}); ${code === 'ENOENT' ? '`isobar init --config` writes one' : 'check its permissions'}`)
  }
  let table: Record<string, unknown>
  try {
    table = parse(source)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const reason = error.message.split('\n')[0] ?? ''
    throw new ConfigError('config', `${file}:${error.line}:${error.column}: ${reason}; expected TOML such as log-level = "info"`)
  }
  const known = settingNames.map(keyOf)
  for (const key of Object.keys(table)) {
    if (!known.includes(key)) throw new ConfigError(key, `${file}: unknown key ${key}${didYouMean(key, known)} (\`isobar config show\` lists all)`)
  }
  return table
}

/** What must hold between settings. */
function checkTogether (settings: Settings): void {
  const { host } = parseHostPort(settings.rpcListen, 'rpc-listen')
  if (!isLoopback(host) && settings.rpcTokenFile === undefined) {
    throw new ConfigError('rpc-listen', `rpc-listen: ${settings.rpcListen} can be reached from other machines; give --rpc-token-file FILE too, or listen on 127.0.0.1`)
  }
  if (settings.new && settings.join.length > 0) {
    throw new ConfigError('new', 'new and join exclude each other: begin a new ring, or join one')
  }
}

function warningsOf (env: Environment): string[] {
  const known = [...settingNames.map(variableOf), ...otherVariables]
  return Object.keys(env)
    .filter(variable => variable.startsWith('ISOBAR_') && !known.includes(variable) && nearest(variable, known) !== undefined)
    .map(variable => `${variable} in the environment is no setting${didYouMean(variable, known)}`)
}
