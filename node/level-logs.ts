// The logs of a LevelDB directory, where it puts each write before it makes tables of them: how large they are, how they
// are flushed, and how LevelDB is brought to begin a new one.
//
// After a failed append a log is damaged: LevelDB 1.20 counts the bytes that it could not write (log_writer.cc), so what
// it appends later may not be found at the next start. A compaction by hand makes it begin a new log and turn all of the
// old one that was acknowledged into a table (db_impl.cc), without closing anything. Where LevelDB has given up writing
// for good, after a failed fsync or table, that does nothing, and only closing and opening helps.

import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { LevelDatabase } from './level-database.ts'

/** Behind all keys of ours: compacting there touches no table. */
const beyondKeys = new Uint8Array(64).fill(0xff)
/** What an open or a new log takes beside the tables that it makes of the logs: MANIFEST, LOG, filters. A guess. */
const aroundBytes = 2 << 20
/** A table against the log that it is made of. A guess, on the safe side: tables have no batches around their rows. */
const tablePart = 1.25

/** Numbers of the logs, ascending. */
async function logNumbers (directory: string): Promise<number[]> {
  const names = await readdir(directory)
  return names.filter(name => /^\d+\.log$/.test(name)).map(name => parseInt(name, 10)).sort((a, b) => a - b)
}

function logPath (directory: string, number: number): string {
  return join(directory, `${String(number).padStart(6, '0')}.log`)
}

/** Room that LevelDB needs to turn its logs into tables. */
export async function bytesToMend (directory: string): Promise<number> {
  const numbers = await logNumbers(directory)
  const sizes = await Promise.all(numbers.map(async number => await stat(logPath(directory, number)).then(({ size }) => size, () => 0)))
  return Math.ceil(sizes.reduce((sum, size) => sum + size, 0) * tablePart) + aroundBytes
}

/** @returns false where LevelDB did not, which it does not say by itself */
export async function beginNewLog (database: LevelDatabase): Promise<boolean> {
  const newestBefore = (await logNumbers(database.location)).at(-1) ?? 0
  await database.compactRange(beyondKeys, beyondKeys)
  const [number, ...others] = await logNumbers(database.location)
  return number !== undefined && number > newestBefore && others.length === 0
}

/**
 * LevelDB's clear does not wait for the disk. Its writes lie in the newest log, or in the one before where that is still
 * being turned into a table, which is on disk before its log is deleted.
 */
export async function syncLogs (directory: string): Promise<void> {
  for (const number of await logNumbers(directory)) {
    try {
      const file = await open(logPath(directory, number), 'r+')
      await file.datasync().finally(() => file.close())
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}
