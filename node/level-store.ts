// The Store on disk: LevelDB by classic-level, chosen by measurement (random writes ten times faster than LMDB, and
// long snapshots without a growing file). Group commit is storage/flush-queue.ts: one synchronous batch at a time.
//
// After a failed write the database is opened anew before the next one, as soon as there is room: LevelDB 1.20 counts
// the bytes of a failed append as written, so batches appended after it could be lost at the next start (log_writer.cc),
// and it refuses writes for good after a failed fsync or compaction (db_impl.cc). Reads go on until then; snapshots end.
// Where a file system reports a full disk only at fsync, a batch that was refused may still be found after a restart.

import { open, readdir, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { StoreError, StoreFullError } from '../overlay/errors.ts'
import type { Logger } from '../overlay/host.ts'
import { isEmpty } from '../overlay/interval.ts'
import type { Interval, Key } from '../overlay/interval.ts'
import type { Operation, Row, RowsOptions, Snapshot, Store } from '../overlay/store.ts'
import { FlushQueue, storeQueueInit } from '../storage/flush-queue.ts'
import type { Turn } from '../storage/flush-queue.ts'
import { LevelCompactor } from './level-compactor.ts'
import { databaseIn, openDatabase } from './level-database.ts'
import type { LevelDatabase } from './level-database.ts'
import { storeErrorFrom, storeFullError } from './level-errors.ts'

/** A page ends early when it holds this many bytes. Guess: 16 frames of bulk. */
const pageBytesMax = 1 << 20
/** An interval smaller than this on disk is not worth a compaction. Guess: the size of one table file. */
const compactBytesMin = 2 << 20
/** Free space below which a full store is not opened anew, for that takes some. Guess: twice what memory may hold unwritten. */
const reopenBytesMin = 64 << 20
/** How long close waits for snapshots and their readers. Guess. */
const readersWaitMsMax = 2000
/** Stands for the end of the key line where LevelDB wants a key, in estimates and advice only. */
const beyondKeys: Key = new Uint8Array(64).fill(0xff)

export interface LevelStoreInit {
  readonly log?: Logger | undefined
}

/**
 * The store in directory, which is made where it is missing. Held for this process until close.
 *
 * @throws StoreLockedError, StoreCorruptError (both with the remedy in one line), StoreFullError, StoreError
 */
export async function openLevelStore (directory: string, init: LevelStoreInit = {}): Promise<Store> {
  const database = databaseIn(directory)
  await openDatabase(database, init.log)
  return new LevelStore(database, init.log)
}

class LevelStore implements Store {
  readonly #database: LevelDatabase
  readonly #log: Logger | undefined
  readonly #queue: FlushQueue
  readonly #compactor: LevelCompactor
  readonly #readers = new Set<object>()
  #readersGone: (() => void) | undefined
  #isDamaged = false
  #closing: Promise<void> | undefined

  constructor (database: LevelDatabase, log: Logger | undefined) {
    this.#database = database
    this.#log = log
    this.#queue = new FlushQueue(turn => this.#flush(turn), storeQueueInit)
    this.#compactor = new LevelCompactor(({ low, high }) => database.compactRange(low, high ?? beyondKeys))
  }

  getSync (key: Key): Uint8Array | undefined {
    this.#assertOpen()
    const value = this.#attempt(() => this.#database.getSync(key))
    return value === undefined ? undefined : plain(value)
  }

  snapshot (): Snapshot {
    this.#assertOpen()
    const snapshot = this.#attempt(() => this.#database.snapshot())
    this.#readers.add(snapshot)
    return {
      pages: (interval, options) => this.#pages(snapshot, interval, options),
      close: () => {
        this.#leave(snapshot)
        snapshot.close().catch(() => {})
      }
    }
  }

  /** Keys and values must stay as they are until it settles. Also throws BusyError when too much waits for the disk. */
  async batch (operations: readonly Operation[]): Promise<void> {
    this.#assertOpen()
    await this.#queue.batch(operations)
  }

  /** Not atomic: what fails midway, or a crash, may leave some keys. Also throws BusyError. */
  async clear (interval: Interval): Promise<void> {
    this.#assertOpen()
    await this.#queue.clear(interval)
  }

  /** By the table files: what was written last, up to 16 MiB, does not count yet. */
  async approximateSize (interval: Interval): Promise<number> {
    this.#assertOpen()
    if (isEmpty(interval)) return 0
    try {
      return await this.#database.approximateSize(interval.low, interval.high ?? beyondKeys)
    } catch (error) {
      throw this.#errorFrom(error)
    }
  }

  /** Readers that are not done within readersWaitMsMax fail with StoreError. */
  close (): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close (): Promise<void> {
    await this.#queue.idle()
    await this.#compactor.stop()
    if (this.#readers.size > 0) await this.#waitForReaders()
    await this.#database.close()
  }

  async #waitForReaders (): Promise<void> {
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, readersWaitMsMax)
      this.#readersGone = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #leave (reader: object): void {
    this.#readers.delete(reader)
    if (this.#readers.size === 0) this.#readersGone?.()
  }

  async * #pages (snapshot: ReturnType<LevelDatabase['snapshot']>, interval: Interval, options: RowsOptions): AsyncGenerator<Row[]> {
    if (!this.#readers.has(snapshot)) throw new StoreError('the snapshot is closed')
    if (isEmpty(interval)) return
    const range = { ...levelRange(interval), snapshot, reverse: options.reverse === true, highWaterMarkBytes: pageBytesMax }
    const iterator = this.#attempt(() => this.#database.iterator(range))
    this.#readers.add(iterator)
    try {
      for (;;) {
        const rows = await iterator.nextv(options.pageRows)
        if (rows.length === 0) return
        yield rows.map(([key, value]) => ({ key: plain(key), value: plain(value) }))
      }
    } catch (error) {
      throw this.#errorFrom(error)
    } finally {
      await iterator.close()
      this.#leave(iterator)
    }
  }

  async #flush (turn: Turn): Promise<void> {
    if (this.#isDamaged) await this.#reopen()
    try {
      if (turn.type === 'clear') await this.#clear(turn.interval)
      else await this.#database.batch(levelOperations(turn.batches), { sync: true })
    } catch (error) {
      this.#isDamaged = true
      const reason = this.#errorFrom(error)
      this.#log?.warn({ directory: this.#database.location, error: reason.message }, 'the store failed to write')
      // Some of the keys may be gone, and a StoreFullError would deny it.
      throw turn.type === 'clear' && reason instanceof StoreFullError ? new StoreError(`clear ended midway: ${reason.message}`) : reason
    }
  }

  async #clear (interval: Interval): Promise<void> {
    if (isEmpty(interval)) return
    const bytes = await this.#database.approximateSize(interval.low, interval.high ?? beyondKeys)
    // classic-level counts the bytes of the keys that it clears, and takes an empty key alone for the end.
    if (interval.low.length === 0) await this.#database.batch([{ type: 'del', key: interval.low }])
    await this.#database.clear(levelRange(interval))
    await syncLogs(this.#database.location)
    if (bytes >= compactBytesMin) this.#compactor.add(interval)
  }

  async #reopen (): Promise<void> {
    const directory = this.#database.location
    try {
      const { bavail, bsize } = await statfs(directory)
      if (bavail * bsize < reopenBytesMin) throw storeFullError(directory)
      await this.#database.close()
      await openDatabase(this.#database, this.#log)
    } catch (error) {
      throw this.#errorFrom(error)
    }
    this.#isDamaged = false
    this.#log?.info({ directory }, 'the store can write again')
  }

  #attempt<T> (fn: () => T): T {
    try {
      return fn()
    } catch (error) {
      throw this.#errorFrom(error)
    }
  }

  #errorFrom (error: unknown): StoreError | StoreFullError {
    return storeErrorFrom(error, this.#database.location)
  }

  #assertOpen (): void {
    if (this.#closing !== undefined) throw new StoreError('the store is closed')
  }
}

/** The same bytes without Buffer's habits: its slice is a view where Uint8Array's is a copy. */
function plain (bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
}

function levelRange ({ low, high }: Interval): { gte: Key, lt?: Key } {
  return high === undefined ? { gte: low } : { gte: low, lt: high }
}

type LevelOperation = { type: 'put', key: Key, value: Uint8Array } | { type: 'del', key: Key }

function levelOperations (batches: ReadonlyArray<readonly Operation[]>): LevelOperation[] {
  const operations: LevelOperation[] = []
  for (const batch of batches) {
    for (const operation of batch) {
      operations.push(operation.type === 'put' ? operation : { type: 'del', key: operation.key })
    }
  }
  return operations
}

/**
 * LevelDB's clear does not wait for the disk. Its writes lie in the newest log, or in the one before where that is still
 * being turned into a table, which is on disk before its log is deleted.
 */
async function syncLogs (directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!/^\d+\.log$/.test(name)) continue
    try {
      const file = await open(join(directory, name), 'r+')
      await file.datasync().finally(() => file.close())
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}
