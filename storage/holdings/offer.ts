// Offer, then drop (docs/ownership.md, "Offer, then drop"): no row that lies outside what this node owns is deleted
// before its owner has confirmed it. After a hand-over the named owner has all rows by its claim, so one confirmation
// an interval does. Rows of unknown standing (a returned disk, a fill that was given up) are offered one by one; their
// owner merges them by version.
// All of it in the background, a page at a time; whatever fails is found again by the next look for strays.

import type { Host } from '../../overlay/host.ts'
import type { Interval, Key } from '../../overlay/interval.ts'
import { everything, isBelow, isEmpty, subtract } from '../../overlay/interval.ts'
import type { MemberId } from '../../overlay/member.ts'
import type { Routing } from '../../overlay/routing/routing.ts'
import type { Store } from '../../overlay/store.ts'
import { confirmMethod, offerMethod } from '../messages.ts'
import { storageMetrics } from '../metrics.ts'
import { frames } from '../records/row-frame.ts'
import type { FrameRow } from '../records/row-frame.ts'
import type { FullParts } from './full-parts.ts'
import { Spans, spansOf } from './spans.ts'

export interface OffersComponents {
  readonly host: Host
  readonly store: Store
  readonly routing: Routing
  /** What this node is a member of. */
  readonly held: Spans
  /** What it was filled with before it is a member. */
  readonly full: FullParts
  /** What it is being filled with now. */
  readonly learning: () => readonly Interval[]
}

export interface OffersInit {
  readonly memberId: string
  readonly frameBytesMax: number
  readonly scanPageRows: number
  readonly callMs: number
  readonly strayCheckMs: number
}

interface Lost { readonly interval: Interval, readonly owner: MemberId }

export class Offers {
  readonly #components: OffersComponents
  readonly #init: OffersInit
  readonly #stopping = new AbortController()
  /** Given away, and not yet dropped. */
  #lost: Lost[] = []
  #isRunning = false
  #hasHeld = false

  constructor (components: OffersComponents, init: OffersInit) {
    this.#components = components
    this.#init = init
  }

  start (): void {
    this.#lookLater()
  }

  stop (): void {
    this.#stopping.abort()
  }

