// The one table of what an operator can set. Flags (--data-dir), environment (ISOBAR_DATA_DIR), keys of config.toml
// (data-dir), help, defaults and `config show` all derive from it. A new setting is a new line here and nothing else.

import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseHostPort, toMultiaddr } from './listen.ts'
import { choice, integer, list, path, text, toggle, type Environment, type Setting } from './setting.ts'

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const

/** A minute: longer waits are no answer to anybody. A guess. */
const deadlineMsMax = 600_000
/** 1 GiB; what a body takes is memory of this process. A guess. */
const bodyBytesLimit = 1 << 30

export const settingsTable = {
  dataDir: path('<dir>', { doc: 'where identity, configuration and data live', byDefault: defaultDataDir }),
  p2pListen: list('<addr>', { doc: 'where other peers reach this one: /ip4/…/tcp/… or host:port, port 0 for any', byDefault: ['/ip4/127.0.0.1/tcp/7701'] }, toMultiaddr),
  rpcListen: text('<host:port>', { doc: 'where the HTTP API listens, port 0 for any; beyond loopback only with --rpc-token-file', byDefault: '127.0.0.1:7700' }, checkedHostPort),
  rpcTokenFile: path('<file>', { doc: 'file with the token that callers of the HTTP API must show as a bearer', byDefault: undefined }),
  join: list('<addr>', { doc: 'a peer of the ring to join: multiaddr or host:port; may be repeated', byDefault: [] }, toMultiaddr),
  new: toggle({ doc: 'begin a new ring, and look for no other', byDefault: false }),
  copies: integer({ doc: 'peers that keep each record, where there are so many; with 1 nobody takes over from a dead peer', byDefault: 3, min: 1, max: 5 }),
  inMemory: toggle({ doc: 'keep data in memory and identity in a temporary directory; all is gone after stop', byDefault: false }),
  requestDeadlineMs: integer({ doc: 'milliseconds a request of the HTTP API may take, unless it says less', byDefault: 10_000, min: 1, max: deadlineMsMax }),
  bodyBytesMax: integer({ doc: 'bytes of the largest request body, and of the largest line of a batch', byDefault: 2 << 20, min: 1_024, max: bodyBytesLimit }),
  requestsMax: integer({ doc: 'requests of the HTTP API carried out at once; more wait', byDefault: 256, min: 1, max: 100_000 }),
  requestsQueuedMax: integer({ doc: 'requests that wait; more get 503', byDefault: 8_192, min: 0, max: 1_000_000 }),
  logLevel: choice(logLevels, { doc: 'least severe lines that are logged; read again on SIGHUP', byDefault: 'info' }),
  logFormat: choice(['text', 'json'] as const, { doc: 'form of the log on stderr', byDefault: 'text' }),
  pidFile: path('<file>', { doc: 'file that holds the process id while the daemon runs', byDefault: undefined })
}

type ValueOf<S> = S extends Setting<infer T> ? T : never

/** What the daemon is started with: each setting by its name in the table. */
export type Settings = { readonly [Name in keyof typeof settingsTable]: ValueOf<(typeof settingsTable)[Name]> }

export type SettingName = keyof typeof settingsTable

export const settingNames = Object.keys(settingsTable) as SettingName[]

/** `dataDir` as it is written in config.toml and, behind `--`, as a flag: `data-dir`. */
export function keyOf (name: SettingName): string {
  return name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
}

/** `ISOBAR_DATA_DIR` */
export function variableOf (name: SettingName): string {
  return `ISOBAR_${keyOf(name).replaceAll('-', '_').toUpperCase()}`
}

/** XDG Base Directory Specification 0.8: $XDG_DATA_HOME, else ~/.local/share. */
export function defaultDataDir (env: Environment): string {
  const data = env['XDG_DATA_HOME']
  return join(data !== undefined && data.startsWith('/') ? data : join(env['HOME'] ?? homedir(), '.local', 'share'), 'isobar')
}

function checkedHostPort (given: string, from: string): string {
  parseHostPort(given, from)
  return given
}
