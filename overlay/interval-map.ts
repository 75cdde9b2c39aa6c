// An ordered map from disjoint intervals of keys to values: what a store knows of each run of keys. Writing to an
// interval cuts the segments that cross its ends; neighbors that touch and hold equal values become one segment.
//
// Made for tens of segments, at most thousands: a sorted array with binary search. Values are never changed in place,
// so a copy shares them with its original. Empty intervals hold no key and are ignored.

import { compareHighs, compareKeys, everything, holdsInterval, intersect, isBelow, isEmpty, sameInterval } from './interval.ts'
import type { Interval, Key } from './interval.ts'

export interface Segment<V> {
  readonly interval: Interval
  readonly value: V
}

/** A stretch of keys with one value, or with none. */
export interface Stretch<V> {
  readonly interval: Interval
  readonly value: V | undefined
}

/** What turns an earlier map into a later one, with a row for each segment under its low key: delete first, then put. */
export interface Changes<V> {
  readonly put: ReadonlyArray<Segment<V>>
  /** Low keys of rows without a successor under the same key. */
  readonly remove: readonly Key[]
}

export class IntervalMap<V> {
  readonly #equal: (a: V, b: V) => boolean
  #segments: Array<Segment<V>> = []

  /** `equal` says when two neighbors may be one segment. Later segments overwrite earlier ones. */
  constructor (equal: (a: V, b: V) => boolean, segments: Iterable<Segment<V>> = []) {
    this.#equal = equal
    for (const { interval, value } of segments) this.set(interval, value)
  }

  /** Number of segments. */
  get size (): number {
    return this.#segments.length
  }

  /** The value at key. O(log n). */
  get (key: Key): V | undefined {
    return this.segmentAt(key)?.value
  }

  /** The whole segment that holds key. O(log n). */
  segmentAt (key: Key): Segment<V> | undefined {
    const segment = this.#segments[this.#firstEndingAbove(key)]
    return segment !== undefined && compareKeys(segment.interval.low, key) <= 0 ? segment : undefined
  }

  /** Segments that meet interval, clipped to it, in key order. */
  entries (interval: Interval = everything): Array<Segment<V>> {
    const found: Array<Segment<V>> = []
    if (isEmpty(interval)) return found
    const end = this.#firstStartingFrom(interval.high)
    for (let index = this.#firstEndingAbove(interval.low); index < end; index++) {
      const segment = this.#segments[index]!
      found.push(holdsInterval(interval, segment.interval) ? segment : { interval: intersect(segment.interval, interval)!, value: segment.value })
    }
    return found
  }

  /** The count segments nearest to key on each side: `before` begins at the last one with low <= key and goes down, `after` goes up. O(log n + count). */
  around (key: Key, count: number): { before: Array<Segment<V>>, after: Array<Segment<V>> } {
    const middle = this.#first(segment => compareKeys(segment.interval.low, key) > 0)
    return {
      before: this.#segments.slice(Math.max(0, middle - count), middle).reverse(),
      after: this.#segments.slice(middle, middle + count)
    }
  }

  /** Interval as stretches without gap or overlap, in key order; those without a value have undefined. */
  stretches (interval: Interval = everything): Array<Stretch<V>> {
    const found: Array<Stretch<V>> = []
    let low: Key | undefined = interval.low
    for (const segment of this.entries(interval)) {
      if (compareKeys(low!, segment.interval.low) < 0) found.push({ interval: { low: low!, high: segment.interval.low }, value: undefined })
      found.push(segment)
      low = segment.interval.high
    }
    if (low !== undefined && isBelow(low, interval.high)) found.push({ interval: { low, high: interval.high }, value: undefined })
    return found
  }

  set (interval: Interval, value: V): void {
    this.#replace(interval, isEmpty(interval) ? [] : [{ interval, value }])
  }

  delete (interval: Interval): void {
    this.#replace(interval, [])
  }

  /** Give each stretch of interval, gaps too, the value that fn returns for it; undefined deletes. */
  update (interval: Interval, fn: (value: V | undefined, stretch: Interval) => V | undefined): void {
    const written: Array<Segment<V>> = []
    for (const stretch of this.stretches(interval)) {
      const value = fn(stretch.value, stretch.interval)
      if (value !== undefined) written.push({ interval: stretch.interval, value })
    }
    this.#replace(interval, written)
  }

  copy (): IntervalMap<V> {
    const copy = new IntervalMap<V>(this.#equal)
    copy.#segments = this.#segments.slice()
    return copy
  }

  /** Rows to write so that a stored copy of `earlier` becomes this map. O(n). */
  changesSince (earlier: IntervalMap<V>): Changes<V> {
    const put: Array<Segment<V>> = []
    const remove: Key[] = []
    let index = 0
    const old = earlier.#segments
    for (const segment of this.#segments) {
      while (index < old.length && compareKeys(old[index]!.interval.low, segment.interval.low) < 0) remove.push(old[index++]!.interval.low)
      const before = old[index]
      const known = before !== undefined && compareKeys(before.interval.low, segment.interval.low) === 0
      if (known) index++
      if (!known || !sameInterval(before.interval, segment.interval) || !this.#equal(before.value, segment.value)) put.push(segment)
    }
    while (index < old.length) remove.push(old[index++]!.interval.low)
    return { put, remove }
  }

  /** Put segments, which lie in interval in order, in place of what interval held. */
  #replace (interval: Interval, written: ReadonlyArray<Segment<V>>): void {
    if (isEmpty(interval)) return
    let start = this.#firstEndingAbove(interval.low)
    let end = this.#firstStartingFrom(interval.high)
    const first = this.#segments[start]
    const last = this.#segments[end - 1]
    const row = [...written]
    if (start < end && compareKeys(first!.interval.low, interval.low) < 0) row.unshift({ interval: { low: first!.interval.low, high: interval.low }, value: first!.value })
    if (start < end && compareHighs(interval.high, last!.interval.high) < 0) row.push({ interval: { low: interval.high!, high: last!.interval.high }, value: last!.value })
    if (start > 0) row.unshift(this.#segments[--start]!)
    if (end < this.#segments.length) row.push(this.#segments[end++]!)
    this.#segments.splice(start, end - start, ...this.#merge(row))
  }

  #merge (row: ReadonlyArray<Segment<V>>): Array<Segment<V>> {
    const merged: Array<Segment<V>> = []
    for (const segment of row) {
      const before = merged.at(-1)
      const touches = before?.interval.high !== undefined && compareKeys(before.interval.high, segment.interval.low) === 0
      if (touches && this.#equal(before.value, segment.value)) {
        merged[merged.length - 1] = { interval: { low: before.interval.low, high: segment.interval.high }, value: before.value }
      } else {
        merged.push(segment)
      }
    }
    return merged
  }

  /** Index of the first segment with key < high. */
  #firstEndingAbove (key: Key): number {
    return this.#first(segment => isBelow(key, segment.interval.high))
  }

  /** Index of the first segment with low >= high; their number when high is the end of the line. */
  #firstStartingFrom (high: Key | undefined): number {
    if (high === undefined) return this.#segments.length
    return this.#first(segment => compareKeys(segment.interval.low, high) >= 0)
  }

  /** Index of the first segment that passes; those before it fail. */
  #first (passes: (segment: Segment<V>) => boolean): number {
    let low = 0
    let high = this.#segments.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (passes(this.#segments[middle]!)) high = middle
      else low = middle + 1
    }
    return low
  }
}
