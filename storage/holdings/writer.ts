// The one gate through which an owner writes rows. A write that is decided and not yet flushed counts when the next
// version is given and is never read; whoever follows an interval (a fill) is told of it in the same synchronous step, so
// nothing slips between a snapshot and what comes after it. Decide, change memory, flush, then
// reply: docs/architecture.md, "Three kinds of code".
// It knows nothing of ownership: a handler that was let through by routing calls it.

import type { Interval, Key } from '../../overlay/interval.ts'
import { holdsKey } from '../../overlay/interval.ts'
import type { Operation, Store } from '../../overlay/store.ts'
import { keyName } from '../records/key-layout.ts'
import type { FrameRow } from '../records/row-frame.ts'

interface Pending {
  readonly key: Key
  readonly value: Uint8Array | undefined
  readonly flushed: Promise<void>
  /** The newest value whose flush is known. */
  settled: Uint8Array | undefined
}

/** What a flushed write changed. */
export type Flushed = (before: Uint8Array | undefined, after: FrameRow) => void

/** Keys of an interval that were written since it was opened, or were decided and not yet flushed then. */
export class Follower {
  readonly interval: Interval
  readonly #keys = new Map<string, Key>()

  constructor (interval: Interval) {
    this.interval = interval
  }

  get size (): number {
    return this.#keys.size
  }

  add (key: Key): void {
    if (holdsKey(this.interval, key)) this.#keys.set(keyName(key), key)
  }

  /** The keys so far, which are forgotten here. */
  take (): Key[] {
    const keys = [...this.#keys.values()]
    this.#keys.clear()
    return keys
  }
}

export class Writer {
  readonly #store: Store
  readonly #onFlushed: Flushed
  readonly #pending = new Map<string, Pending>()
  readonly #followers = new Set<Follower>()

  constructor ({ store, onFlushed }: { store: Store, onFlushed: Flushed }) {
    this.#store = store
    this.#onFlushed = onFlushed
  }

  /** The newest value decided for key, flushed or not: for decisions only, never for a read's answer. */
  latest (key: Key): Uint8Array | undefined {
    const pending = this.#pending.get(keyName(key))
    return pending === undefined ? this.#store.getSync(key) : pending.value
  }

  /**
   * Write rows, all or none; a row without a value is deleted. Resolves when flushed.
   *
   * @throws what the store throws; then what was decided here is forgotten
   */
  write (rows: readonly FrameRow[]): Promise<void> {
    const before = rows.map(row => this.latest(row.key))
    const flushed = this.#store.batch(rows.map(operationOf))
    const given = rows.map(({ key, value }, at) => ({ key, value, flushed, settled: this.#settledValue(key, before[at]) }))
    for (const pending of given) {
      this.#pending.set(keyName(pending.key), pending)
      for (const follower of this.#followers) follower.add(pending.key)
    }
    const forget = (): void => {
      for (const pending of given) {
        const name = keyName(pending.key)
        if (this.#pending.get(name) === pending) this.#pending.delete(name)
      }
    }
    return flushed.then(() => {
      for (const { key, value } of given) this.#settle(key, value)
      forget()
      rows.forEach((row, at) => { this.#onFlushed(before[at], row) })
    }, error => {
      forget()
      throw error
    })
  }

  /** Keys with writes that are not known to be flushed, each with its newest value that is: a snapshot may show either. */
  unsettled (): ReadonlyMap<string, { readonly key: Key, readonly settled: Uint8Array | undefined }> {
    return new Map(this.#pending)
  }

  #settledValue (key: Key, latest: Uint8Array | undefined): Uint8Array | undefined {
    const pending = this.#pending.get(keyName(key))
    return pending === undefined ? latest : pending.settled
  }

  #settle (key: Key, value: Uint8Array | undefined): void {
    const pending = this.#pending.get(keyName(key))
    if (pending !== undefined) pending.settled = value
  }

  /** Resolves when the newest write to key is flushed; at once when none waits. @throws what its batch threw */
  async flushed (key: Key): Promise<void> {
    await this.#pending.get(keyName(key))?.flushed
  }

  /** Resolves when what is decided now, of interval, is flushed or failed. */
  async settled (interval: Interval): Promise<void> {
    const waiting = [...this.#pending.values()].filter(({ key }) => holdsKey(interval, key))
    await Promise.allSettled(waiting.map(({ flushed }) => flushed))
  }

  /** Begin to follow interval, with its keys that are decided and not flushed. */
  follow (interval: Interval): Follower {
    const follower = new Follower(interval)
    for (const { key } of this.#pending.values()) follower.add(key)
    this.#followers.add(follower)
    return follower
  }

  unfollow (follower: Follower): void {
    this.#followers.delete(follower)
  }
}

function operationOf ({ key, value }: FrameRow): Operation {
  return value === undefined ? { type: 'delete', key } : { type: 'put', key, value }
}
