// The disk of a simulated node: a flush takes as long as the node's pace says, and a crash takes what was not flushed. As with
// the log of LevelDB, of the batches that were given and not flushed yet the first ones may have reached the disk, each whole
// or not at all.

import type { Host } from '../../overlay/host.ts'
import type { Interval } from '../../overlay/interval.ts'
import type { Operation } from '../../overlay/store.ts'
import { MemoryStore } from '../../storage/memory-store.ts'
import { SortedRows } from '../../storage/sorted-rows.ts'

/** How long a flush takes; may change during a run. */
export interface DiskPace { flushMs: number }

type Given = { readonly operations: readonly Operation[] } | { readonly cleared: Interval }

export class SimDisk extends MemoryStore {
  /** In the order in which they were given. */
  readonly #unflushed = new Set<Given>()
  #left: SortedRows | undefined

  /** @param host - its timers stand still with the node, and end with it */
  constructor (host: Pick<Host, 'after'>, pace: DiskPace, rows: SortedRows = SortedRows.empty) {
    super(async () => {
      if (pace.flushMs > 0) await new Promise<void>(resolve => { host.after(pace.flushMs, resolve) })
    }, rows)
  }

  override get rows (): SortedRows {
    return this.#left ?? super.rows
  }

  override async batch (operations: readonly Operation[]): Promise<void> {
    await this.#give({ operations }, async () => { await super.batch(operations) })
  }

  override async clear (interval: Interval): Promise<void> {
    await this.#give({ cleared: interval }, async () => { await super.clear(interval) })
  }

  /** The process ends: of what is not flushed, the first writtenShare (0 to 1) is on the disk all the same. */
  crash (writtenShare: number): void {
    const unflushed = [...this.#unflushed]
    let left = super.rows
    for (const given of unflushed.slice(0, Math.round(unflushed.length * writtenShare))) {
      left = 'operations' in given ? left.with(given.operations) : left.without(given.cleared)
    }
    this.#left = left
  }

  async #give (given: Given, flush: () => Promise<void>): Promise<void> {
    this.#unflushed.add(given)
    try {
      await flush()
    } finally {
      this.#unflushed.delete(given)
    }
  }
}
