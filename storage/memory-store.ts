// A Store in memory, for `--in-memory` and the simulator. Its disk is one immutable map (storage/sorted-rows.ts); a
// flush replaces it by the next, so a snapshot costs nothing and an empty store a few hundred bytes.
// `rows` is what a disk would hold: a store made with the rows of another starts as that one would after a crash.
// How long a flush takes, and whether it fails, is the caller's to say. Nothing bounds the memory it takes.

import { StoreError } from '../overlay/errors.ts'
import type { Interval, Key } from '../overlay/interval.ts'
import type { Operation, Row, RowsOptions, Snapshot, Store } from '../overlay/store.ts'
import { FlushQueue, storeQueueInit } from './flush-queue.ts'
import type { Turn } from './flush-queue.ts'
import { SortedRows } from './sorted-rows.ts'

export class MemoryStore implements Store {
  readonly #flush: () => Promise<void>
  readonly #queue: FlushQueue
  #rows: SortedRows
  #isClosed = false
  #closing: Promise<void> | undefined

  /** flush resolves when a disk would be done with what waits, and rejects when it would fail; by default at once. */
  constructor (flush: () => Promise<void> = async () => {}, rows: SortedRows = SortedRows.empty) {
    this.#flush = flush
    this.#rows = rows
    this.#queue = new FlushQueue(turn => this.#apply(turn), storeQueueInit)
  }

  /** What is flushed, also after close. */
  get rows (): SortedRows {
    return this.#rows
  }

  getSync (key: Key): Uint8Array | undefined {
    this.#assertOpen()
    return this.#rows.get(key)
  }

  snapshot (): Snapshot {
    this.#assertOpen()
    const rows = this.#rows
    let isOpen = true
    const assertReadable = (): void => {
      this.#assertOpen()
      if (!isOpen) throw new StoreError('the snapshot is closed')
    }
    return {
      pages: (interval, options) => readPages(rows, interval, options, assertReadable),
      close: () => { isOpen = false }
    }
  }

  async batch (operations: readonly Operation[]): Promise<void> {
    this.#assertOpen()
    await this.#queue.batch(operations)
  }

  async clear (interval: Interval): Promise<void> {
    this.#assertOpen()
    await this.#queue.clear(interval)
  }

  async approximateSize (interval: Interval): Promise<number> {
    this.#assertOpen()
    return this.#rows.bytesCount(interval)
  }

  close (): Promise<void> {
    this.#isClosed = true
    this.#closing ??= this.#queue.idle()
    return this.#closing
  }

  async #apply (turn: Turn): Promise<void> {
    await this.#flush()
    this.#rows = turn.type === 'clear' ? this.#rows.without(turn.interval) : this.#rows.with(turn.batches.flat())
  }

  #assertOpen (): void {
    if (this.#isClosed) throw new StoreError('the store is closed')
  }
}

async function * readPages (rows: SortedRows, interval: Interval, options: RowsOptions, assertReadable: () => void): AsyncGenerator<Row[]> {
  assertReadable()
  for (const page of rows.pages(interval, options)) {
    yield page
    assertReadable()
  }
}
