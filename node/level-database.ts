// Opens the LevelDB database of a data directory and tells what is wrong with it. LevelDB's lock on the directory is the
// lock of the data directory. Files without CURRENT, which LevelDB would take for a new database, count as damage,
// since an emptied store would break the promises that it held; and what LevelDB drops of a damaged log is warned of.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import type { Logger } from '../overlay/host.ts'
import { StoreCorruptError, storeErrorFrom } from './level-errors.ts'

export type LevelDatabase = ClassicLevel<Uint8Array, Uint8Array>

/** Measured best for small random writes; keys and values hardly compress, and what does is not worth the time. */
const levelOptions = {
  keyEncoding: 'view',
  valueEncoding: 'view',
  compression: false,
  cacheSize: 64 << 20,
  writeBufferSize: 16 << 20
} as const

/** An unopened database; openDatabase opens it, also again after close. */
export function databaseIn (directory: string): LevelDatabase {
  return new ClassicLevel<Uint8Array, Uint8Array>(directory, levelOptions)
}

/** @throws StoreLockedError, StoreCorruptError, StoreFullError, StoreError */
export async function openDatabase (database: LevelDatabase, log: Logger | undefined): Promise<void> {
  const directory = database.location
  await assertComplete(directory)
  try {
    await database.open()
  } catch (error) {
    throw storeErrorFrom(error, directory)
  }
  const droppedBytes = await droppedBytesOf(directory)
  if (droppedBytes > 0) {
    log?.warn({ directory, droppedBytes }, 'part of the last log of the store was damaged, as after a power failure, and was dropped')
  }
}

async function assertComplete (directory: string): Promise<void> {
  const names: string[] = await readdir(directory).catch(() => [])
  const hasData = names.some(name => /^\d+\.(ldb|sst|log)$/.test(name))
  if (hasData && !names.includes('CURRENT')) throw new StoreCorruptError(directory, 'the file CURRENT is missing')
}

/** Bytes that the recovery just done has dropped, by LevelDB's own report; a record cut short by a crash is not reported. */
async function droppedBytesOf (directory: string): Promise<number> {
  const report = await readFile(join(directory, 'LOG'), 'utf8').catch(() => '')
  let bytes = 0
  for (const [, dropped] of report.matchAll(/: dropping (\d+) bytes; /g)) bytes += Number(dropped)
  return bytes
}
