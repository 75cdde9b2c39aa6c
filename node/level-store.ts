// The Store on disk: LevelDB by classic-level, chosen by measurement (random writes ten times faster than LMDB, and
// long snapshots without a growing file). Group commit is storage/flush-queue.ts: one synchronous batch at a time.
//
// While the disk has less room than is kept free, no records are taken (level-room.ts). After a write that failed all the
// same, LevelDB is mended before the next one, as soon as there is room (level-mend.ts). Reads go on meanwhile.
// Where a file system reports a full disk only at fsync, a batch that was refused may still be found after a restart.

import { StoreError, StoreFullError } from '../overlay/errors.ts'
import type { Logger } from '../overlay/host.ts'
import { isEmpty } from '../overlay/interval.ts'
import type { Interval, Key } from '../overlay/interval.ts'
import type { Operation, Row, RowsOptions, Snapshot } from '../overlay/store.ts'
import { FlushQueue, storeQueueInit } from '../storage/flush-queue.ts'
import type { Turn } from '../storage/flush-queue.ts'
import { DiskSpace, isFull } from './disk-space.ts'
import type { DiskStore, StoreHealth } from './disk-store.ts'
import { LevelCompactor } from './level-compactor.ts'
import { openDatabase, type LevelDatabase, type LevelDatabaseInit } from './level-database.ts'
import { storeErrorFrom, storeFullError } from './level-errors.ts'
import { syncLogs } from './level-logs.ts'
import { LevelMend } from './level-mend.ts'
import { LevelReaders } from './level-readers.ts'
import { LevelRoom } from './level-room.ts'
import { iteratorOver, levelBounds, levelOperations, levelRange, nextPage, plain, type LevelSnapshot } from './level-rows.ts'
import { LimitedLog } from './limited-log.ts'

/** An interval smaller than this on disk is not worth a compaction. Guess: the size of one table file. */
const compactBytesMin = 2 << 20
/** How long close waits for snapshots and their readers. Guess. */
const readersWaitMsMax = 2000

export interface LevelStoreInit extends LevelDatabaseInit {
  readonly space?: DiskSpace | undefined
  /** Is it of what users keep here? Other rows are taken even when the disk is nearly full. All are, if not given. */
  readonly isRecord?: ((key: Key) => boolean) | undefined
}

/**
 * The store in directory, which is made where it is missing. Held for this process until close.
 *
 * @throws StoreLockedError, StoreCorruptError (both with the remedy in one line), StoreFullError, StoreError
 */
export async function openLevelStore (directory: string, init: LevelStoreInit = {}): Promise<DiskStore> {
  return new LevelStore(await openDatabase(directory, init), init)
}

class LevelStore implements DiskStore {
  readonly #database: LevelDatabase
  readonly #log: Logger | undefined
  readonly #limitedLog: LimitedLog | undefined
  readonly #space: DiskSpace
  readonly #queue: FlushQueue
  readonly #compactor: LevelCompactor
  readonly #readers = new LevelReaders()
  readonly #mend: LevelMend
  readonly #room: LevelRoom
  /** Since a write failed none has succeeded. */
  #isFailing = false
  #closing: Promise<void> | undefined

  constructor (database: LevelDatabase, { log, space, isRecord = () => true }: LevelStoreInit) {
    this.#database = database
    this.#log = log
    this.#limitedLog = log === undefined ? undefined : new LimitedLog(log)
    this.#space = space ?? new DiskSpace(database.location)
    this.#queue = new FlushQueue((turn, bytes) => this.#flush(turn, bytes), storeQueueInit)
    this.#compactor = new LevelCompactor(interval => database.compactRange(...levelBounds(interval)))
    this.#room = new LevelRoom({ space: this.#space, log, limitedLog: this.#limitedLog }, { directory: database.location, isRecord })
    // An empty batch mends the store in its turn among the writes.
    this.#mend = new LevelMend({ database, space: this.#space, readers: this.#readers, again: () => this.#queue.batch([]) })
  }

