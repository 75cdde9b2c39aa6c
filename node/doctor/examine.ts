// All checks of `isobar doctor` in their order: the settings, the data directory, and the daemon that they lead to.

import { statSync } from 'node:fs'
import { loadSettings } from '../config/load.ts'
import { defaultDataDir } from '../config/settings.ts'
import type { Environment } from '../config/setting.ts'
import { readToken } from '../config/token.ts'
import { readRpc } from '../data-dir.ts'
import { findRpc, type RpcOptions } from '../cli/rpc-address.ts'
import { checkDaemon, checkOpenFiles, type Surroundings } from './daemon.ts'
import { ok, problemFrom, warning, type Finding } from './finding.ts'
import { checkDisk, checkFolder, checkIdentity, checkStore } from './folder.ts'

export interface ExamineOptions extends RpcOptions {
  readonly config?: string
}

/** What each check finds, as it comes. */
export async function * examine (options: ExamineOptions, env: Environment): AsyncGenerator<Finding> {
  const { finding, dataDir, rpcTokenFile } = checkSettings(options, env)
  yield finding
  const byAddress = options.rpc !== undefined || (env['ISOBAR_RPC'] ?? '') !== ''
  const hasFolder = statSync(dataDir, { throwIfNoEntry: false })?.isDirectory() === true
  // Who names an address may mean a daemon of another machine.
  let surroundings: Surroundings = { inUse: false, pid: undefined, peerId: undefined }
  if (hasFolder || !byAddress) yield await checkFolder(dataDir)
  if (hasFolder) {
    yield await checkDisk(dataDir)
    yield await checkIdentity(dataDir)
    const { finding, inUse } = await checkStore(dataDir)
    yield finding
    const rpc = readRpc(dataDir)
    if (!byAddress) surroundings = { inUse, pid: rpc?.pid, peerId: rpc?.peerId }
  }
  const { inUse, pid } = surroundings
  yield checkOpenFiles(inUse ? pid : undefined)
  if (!byAddress && !inUse && pid === undefined) {
    yield ok('daemon', 'not running')
    return
  }
  try {
    yield * await checkDaemon(findRpc({ ...options, dataDir, ...(rpcTokenFile === undefined ? {} : { rpcTokenFile }) }, env), surroundings)
  } catch (error) {
    yield problemFrom('daemon', error, 'see `isobar doctor --help`')
  }
}

interface Checked {
  readonly finding: Finding
  readonly dataDir: string
  readonly rpcTokenFile: string | undefined
}

function checkSettings (options: ExamineOptions, env: Environment): Checked {
  const check = 'settings'
  const { config, dataDir, rpcTokenFile } = options
  try {
    const { settings, file, warnings } = loadSettings({ flags: { ...(dataDir === undefined ? {} : { dataDir }), ...(rpcTokenFile === undefined ? {} : { rpcTokenFile }) }, env, configFile: config })
    if (settings.rpcTokenFile !== undefined) readToken(settings.rpcTokenFile)
    const finding = warnings.length > 0 ? warning(check, warnings.join(', '), 'mend or unset it') : ok(check, file === undefined ? 'no config.toml; flags, environment and defaults hold' : `${file} can be read`)
    return { finding, dataDir: settings.dataDir, rpcTokenFile: settings.rpcTokenFile }
  } catch (error) {
    return { finding: problemFrom(check, error, '`isobar config show` tells what holds'), dataDir: dataDir ?? (env['ISOBAR_DATA_DIR'] || defaultDataDir(env)), rpcTokenFile: undefined }
  }
}
