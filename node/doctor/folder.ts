// The checks of a data directory that need no daemon: its folder, its disk, who the peer is, and its store. They change
// nothing in it, but that LevelDB begins a new LOG when it is asked whether the store is in use.

import { access, constants, readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readRpc } from '../data-dir.ts'
import { bytesText, isFull, spaceOf } from '../disk-space.ts'
import { identityIn } from '../identity.ts'
import { isInUse } from '../level-database.ts'
import { DamagedBytesError } from '../level-files/byte-cursor.ts'
import { checkLevelFiles } from '../level-files/check.ts'
import { StoreCorruptError, storeErrorFrom } from '../level-errors.ts'
import { ok, problem, problemFrom, warning, type Finding } from './finding.ts'

/** A disk with less than so many times what is kept free is worth a word. A guess. */
const reservesAdvised = 4

export async function checkFolder (dataDir: string): Promise<Finding> {
  const check = 'folder'
  const otherDir = 'name another with --data-dir, or let `isobar daemon` make it'
  try {
    const { mode } = await stat(dataDir)
    if (!(await stat(dataDir)).isDirectory()) return problem(check, `${dataDir} is no folder`, otherDir)
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
    if ((mode & 0o022) !== 0) return warning(check, `others of this machine may write into ${dataDir} (mode ${octal(mode)})`, `chmod go-w ${dataDir}`)
    return ok(check, dataDir)
  } catch (error) {
    const code = codeOf(error)
    return code === 'ENOENT'
      ? problem(check, `there is no data directory ${dataDir}`, otherDir)
      : problem(check, `${dataDir} cannot be used (${code})`, 'check its owner and permissions; the daemon needs to read and write there')
  }
}

export async function checkDisk (dataDir: string): Promise<Finding> {
  const check = 'disk'
  try {
    const space = await spaceOf(dataDir)
    const { freeBytes, totalBytes, reservedBytes } = space
    const text = `${bytesText(freeBytes)} of ${bytesText(totalBytes)} are free`
    if (isFull(space)) return problem(check, `${text}, less than the ${bytesText(reservedBytes)} that are kept so: no records are taken`, 'free some space there')
    if (freeBytes < reservedBytes * reservesAdvised) return warning(check, text, `below ${bytesText(reservedBytes)} no records are taken; free some space there`)
    return ok(check, text)
  } catch (error) {
    return problem(check, `the disk of ${dataDir} cannot be looked at (${codeOf(error)})`, 'check that it is mounted')
  }
}

export async function checkIdentity (dataDir: string): Promise<Finding> {
  const check = 'identity'
  const file = join(dataDir, 'identity.key')
  const hasStore = await readdir(join(dataDir, 'store')).then(names => names.length > 0, () => false)
  try {
    const [bytes, { mode }] = await Promise.all([readFile(file), stat(file)])
    const peerId = identityIn(bytes)?.peerId
    if (peerId === undefined) return problem(check, `${file} holds no private key that can be read`, hasStore ? 'put it back from a backup, or delete it to go on with the same data as a new peer' : 'delete it; the next start makes a new one')
    if ((mode & 0o077) !== 0) return warning(check, `${peerId}; others can read ${file} (mode ${octal(mode)})`, `chmod 600 ${file}`)
    return ok(check, peerId)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') return problem(check, `${file} cannot be read (${codeOf(error)})`, 'check its owner and permissions')
    return hasStore
      ? warning(check, `${file} is missing beside the data`, 'put it back from a backup, or the next start goes on with the same data as a new peer')
      : ok(check, 'none yet; the first start makes one')
  }
}

/** @returns also whether a process has it open */
export async function checkStore (dataDir: string): Promise<{ finding: Finding, inUse: boolean }> {
  const check = 'store'
  const directory = join(dataDir, 'store')
  try {
    const names = await readdir(directory).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return []
      throw error
    })
    if (names.length === 0) return { finding: ok(check, 'none yet; the first start makes one'), inUse: false }
    if (await isInUse(directory)) {
      const pid = readRpc(dataDir)?.pid
      return { finding: ok(check, `in use${pid === undefined ? '' : ` by process ${pid}`}; its files are looked at only while it is not`), inUse: true }
    }
    const files = await checkLevelFiles(directory, Infinity)
    const text = files === undefined ? 'empty' : `whole: ${files.tables} tables of ${bytesText(files.bytes)} are as their checksums say`
    return { finding: ok(check, `not in use, ${text}`), inUse: false }
  } catch (error) {
    const failure = error instanceof DamagedBytesError ? new StoreCorruptError(directory, error.message) : storeErrorFrom(error, directory)
    const finding = failure instanceof StoreCorruptError
      ? problem(check, `${directory} is damaged: ${(error as Error).message}`, 'move that folder away and start again; this peer then joins as a new one with an empty store')
      : problemFrom(check, failure, 'check its owner, its permissions and its disk')
    return { finding, inUse: false }
  }
}

function codeOf (error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}

function octal (mode: number): string {
  return (mode & 0o777).toString(8)
}