  getSync (key: Key): Uint8Array | undefined {
    const value = this.#attempt(() => this.#database.getSync(key))
    return value === undefined ? undefined : plain(value)
  }

  snapshot (): Snapshot {
    const snapshot = this.#attempt(() => this.#database.snapshot())
    this.#readers.enter(snapshot)
    return {
      pages: (interval, options) => this.#pages(snapshot, interval, options),
      close: () => {
        this.#readers.leave(snapshot)
        snapshot.close().catch(() => {})
      }
    }
  }

  /** Keys and values must stay as they are until it settles. Also throws BusyError when too much waits for the disk. */
  async batch (operations: readonly Operation[]): Promise<void> {
    this.#assertOpen()
    this.#room.admit(operations)
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
    this.#mend.assertReadable()
    if (isEmpty(interval)) return 0
    try {
      return await this.#database.approximateSize(...levelBounds(interval))
    } catch (error) {
      throw this.#errorFrom(error)
    }
  }

  async health (): Promise<StoreHealth> {
    const space = await this.#space.now().catch(() => undefined)
    const { damage } = this.#mend
    if (space !== undefined && isFull(space)) return { state: 'full', reason: storeFullError(this.#database.location, space).message, space }
    return { state: damage === undefined ? 'ok' : damage instanceof StoreFullError ? 'full' : 'failing', reason: damage?.message, space }
  }

  /** Readers that are not done within readersWaitMsMax fail with StoreError. */
  close (): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close (): Promise<void> {
    this.#mend.stop()
    this.#room.stop()
    await this.#queue.idle()
    await this.#compactor.stop()
    await this.#readers.gone(readersWaitMsMax)
    await this.#database.close()
  }

  async * #pages (snapshot: LevelSnapshot, interval: Interval, options: RowsOptions): AsyncGenerator<Row[]> {
    if (!this.#readers.has(snapshot)) throw new StoreError('the snapshot is closed')
    if (isEmpty(interval)) return
    const iterator = this.#attempt(() => iteratorOver(this.#database, snapshot, interval, options))
    this.#readers.enter(iterator)
    try {
      for (;;) {
        const rows = await nextPage(iterator, options)
        if (rows.length === 0) return
        yield rows
      }
    } catch (error) {
      throw this.#errorFrom(error)
    } finally {
      await iterator.close()
      this.#readers.leave(iterator)
    }
  }

  async #flush (turn: Turn, bytes: number): Promise<void> {
    await this.#room.assertRoom(turn)
    if (this.#mend.damage !== undefined) await this.#mend.run()
    try {
      if (turn.type === 'clear') await this.#clear(turn.interval)
      else await this.#database.batch(levelOperations(turn.batches), { sync: true })
    } catch (error) {
      const reason = this.#errorFrom(error)
      this.#mend.damaged(reason)
      this.#isFailing = true
      this.#limitedLog?.warn('write', { directory: this.#database.location, error: reason.message }, 'the store failed to write')
      // Some of the keys may be gone, and a StoreFullError would deny it.
      throw turn.type === 'clear' && reason instanceof StoreFullError ? new StoreError(`clear ended midway: ${reason.message}`) : reason
    }
    this.#space.wrote(bytes)
    if (!this.#isFailing) return
    this.#isFailing = false
    this.#limitedLog?.forget('write')
    this.#log?.info({ directory: this.#database.location }, 'the store can write again')
  }

  async #clear (interval: Interval): Promise<void> {
    if (isEmpty(interval)) return
    const bytes = await this.#database.approximateSize(...levelBounds(interval))
    // classic-level counts the bytes of the keys that it clears, and takes an empty key alone for the end.
    if (interval.low.length === 0) await this.#database.batch([{ type: 'del', key: interval.low }])
    await this.#database.clear(levelRange(interval))
    await syncLogs(this.#database.location)
    if (bytes >= compactBytesMin) this.#compactor.add(interval)
  }

  #attempt<T> (fn: () => T): T {
    this.#assertOpen()
    this.#mend.assertReadable()
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
