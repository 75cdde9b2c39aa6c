// Which daemon a command talks to: --rpc, ISOBAR_RPC, rpc.json of the data directory, else the default port. An address
// may be :7703, host:port or a URL.

import { formatHostPort, parseHostPort } from '../config/listen.ts'
import { defaultDataDir, settingsTable } from '../config/settings.ts'
import type { Environment } from '../config/setting.ts'
import { readToken } from '../config/token.ts'
import { readRpc } from '../data-dir.ts'
import { Failure, exitCodes, usage } from './failure.ts'

export interface RpcOptions {
  readonly rpc?: string
  readonly dataDir?: string
  readonly rpcTokenFile?: string
}

export interface RpcTarget {
  /** Base URL without a slash at its end. */
  readonly url: string
  readonly token: string | undefined
  /** How it was found, for messages. */
  readonly found: string
}

/** @throws Failure for an address or token that cannot be used */
export function findRpc (options: RpcOptions, env: Environment): RpcTarget {
  const tokenFile = options.rpcTokenFile ?? env['ISOBAR_RPC_TOKEN_FILE']
  const token = tokenFile === undefined || tokenFile === '' ? undefined : tokenOf(tokenFile)
  if (options.rpc !== undefined) return { url: rpcUrl(options.rpc, '--rpc'), token, found: '--rpc' }
  const variable = env['ISOBAR_RPC']
  if (variable !== undefined && variable !== '') return { url: rpcUrl(variable, 'ISOBAR_RPC'), token, found: 'ISOBAR_RPC' }
  const dataDir = options.dataDir ?? (env['ISOBAR_DATA_DIR'] || defaultDataDir(env))
  const file = readRpc(dataDir)
  if (file !== undefined) return { url: file.rpc, token, found: `${dataDir}/rpc.json` }
  return { url: rpcUrl(settingsTable.rpcListen.byDefault(env), 'rpc-listen'), token, found: 'the default address' }
}

/** `:7703`, `host:port`, `[::1]:7703` or a URL as a base URL. @throws Failure */
export function rpcUrl (text: string, from: string): string {
  try {
    if (/^https?:\/\//.test(text)) return new URL(text).href.replace(/\/+$/, '')
    return `http://${formatHostPort(parseHostPort(text, from))}`
  } catch {
    throw usage(`${from}: ${JSON.stringify(text)} is no address; expected :7703, host:port or http://host:port`)
  }
}

function tokenOf (file: string): string {
  try {
    return readToken(file)
  } catch (error) {
    throw new Failure(exitCodes.failed, (error as Error).message)
  }
}
