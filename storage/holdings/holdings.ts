// What ownership asks of storage (overlay/holdings.ts), put together from its parts: weights and cuts, fills at both ends,
// and letting go. What this node owns is known here only as far as ownership has told it; nothing is decided by it but
// what may be dropped, driven and counted.

import type { Copies } from '../../overlay/copies.ts'
import type { FillRequest, Holdings } from '../../overlay/holdings.ts'
import type { Host } from '../../overlay/host.ts'
import { holdsKey, intersect } from '../../overlay/interval.ts'
import type { Interval, Key } from '../../overlay/interval.ts'
import type { MemberId } from '../../overlay/member.ts'
import type { Routing } from '../../overlay/routing/routing.ts'
import type { Store } from '../../overlay/store.ts'
import type { StorageInit } from '../init.ts'
import { releaseNotice } from '../messages.ts'
import type { CollectionDefinition } from '../records/collection.ts'
import { handleOffers } from './adopt.ts'
import { boundaryFor, weigh } from './boundary.ts'
import { Census } from './census.ts'
import type { Counts } from './census.ts'
import { handleCopies } from './copy.ts'
import { Fills } from './fill.ts'
import { FullParts } from './full-parts.ts'
import { Learners } from './learner.ts'
import { Offers } from './offer.ts'
import { FillSources } from './source.ts'
import { Spans } from './spans.ts'
import { Spreader } from './spread.ts'
import { Writer } from './writer.ts'

export interface HeldPartsComponents {
  readonly host: Host
  readonly store: Store
  readonly routing: Routing
  /** Absent: this node keeps all rows alone. */
  readonly copies?: Copies | undefined
  /** For what this node notes about its holdings; no keys of the key line. */
  readonly notes: Store
  readonly collections: () => readonly CollectionDefinition[]
  /** Told of each row that this node came to own without writing it, in pages, in the background. False: tell it again later. */
  readonly onOwnedRow: (key: Key, value: Uint8Array) => boolean
}

export class HeldParts implements Holdings {
  readonly writer: Writer
  readonly #components: HeldPartsComponents
  readonly #init: StorageInit
  readonly #owned = new Spans()
  /** What this node is a member of, as the owner or not. */
  readonly #held = new Spans()
  readonly #full: FullParts
  readonly #census: Census
  readonly #sources: FillSources
  readonly #learners: Learners
  readonly #fills: Fills
  readonly #offers: Offers
  #isStopped = false

