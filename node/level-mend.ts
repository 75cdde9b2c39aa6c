// Makes LevelDB write again after a write that failed, once there is room, and not before, since mending takes some: by a
// new log where that is enough (level-logs.ts), which nobody notices; else by closing and opening it. Then reads are told
// to come back in the meantime, and snapshots end, for which their readers are waited first. Where nobody writes, a
// timer tries.

import { open, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { BusyError, StoreError, type StoreFullError } from '../overlay/errors.ts'
import type { DiskSpace } from './disk-space.ts'
import { reopenDatabase, type LevelDatabase } from './level-database.ts'
import { storeErrorFrom, storeFullError } from './level-errors.ts'
import { beginNewLog, bytesToMend } from './level-logs.ts'
import type { LevelReaders } from './level-readers.ts'

/** Between two tries while nobody writes. A guess: soon enough for who has just freed space. */
const againMs = 2_000
/** How long open snapshots are waited for before they are ended. Guess. */
const readersWaitMsMax = 2_000
/** Files that an open of LevelDB may need at once: LOG, LOCK, CURRENT, MANIFEST, old and new log, a table. */
const openFilesMin = 8

export interface LevelMendComponents {
  readonly database: LevelDatabase
  readonly space: DiskSpace
  readonly readers: LevelReaders
  /** Brings about a `run`, in its turn among the writes. */
  readonly again: () => Promise<void>
}

export class LevelMend {
  readonly #components: LevelMendComponents
  #damage: StoreError | StoreFullError | undefined
  #timer: NodeJS.Timeout | undefined
  #isStopped = false
  /** What readers are told while the database is not open. */
  #unreadable: (() => Error) | undefined

  constructor (components: LevelMendComponents) {
    this.#components = components
  }

  /** Why it cannot write; undefined while it can. */
  get damage (): StoreError | StoreFullError | undefined { return this.#damage }

  /** A write failed. */
  damaged (reason: StoreError | StoreFullError): void {
    this.#damage = reason
    this.#later()
  }

  /** @throws BusyError, StoreError */
  assertReadable (): void {
    if (this.#unreadable !== undefined) throw this.#unreadable()
  }

  /** Not while a write runs. @throws StoreFullError, StoreError; then it is damaged as before */
  async run (): Promise<void> {
    try {
      await this.#assertMendable()
      if (this.#unreadable !== undefined || !await beginNewLog(this.#components.database)) await this.#reopen()
    } catch (error) {
      const reason = storeErrorFrom(error, this.#components.database.location)
      this.damaged(reason)
      throw reason
    }
    this.#damage = undefined
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  stop (): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #later (): void {
    if (this.#isStopped || this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#components.again().catch(() => { if (this.#damage !== undefined) this.#later() })
    }, againMs)
    this.#timer.unref()
  }

  /** What would fail midway is not begun: a database that was closed and does not open reads no more. */
  async #assertMendable (): Promise<void> {
    const { space, database: { location } } = this.#components
    const now = await space.look()
    const bytes = await bytesToMend(location)
    if (now.freeBytes < bytes) throw storeFullError(location)
    await tryRoom(location, bytes)
    const files: FileHandle[] = []
    try {
      for (let count = 0; count < openFilesMin; count++) files.push(await open(join(location, 'CURRENT'), 'r'))
    } finally {
      await Promise.all(files.map(async file => { await file.close() }))
    }
  }

  async #reopen (): Promise<void> {
    const { database, readers } = this.#components
    const { location } = database
    this.#unreadable = () => new BusyError(`the store in ${location} is being opened anew; try again`)
    try {
      await readers.gone(readersWaitMsMax)
      await reopenDatabase(database)
    } catch (error) {
      const reason = storeErrorFrom(error, location)
      this.#unreadable = () => new StoreError(reason.message)
      throw reason
    }
    this.#unreadable = undefined
  }
}

/** Quotas do not show in what is free: only a write tells. */
async function tryRoom (directory: string, bytes: number): Promise<void> {
  const path = join(directory, 'room.tmp')
  const file = await open(path, 'w', 0o600)
  try {
    const chunk = Buffer.alloc(1 << 20)
    for (let left = bytes; left > 0; left -= chunk.length) await file.writeFile(chunk)
    await file.datasync()
  } finally {
    await file.close()
    await rm(path, { force: true })
  }
}
