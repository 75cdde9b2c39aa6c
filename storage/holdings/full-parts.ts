// Parts that this store was filled with to the last row, on disk, from the end of the fill until the claim comes or can come
// no more. A claim that makes this node a member counts only where it is full: between the fill and the claim the process
// may restart, and the change may seem given up and be completed by another (docs/ownership.md, "Full before a claim").
// The mark is written before the fill is acknowledged, and deleted before any row is.

import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { IntervalMap } from '../../overlay/interval-map.ts'
import { everything, type Interval } from '../../overlay/interval.ts'
import { prefixed } from '../../overlay/prefixed-store.ts'
import type { Operation, Store } from '../../overlay/store.ts'

export interface FullPart {
  readonly interval: Interval
  /** Of the newest claim that the fill was to change: a claim that names this node follows one of that epoch, or of an older one. */
  readonly epoch: number
}

interface Row { readonly high: string | undefined, readonly epoch: number }

const pageRows = 256

export class FullParts {
  readonly #store: Store
  #parts = new IntervalMap<number>((a, b) => a === b)

  /** @param store - for notes; marks take the prefix `full/` */
  constructor (store: Store) {
    this.#store = prefixed(store, fromString('full/'))
  }

  async open (): Promise<void> {
    const snapshot = this.#store.snapshot()
    try {
      for await (const page of snapshot.pages(everything, { pageRows })) {
        for (const { key, value } of page) {
          const { high, epoch } = JSON.parse(toString(value)) as Row
          this.#parts.set({ low: key, high: high === undefined ? undefined : fromString(high, 'base64') }, epoch)
        }
      }
    } finally {
      snapshot.close()
    }
  }

  get parts (): FullPart[] {
    return this.#parts.entries().map(({ interval, value: epoch }) => ({ interval, epoch }))
  }

  covers (interval: Interval): boolean {
    return this.#parts.stretches(interval).every(({ value }) => value !== undefined)
  }

  /** May a claim still come that follows one of this epoch, for some of interval? */
  mayCome (interval: Interval, epoch: number): boolean {
    return this.#parts.entries(interval).some(({ value }) => value >= epoch)
  }

  /** Resolves when flushed. */
  async add (interval: Interval, epoch: number): Promise<void> {
    await this.#change(parts => { parts.set(interval, epoch) })
  }

  /** Resolves when flushed. */
  async remove (interval: Interval): Promise<void> {
    await this.#change(parts => { parts.delete(interval) })
  }

  async #change (change: (parts: IntervalMap<number>) => void): Promise<void> {
    const before = this.#parts
    const after = before.copy()
    change(after)
    const { put, remove } = after.changesSince(before)
    if (put.length + remove.length === 0) return
    this.#parts = after
    const operations: Operation[] = remove.map(key => ({ type: 'delete', key }))
    for (const { interval: { low, high }, value: epoch } of put) {
      const row: Row = { high: high === undefined ? undefined : toString(high, 'base64'), epoch }
      operations.push({ type: 'put', key: low, value: fromString(JSON.stringify(row)) })
    }
    await this.#store.batch(operations)
  }
}
