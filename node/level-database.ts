// Opens the LevelDB database of a data directory and tells what is wrong with it. LevelDB's lock on the directory is the
// lock of the data directory; the system drops it when a process dies, however that came. Files are looked at first,
// since LevelDB itself would open some damaged stores, and would empty one without CURRENT; and what it drops of a
// damaged log is warned of. A ClassicLevel opens itself in the turn in which it was made, so it is made when it may.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import type { Logger } from '../overlay/host.ts'
import { DamagedBytesError } from './level-files/byte-cursor.ts'
import { checkLevelFiles } from './level-files/check.ts'
import { StoreCorruptError, StoreLockedError, storeErrorFrom } from './level-errors.ts'

export type LevelDatabase = ClassicLevel<Uint8Array, Uint8Array>

export interface LevelDatabaseInit {
  readonly log?: Logger | undefined
  /** Tables that it may hold open; LevelDB's own 1000 if not given. */
  readonly openFilesMax?: number | undefined
}

/** Bytes of tables that are compared with their checksums at a start. Guess: half a second. */
const comparedBytesMax = 256 << 20

/** Measured best for small random writes; keys and values hardly compress, and what does is not worth the time. */
const levelOptions = {
  keyEncoding: 'view',
  valueEncoding: 'view',
  compression: false,
  cacheSize: 64 << 20,
  writeBufferSize: 16 << 20
} as const

/** Made where it is missing. @throws StoreLockedError, StoreCorruptError, StoreFullError, StoreError */
export async function openDatabase (directory: string, { log, openFilesMax }: LevelDatabaseInit): Promise<LevelDatabase> {
  await assertWhole(directory)
  const database = new ClassicLevel<Uint8Array, Uint8Array>(directory, { ...levelOptions, ...(openFilesMax === undefined ? {} : { maxOpenFiles: openFilesMax }) })
  await open(database, { createIfMissing: true })
  const droppedBytes = await droppedBytesOf(directory)
  if (droppedBytes > 0) {
    log?.warn({ directory, droppedBytes }, 'part of the last log of the store was damaged, as after a power failure, and was dropped')
  }
  return database
}

/** Close it and open it anew. If that fails, it stays closed. Errors as of openDatabase. */
export async function reopenDatabase (database: LevelDatabase): Promise<void> {
  try {
    await database.close()
  } catch (error) {
    throw storeErrorFrom(error, database.location)
  }
  // What is not there any more was lost while this process ran, and must not come back empty.
  await open(database, { createIfMissing: false })
}

/**
 * Does another process have the store in directory, which must be there, open? LevelDB is asked to refuse the store
 * whatever it is, which it does once it has the lock.
 */
export async function isInUse (directory: string): Promise<boolean> {
  const probe = new ClassicLevel(directory, { createIfMissing: false, errorIfExists: true })
  try {
    await probe.open({ createIfMissing: false, errorIfExists: true })
    await probe.close()
  } catch (error) {
    return storeErrorFrom(error, directory) instanceof StoreLockedError
  }
  return false
}

async function assertWhole (directory: string): Promise<void> {
  try {
    await checkLevelFiles(directory, comparedBytesMax)
  } catch (error) {
    // The files of a store that is in use change while they are looked at.
    if (await isInUse(directory)) throw new StoreLockedError(directory)
    throw error instanceof DamagedBytesError ? new StoreCorruptError(directory, error.message) : storeErrorFrom(error, directory)
  }
}

async function open (database: LevelDatabase, options: { readonly createIfMissing: boolean }): Promise<void> {
  try {
    await database.open(options)
  } catch (error) {
    throw storeErrorFrom(error, database.location)
  }
}

/** Bytes that the recovery just done has dropped, by LevelDB's own report; a record cut short by a crash is not reported. */
async function droppedBytesOf (directory: string): Promise<number> {
  const report = await readFile(join(directory, 'LOG'), 'utf8').catch(() => '')
  let bytes = 0
  for (const [, dropped] of report.matchAll(/: dropping (\d+) bytes; /g)) bytes += Number(dropped)
  return bytes
}
