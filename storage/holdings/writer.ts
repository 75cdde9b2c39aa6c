// The one gate through which rows are written. An owner's write goes to the other members first and to the own disk when
// all of them have flushed it, so what this store shows is on every copy already: no read has to wait, and a restarted
// owner has nothing to send again. A write that is decided and not yet flushed counts when the next version is given and
// is never read; whoever follows an interval (a fill) is told of each row in the step that gives it to the disk, so
// nothing slips between a snapshot and what comes after it. See docs/ownership.md, "Copies", and docs/architecture.md,
// "Three kinds of code".

import { TimeoutError } from '../../overlay/errors.ts'
import type { Interval, Key } from '../../overlay/interval.ts'
import { holdsKey } from '../../overlay/interval.ts'
import type { Operation, Store } from '../../overlay/store.ts'
import { keyName } from '../records/key-layout.ts'
import { versionOf } from '../records/record.ts'
import type { FrameRow } from '../records/row-frame.ts'

interface Pending {
  readonly key: Key
  readonly value: Uint8Array | undefined
  readonly flushed: Promise<void>
  /** Resolves or rejects with the disk's answer, once the row was given to it. */
  given: Promise<void> | undefined
  /** The newest value whose flush is known. */
  settled: Uint8Array | undefined
}

/** What a flushed write changed. */
export type Flushed = (before: Uint8Array | undefined, after: FrameRow) => void

/**
 * Brings rows to the other members, as the order-th decision of this boot; resolves when all have flushed them, with a
 * question to be asked in the step that gives them to the own disk: may this node still write under those claims?
 * Undefined where no other member has to have them.
 */
export type Spread = (rows: readonly FrameRow[], order: number) => Promise<() => boolean> | undefined

/** Keys of an interval that were written since it was opened, or were on their way to the disk then. */
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

export interface WriterComponents {
  readonly store: Store
  readonly onFlushed: Flushed
  readonly spread: Spread
  /** A version beyond the ceiling is needed, of this millisecond: members are asked to let it go so far. */
  readonly wantCeiling?: (ms: number) => void
}

/** Times that a write follows its keys to new claims of this owner. Guess. */
const spreadsMax = 16

export class Writer {
  readonly #store: Store
  readonly #onFlushed: Flushed
  readonly #spread: Spread
  readonly #pending = new Map<string, Pending>()
  /** Written for others, as a member, and not yet flushed. */
  readonly #copied = new Map<string, { readonly key: Key, readonly value: Uint8Array | undefined, readonly given: Promise<void> }>()
  readonly #followers = new Set<Follower>()
  /** Of keys with writes on their way to other members: how many, and the last one that was given to the disk. */
  readonly #spreading = new Map<string, { count: number, lastGiven: number }>()
  #order = 0
  #floorMs = 0

  /** As of WriterComponents. */
  readonly wantCeiling: (ms: number) => void

  constructor ({ store, onFlushed, spread, wantCeiling = () => {} }: WriterComponents) {
    this.wantCeiling = wantCeiling
    this.#store = store
    this.#onFlushed = onFlushed
    this.#spread = spread
  }

  /** Milliseconds since 1970: versions given from now on must be at least this, for lower ones may lie on some member. */
  get floorMs (): number {
    return this.#floorMs
  }

  /** The newest value decided for key, flushed or not: for decisions only, never for a read's answer. */
  latest (key: Key): Uint8Array | undefined {
    const name = keyName(key)
    const pending = this.#pending.get(name)
    if (pending !== undefined) return pending.value
    const copied = this.#copied.get(name)
    return copied === undefined ? this.#store.getSync(key) : copied.value
  }

