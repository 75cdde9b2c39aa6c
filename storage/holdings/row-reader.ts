// Rows of a snapshot in key order, taken bit by bit up to keys that become known only on the way: what is read beside
// another's rows. A snapshot gives pages; here they are cut where the reader stops.

import type { Interval, Key } from '../../overlay/interval.ts'
import { isBelow } from '../../overlay/interval.ts'
import type { Row, Snapshot } from '../../overlay/store.ts'

export class RowReader {
  readonly #pages: AsyncIterator<readonly Row[]>
  /** What is left of the page at hand. */
  #left: readonly Row[] = []

  constructor (pages: AsyncIterable<readonly Row[]>) {
    this.#pages = pages[Symbol.asyncIterator]()
  }

  /** Rows below high that were not given before; without high, all that are left. */
  async * below (high: Key | undefined): AsyncGenerator<readonly Row[], void, undefined> {
    for (;;) {
      const beyond = this.#left.findIndex(({ key }) => !isBelow(key, high))
      const count = beyond < 0 ? this.#left.length : beyond
      const given = this.#left.slice(0, count)
      this.#left = this.#left.slice(count)
      if (given.length > 0) yield given
      if (this.#left.length > 0) return
      const { done, value } = await this.#pages.next()
      if (done === true) return
      this.#left = value
    }
  }

  /** Releases the snapshot's cursor; to be called before the snapshot is closed. */
  async close (): Promise<void> {
    await this.#pages.return?.()
  }
}

/** Pages of several parts, one part after the other. */
export async function * pagesOf (snapshot: Snapshot, parts: readonly Interval[], pageRows: number): AsyncGenerator<Row[], void, undefined> {
  for (const part of parts) yield * snapshot.pages(part, { pageRows })
}