  /** These rows are at owner, as the claim says, or it has to be asked. */
  released (interval: Interval, owner: MemberId): void {
    this.#forget(interval)
    if (owner !== this.#init.memberId) this.#lost.push({ interval, owner })
    this.#hasHeld = true
    void this.#letGo()
  }

  held (interval: Interval): void {
    this.#forget(interval)
    this.#hasHeld = true
  }

  /** Before interval is replaced: bring to its owner what may be here alone. @throws errors of Routing.ask */
  async makeRoom (interval: Interval, signal: AbortSignal): Promise<void> {
    const there = spansOf(this.#lost.map(lost => lost.interval))
    for (const part of there.without([interval])) await this.#offer(part, { signal, isLearner: true })
  }

  #forget (interval: Interval): void {
    this.#lost = this.#lost.flatMap(({ interval: own, owner }) => subtract(own, interval).map(left => ({ interval: left, owner })))
  }

  /** Drop what was given away, one interval after the other. */
  async #letGo (): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    const tried = new Set<Lost>()
    await this.#unmark().catch((error: unknown) => { this.#components.host.log.debug({ error: String(error) }, 'marks of fills are kept for now') })
    for (;;) {
      const lost = this.#lost.find(entry => !tried.has(entry))
      if (lost === undefined || this.#stopping.signal.aborted) break
      tried.add(lost)
      try {
        await this.#confirmAndDrop(lost)
        this.#lost = this.#lost.filter(entry => entry !== lost)
      } catch (error) {
        if (!this.#stopping.signal.aborted) this.#components.host.log.debug({ error: String(error) }, 'rows that were given away are kept for now')
      }
    }
    this.#isRunning = false
  }

  async #confirmAndDrop ({ interval, owner }: Lost): Promise<void> {
    const { signal } = this.#stopping
    let at: Key | undefined = interval.low
    while (at !== undefined && isBelow(at, interval.high)) {
      const asked = { low: at, high: interval.high }
      const { answer, owner: present } = await this.#components.routing.ask({ key: at, below: false }, confirmMethod, { interval: asked, member: this.#init.memberId }, { deadlineMs: this.#init.callMs, signal, repeatable: true })
      const part: Interval = { low: at, high: answer.until ?? interval.high }
      if (present.id === owner) await this.#drop(part)
      else if (present.id !== this.#init.memberId) await this.#offer(part, { signal, isLearner: false })
      at = part.high
    }
  }

  /** Clear what is neither owned nor being filled, as of this step. */
  async #drop (part: Interval): Promise<void> {
    await Promise.all(this.#droppable([part]).map(async interval => { await this.#components.store.clear(interval) }))
  }

  #droppable (parts: readonly Interval[]): Interval[] {
    return this.#kept().without(this.#components.held.without(parts))
  }

  /** What is being filled, and what was filled for a claim that may still come. */
  #kept (): Spans {
    return spansOf([...this.#components.learning(), ...this.#components.full.parts.map(({ interval }) => interval)])
  }

  /** Marks of fills whose claim can come no more: the owner has a later one, which does not name this node. */
  async #unmark (): Promise<void> {
    for (const { interval, epoch } of this.#components.full.parts) {
      if (spansOf(this.#components.learning()).meets(interval)) continue
      let at: Key | undefined = interval.low
      while (at !== undefined && isBelow(at, interval.high)) {
        const asked = { interval: { low: at, high: interval.high }, member: this.#init.memberId }
        const { answer } = await this.#components.routing.ask({ key: at, below: false }, confirmMethod, asked, { deadlineMs: this.#init.callMs, signal: this.#stopping.signal, repeatable: true })
        const part: Interval = { low: at, high: answer.until ?? interval.high }
        if (!answer.names && answer.epoch > epoch) await this.#components.full.remove(part)
        at = part.high
      }
    }
  }

  /** Offer each row of part to its owner and delete it here once that has it. */
  async #offer (part: Interval, { signal, isLearner }: { signal: AbortSignal, isLearner: boolean }): Promise<void> {
    const snapshot = this.#components.store.snapshot()
    try {
      for await (const page of snapshot.pages(part, { pageRows: this.#init.scanPageRows })) {
        for (const rows of frames(page, this.#init.frameBytesMax)) await this.#offerRows(rows, signal, isLearner)
      }
    } finally {
      snapshot.close()
    }
  }

  async #offerRows (given: readonly FrameRow[], signal: AbortSignal, isLearner: boolean): Promise<void> {
    let rows = given
    while (rows.length > 0) {
      const { answer, owner } = await this.#components.routing.ask({ key: rows[0]!.key, below: false }, offerMethod, { rows }, { deadlineMs: this.#init.callMs, signal, repeatable: true })
      if (!(answer.accepted > 0 && answer.accepted <= rows.length)) throw new RangeError(`an owner accepted ${answer.accepted} of ${rows.length} rows`)
      const accepted = rows.slice(0, answer.accepted)
      rows = rows.slice(answer.accepted)
      if (owner.id === this.#init.memberId) continue // they are at home
      const kept = isLearner ? new Spans() : this.#kept()
      const dropped = accepted.filter(({ key }) => !this.#components.held.holds(key) && !kept.holds(key))
      await this.#components.store.batch(dropped.map(({ key }) => ({ type: 'delete', key })))
      this.#components.host.metrics.count(storageMetrics.offered, {}, dropped.length)
    }
  }

  #lookLater (): void {
    if (this.#stopping.signal.aborted) return
    this.#components.host.after(this.#init.strayCheckMs, () => {
      void this.#look().finally(() => { this.#lookLater() })
    })
  }

  /** Rows that are neither owned nor being filled nor given away are strays. */
  async #look (): Promise<void> {
    if (this.#stopping.signal.aborted || !this.#hasHeld) return
    await this.#letGo()
    const there = spansOf(this.#lost.map(({ interval }) => interval))
    try {
      for (const part of there.without(this.#droppable([everything]))) {
        if (!isEmpty(part)) await this.#offer(part, { signal: this.#stopping.signal, isLearner: false })
      }
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#components.host.log.debug({ error: String(error) }, 'strays are kept for now')
    }
  }
}
