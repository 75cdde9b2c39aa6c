// What went wrong in LevelDB, in the words of overlay/errors.ts and of an operator: one line with the remedy.
// LevelDB tells a full disk, and a process with too many open files, only by the text of the system's error.

import { StoreError, StoreFullError } from '../overlay/errors.ts'
import { bytesText, type Space } from './disk-space.ts'

/** Another process has the data directory open. */
export class StoreLockedError extends StoreError {
  override readonly name = 'StoreLockedError'
  override readonly definite = true

  constructor (directory: string) {
    super(`the data directory ${directory} is in use by another process: stop that one, or choose another data directory for this one`)
  }
}

/** The store's files are damaged. */
export class StoreCorruptError extends StoreError {
  override readonly name = 'StoreCorruptError'

  constructor (directory: string, cause: string) {
    super(`the store in ${directory} is damaged (${cause}): move the directory away and start again; this peer then joins as a new one with an empty store`)
  }
}

/** strerror of ENOSPC and EDQUOT, in glibc, musl and Darwin ("Disc quota exceeded"). */
const fullTexts = /No space left on device|Dis[ck] quota exceeded|Quota exceeded|\bENOSPC\b|\bEDQUOT\b/
/** strerror of EMFILE and ENFILE; glibc, musl, Darwin. */
const filesTexts = /Too many open files|No file descriptors available|\bEMFILE\b|\bENFILE\b/
/** A file that LevelDB knows of and that is not there. */
const missingText = /(MANIFEST-\d+|\d+\.(ldb|sst|log)): No such file or directory/

/** error, as thrown by classic-level or node:fs for the store in directory, as one of ours. */
export function storeErrorFrom (error: unknown, directory: string): StoreError | StoreFullError {
  if (error instanceof StoreError || error instanceof StoreFullError) return error
  const outer = error as Error & { code?: string }
  const inner = (outer.cause ?? outer) as Error & { code?: string }
  const text = inner.message.replaceAll(/\s+/g, ' ')
  if (inner.code === 'LEVEL_LOCKED') return new StoreLockedError(directory)
  if (inner.code === 'LEVEL_CORRUPTION' || missingText.test(text)) return new StoreCorruptError(directory, text)
  if (fullTexts.test(text)) return storeFullError(directory)
  if (filesTexts.test(text)) return new StoreError(`the store in ${directory} failed, for this process has too many open files: raise its limit (ulimit -n)`)
  return new StoreError(`the store in ${directory} failed: ${text}`)
}

export function storeFullError (directory: string, space?: Space): StoreFullError {
  const left = space === undefined ? '' : `, ${bytesText(space.freeBytes)} are free and ${bytesText(space.reservedBytes)} are kept so`
  return new StoreFullError(`the disk of ${directory} is full${left}: nothing was written; free some space there, then writes go on by themselves`)
}