  constructor (components: HeldPartsComponents, init: StorageInit) {
    const { host, store, routing } = components
    this.#components = components
    this.#init = init
    this.#census = new Census({ host, store, owned: () => this.#owned.intervals, writer: () => this.writer }, init)
    this.#full = new FullParts(components.notes)
    const spreader = components.copies === undefined ? undefined : new Spreader({ host, copies: components.copies }, init)
    this.writer = new Writer({ store, spread: (rows, order) => spreader?.spread(rows, order), wantCeiling: ms => { components.copies?.wantCeiling(ms) }, onFlushed: (before, after) => { if (this.#owned.holds(after.key)) this.#census.flushed(before, after) } })
    this.#sources = new FillSources({ host, store, writer: this.writer }, init)
    this.#offers = new Offers({ host, store, routing, held: this.#held, full: this.#full, learning: () => this.#learners.intervals() }, init)
    this.#learners = new Learners({
      host,
      store,
      writer: this.writer,
      makeRoom: async (interval, signal) => { await this.#offers.makeRoom(interval, signal) },
      letGo: (interval, source) => { this.#offers.released(interval, source.id) },
      owns: interval => this.#owned.meets(interval),
      holds: interval => this.#held.meets(interval),
      ownsAll: interval => this.#owned.covers(interval),
      holdsAll: interval => this.#held.covers(interval),
      full: this.#full
    }, init)
    this.#fills = new Fills({ host }, init)
  }

  /** Live records held as owner, nearly. */
  get counts (): Counts {
    return this.#census.counts
  }

  /** Does this node own key, with its newest row? What it holds while it is being filled may be older. */
  owns (key: Key): boolean {
    return this.#owned.holds(key) && !this.#learners.intervals().some(interval => holdsKey(interval, key))
  }

  /** Read what was noted before a restart. */
  async open (): Promise<void> {
    await this.#full.open()
  }

  start (): void {
    const { host, routing, onOwnedRow, copies } = this.#components
    if (copies !== undefined) handleCopies({ host, writer: this.writer, copies })
    handleOffers({ routing, writer: this.writer, copies, onRow: onOwnedRow }, this.#init)
    host.onNotice(releaseNotice, ({ session, kept }) => { this.#ended(session, kept) })
    this.#sources.start()
    this.#learners.start()
    this.#offers.start()
  }

  stop (): void {
    this.#isStopped = true
    this.#offers.stop()
    this.#learners.stop()
    this.#sources.stop()
    this.#census.stop()
  }

  async weigh (interval: Interval): Promise<number> {
    return await weigh(this.#components, this.#init, interval)
  }

  async boundaryFor (interval: Interval, share: number): Promise<Key | undefined> {
    return await boundaryFor(this.#components, this.#init, interval, share)
  }

  async fill (request: FillRequest, signal: AbortSignal): Promise<void> {
    await this.#fills.fill(request, signal)
  }

  async tail (request: FillRequest, signal: AbortSignal): Promise<void> {
    await this.#fills.tail(request, signal)
  }

  release (request: FillRequest, kept: boolean): void {
    this.#fills.release(request, kept)
    this.#ended(request.session, kept)
  }

  refuseFills (refuse: boolean): void {
    this.#learners.refuse(refuse)
  }

  isFilling (): boolean {
    return this.#learners.isFilling
  }

  async drained (interval: Interval, ms: number): Promise<boolean> {
    const waiting = new AbortController()
    const isOver = this.writer.ended(interval).then(() => true)
    const isLate = this.#components.host.sleep(ms, waiting.signal).then(() => false, () => true)
    const isDrained = await Promise.race([isOver, isLate])
    waiting.abort()
    return isDrained
  }

  isFull (interval: Interval): boolean {
    return this.#full.covers(interval)
  }

  gained (interval: Interval): void {
    this.#owned.add(interval)
    this.#learners.claimed()
    this.#census.recountLater()
    this.#readOwnedLater([interval])
  }

  lost (interval: Interval): void {
    this.#owned.remove(interval)
    this.#census.recountLater()
  }

  held (interval: Interval): void {
    this.#held.add(interval)
    this.#offers.held(interval)
    this.#learners.claimed()
    this.#full.remove(interval).catch(() => {})
  }

  released (interval: Interval, owner: MemberId): void {
    this.#held.remove(interval)
    this.#offers.released(interval, owner)
  }

  #readOwnedLater (intervals: readonly Interval[]): void {
    if (this.#isStopped) return
    for (const interval of intervals) {
      this.#readOwned(interval).catch((error: unknown) => {
        if (!this.#isStopped) this.#components.host.log.warn({ error: String(error) }, 'open intents were not all found; they are driven after the next restart')
      })
    }
  }

  #ended (session: string, kept: boolean): void {
    this.#sources.release(session)
    this.#learners.release(session, kept)
  }

  /** Rows with something left to do are found in the background; again later, when there was no room for all of them. */
  async #readOwned (interval: Interval): Promise<void> {
    const { host, store, onOwnedRow } = this.#components
    const snapshot = store.snapshot()
    let isTaken = true
    try {
      for await (const page of snapshot.pages(interval, { pageRows: this.#init.scanPageRows })) {
        if (this.#isStopped) return
        for (const { key, value } of page) isTaken = onOwnedRow(key, value) && isTaken
      }
    } finally {
      snapshot.close()
    }
    if (!isTaken) host.after(this.#init.strayCheckMs, () => { this.#readOwnedLater(intersectAll(this.#owned.intervals, interval)) })
  }
}

function intersectAll (intervals: readonly Interval[], interval: Interval): Interval[] {
  return intervals.flatMap(own => intersect(own, interval) ?? [])
}
