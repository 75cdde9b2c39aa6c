// Parts that this store was filled with to the last row, on disk, from the end of the fill until the claim comes or the
// rows go. A claim that makes this node a member counts only where it is full: between the fill and the claim the process
// may restart, and the rows may be let go of because the change seemed given up (docs/ownership.md, "Full before a
// claim"). The mark is written before the fill is acknowledged, and deleted before any row is.

import { fromString } from 'uint8arrays/from-string'
import { everything, type Interval } from '../../overlay/interval.ts'
import { prefixed } from '../../overlay/prefixed-store.ts'
import type { Operation, Store } from '../../overlay/store.ts'
import { Spans } from './spans.ts'

const pageRows = 256

export class FullParts {
  readonly #store: Store
  readonly #spans = new Spans()
  /** Keys of the rows on disk. */
  #kept = new Map<string, Uint8Array>()

  /** @param store - for this alone */
  constructor (store: Store) {
    this.#store = prefixed(store, fromString('full/'))
  }

  async open (): Promise<void> {
    const snapshot = this.#store.snapshot()
    try {
      for await (const page of snapshot.pages(everything, { pageRows })) {
        for (const { key, value } of page) {
          this.#spans.add({ low: key, high: value.length === 0 ? undefined : value.subarray(1) })
          this.#kept.set(nameOf(key), key)
        }
      }
    } finally {
      snapshot.close()
    }
  }

  covers (interval: Interval): boolean {
    return this.#spans.covers(interval)
  }

  /** Resolves when flushed. */
  async add (interval: Interval): Promise<void> {
    this.#spans.add(interval)
    await this.#keep()
  }

  /** Resolves when flushed. */
  async remove (interval: Interval): Promise<void> {
    if (this.#spans.meets(interval)) {
      this.#spans.remove(interval)
      await this.#keep()
    }
  }

  async #keep (): Promise<void> {
    const present = new Map(this.#spans.intervals.map(interval => [nameOf(interval.low), interval]))
    const operations: Operation[] = [...this.#kept].filter(([name]) => !present.has(name)).map(([, key]) => ({ type: 'delete', key }))
    for (const { low, high } of present.values()) operations.push({ type: 'put', key: low, value: high === undefined ? new Uint8Array(0) : Uint8Array.of(1, ...high) })
    this.#kept = new Map([...present].map(([name, { low }]) => [name, low]))
    await this.#store.batch(operations)
  }
}

function nameOf (key: Uint8Array): string {
  return Array.from(key, byte => String.fromCharCode(byte)).join('')
}
