// The atlas: what a node has learned of who owns which keys, from each reply that it got. A warm atlas makes most
// lookups one hop. It is only a guess: the answering node's own claim counts, so a stale entry costs a redirect and nothing
// else (docs/ownership.md, "Only the owner's own word counts"). Bounded; entries that were not used for longest go first.

import { IntervalMap } from '../interval-map.ts'
import { compareHighs, compareKeys, everything, type Interval, type Key } from '../interval.ts'
import type { OwnerView, Target } from './routing.ts'

interface Entry {
  readonly view: OwnerView
  /** Tick of the atlas when it was last learned or used. */
  used: number
}

export interface AtlasInit {
  /** Entries at most. */
  readonly atlasEntriesMax: number
}

/** Share of the entries that one eviction drops, so that it is rare: a guess. */
const evictedShare = 1 / 16

export class Atlas {
  readonly #entriesMax: number
  #map = new IntervalMap<Entry>((a, b) => a === b)
  #tick = 0

  constructor (init: AtlasInit) {
    this.#entriesMax = init.atlasEntriesMax
  }

  get size (): number {
    return this.#map.size
  }

  /** Take in what somebody said. Of two claims of one chain the higher epoch stays, otherwise the later word. */
  learn (view: OwnerView): void {
    this.#tick++
    const present = this.#map.segmentAt(view.interval.low)
    if (present !== undefined && sameView(present.value.view, view) && compareHighs(present.interval.high, view.interval.high) === 0) {
      present.value.used = this.#tick
      return
    }
    const entry: Entry = { view, used: this.#tick }
    this.#map.update(view.interval, old => old !== undefined && isNewer(old.view, view) ? old : entry)
    if (this.#map.size > this.#entriesMax) this.#evict()
  }

  /** Who is thought to own the target, with the part of its interval that nobody newer has claimed. */
  at (target: Target): OwnerView | undefined {
    const segment = target.below ? this.#segmentBelow(target.key) : this.#map.segmentAt(target.key)
    if (segment === undefined) return undefined
    segment.value.used = ++this.#tick
    return clipped(segment.value.view, segment.interval)
  }

  /**
   * Up to count entries on each side of key, nearest first, each as it was told: what newer claims cut from a view would
   * make its owner seem to stand elsewhere.
   */
  around (key: Key, count: number): OwnerView[] {
    const { before, after } = this.#map.around(key, count)
    return [...before, ...after].map(segment => segment.value.view)
  }

  /** The entry at the target did not hold: drop it, if it still names that member. */
  forget (view: OwnerView): void {
    this.#map.update(view.interval, old => old?.view.owner.id === view.owner.id ? undefined : old)
  }

  clear (): void {
    if (this.#map.size === 0) return
    this.#map = new IntervalMap<Entry>((a, b) => a === b)
  }

  #segmentBelow (key: Key): { interval: Interval, value: Entry } | undefined {
    const { before } = this.#map.around(key, 2)
    return before.find(segment => compareKeys(segment.interval.low, key) < 0 && compareHighs(key, segment.interval.high) <= 0)
  }

  #evict (): void {
    const segments = this.#map.entries(everything)
    const byUse = segments.map(segment => segment.value.used).sort((a, b) => a - b)
    const oldestKept = byUse[Math.ceil(byUse.length * evictedShare)]!
    this.#map = new IntervalMap<Entry>((a, b) => a === b, segments.filter(segment => segment.value.used >= oldestKept))
  }
}

/** Is a a newer claim than b? Only claims of one chain can be told apart. */
export function isNewer (a: OwnerView, b: OwnerView): boolean {
  return a.chain === b.chain && a.epoch > b.epoch
}

/** Do two views say the same, addresses included? */
export function sameView (a: OwnerView, b: OwnerView): boolean {
  return a === b || (a.owner.id === b.owner.id && a.chain === b.chain && a.epoch === b.epoch &&
    compareKeys(a.interval.low, b.interval.low) === 0 && compareHighs(a.interval.high, b.interval.high) === 0 &&
    a.owner.contact.addresses.join() === b.owner.contact.addresses.join())
}

function clipped (view: OwnerView, interval: Interval): OwnerView {
  return interval === view.interval ? view : { ...view, interval }
}