  /**
   * Write rows as their owner, all or none; a row without a value is deleted. Resolves when all members have flushed.
   *
   * @throws what the store throws; TimeoutError when members do not answer: then a row may lie on some of them
   */
  write (rows: readonly FrameRow[]): Promise<void> {
    const before = rows.map(row => this.latest(row.key))
    const order = ++this.#order
    const done = Promise.withResolvers<void>()
    const given = rows.map(({ key, value }, at): Pending => ({ key, value, flushed: done.promise, given: undefined, settled: this.#settledValue(key, before[at]) }))
    for (const pending of given) this.#pending.set(keyName(pending.key), pending)
    const toDisk = (): void => {
      this.#give(rows, given, order).then(() => {
        for (const { key, value } of given) this.#settle(key, value)
        this.#forget(given)
        rows.forEach((row, at) => { this.#onFlushed(before[at], row) })
        done.resolve()
      }, (error: unknown) => {
        this.#forget(given)
        done.reject(error)
      })
    }
    const spread = this.#spread(rows, order)
    if (spread === undefined) toDisk()
    else {
      this.#spreads(rows, 1)
      this.#whenSpread(rows, order, spread, toDisk).then(() => { this.#spreads(rows, -1) }, (error: unknown) => {
        this.#spreads(rows, -1)
        this.#forget(given)
        for (const { value } of rows) if (value !== undefined) this.#floorMs = Math.max(this.#floorMs, versionOf(value).ms + 1)
        done.reject(error)
      })
    }
    return done.promise
  }

  /** Write rows as a member, for their owner. Resolves when flushed. */
  copy (rows: readonly FrameRow[]): Promise<void> {
    const given = this.#toStore(rows)
    for (const { key, value } of rows) this.#copied.set(keyName(key), { key, value, given })
    const forget = (): void => {
      for (const { key } of rows) {
        const name = keyName(key)
        if (this.#copied.get(name)?.given === given) this.#copied.delete(name)
      }
    }
    given.then(forget, forget)
    return given
  }

  /** Keys with writes that are not known to be flushed, each with its newest value that is: a snapshot may show either. */
  unsettled (): ReadonlyMap<string, { readonly key: Key, readonly settled: Uint8Array | undefined }> {
    return new Map(this.#pending)
  }

  /** Resolves when the newest write to key is flushed; at once when none waits. @throws what its batch threw */
  async flushed (key: Key): Promise<void> {
    await this.#pending.get(keyName(key))?.flushed
  }

  /** Resolves when what was given to the disk, of interval, is flushed or failed. */
  async settled (interval: Interval): Promise<void> {
    const waiting = [...this.#pending.values()].flatMap(({ key, given }) => given !== undefined && holdsKey(interval, key) ? [given] : [])
    await Promise.allSettled([...waiting, ...[...this.#copied.values()].map(({ given }) => given)])
  }

  /** Resolves when what is decided now, of interval, is flushed or failed. */
  async ended (interval: Interval): Promise<void> {
    await Promise.allSettled([...this.#pending.values()].filter(({ key }) => holdsKey(interval, key)).map(({ flushed }) => flushed))
  }

  /** Begin to follow interval, with its keys that are on their way to the disk. */
  follow (interval: Interval): Follower {
    const follower = new Follower(interval)
    for (const { key, given } of this.#pending.values()) if (given !== undefined) follower.add(key)
    for (const { key } of this.#copied.values()) follower.add(key)
    this.#followers.add(follower)
    return follower
  }

  unfollow (follower: Follower): void {
    this.#followers.delete(follower)
  }

  /** Call then in a step in which all members have the rows and this node may still write them. @throws as Spread, TimeoutError */
  async #whenSpread (rows: readonly FrameRow[], order: number, first: Promise<() => boolean>, then: () => void): Promise<void> {
    let spread: Promise<() => boolean> | undefined = first
    for (let tries = 0; tries < spreadsMax; tries++) {
      const mayGive = await spread
      if (mayGive === undefined || mayGive()) {
        then()
        return
      }
      spread = this.#spread(rows, order)
    }
    throw new TimeoutError('the owner of these keys changes too often; the write may or may not have been done')
  }

  #spreads (rows: readonly FrameRow[], by: number): void {
    for (const { key } of rows) {
      const name = keyName(key)
      const spreading = this.#spreading.get(name) ?? { count: 0, lastGiven: 0 }
      spreading.count += by
      if (spreading.count === 0) this.#spreading.delete(name)
      else this.#spreading.set(name, spreading)
    }
  }

  /** What a write of the same key, decided later, has brought to the disk already stays. */
  #give (rows: readonly FrameRow[], pending: readonly Pending[], order: number): Promise<void> {
    const present = this.#spreading.size === 0 ? rows : rows.filter(({ key }) => this.#comesNext(key, order))
    const given = this.#toStore(present)
    for (const one of pending) one.given = given
    return given
  }

  #comesNext (key: Key, order: number): boolean {
    const spreading = this.#spreading.get(keyName(key))
    if (spreading === undefined) return true
    if (spreading.lastGiven > order) return false
    spreading.lastGiven = order
    return true
  }

  #toStore (rows: readonly FrameRow[]): Promise<void> {
    const given = this.#store.batch(rows.map(operationOf))
    for (const { key } of rows) for (const follower of this.#followers) follower.add(key)
    return given
  }

  #forget (given: readonly Pending[]): void {
    for (const pending of given) {
      const name = keyName(pending.key)
      if (this.#pending.get(name) === pending) this.#pending.delete(name)
    }
  }

  #settledValue (key: Key, latest: Uint8Array | undefined): Uint8Array | undefined {
    const pending = this.#pending.get(keyName(key))
    return pending === undefined ? latest : pending.settled
  }

  #settle (key: Key, value: Uint8Array | undefined): void {
    const pending = this.#pending.get(keyName(key))
    if (pending !== undefined) pending.settled = value
  }
}

function operationOf ({ key, value }: FrameRow): Operation {
  return value === undefined ? { type: 'delete', key } : { type: 'put', key, value }
}
