// A set of keys as disjoint intervals: what this node owns, learns, or has yet to let go of. Tens of intervals at most,
// so plain lists do.

import type { Interval, Key } from '../../overlay/interval.ts'
import { holdsKey, intersect, isEmpty, subtract } from '../../overlay/interval.ts'

export class Spans {
  #intervals: Interval[] = []

  get intervals (): readonly Interval[] {
    return this.#intervals
  }

  add (interval: Interval): void {
    this.remove(interval)
    if (!isEmpty(interval)) this.#intervals.push(interval)
  }

  remove (interval: Interval): void {
    this.#intervals = this.#intervals.flatMap(own => subtract(own, interval))
  }

  holds (key: Key): boolean {
    return this.#intervals.some(interval => holdsKey(interval, key))
  }

  meets (interval: Interval): boolean {
    return this.#intervals.some(own => intersect(own, interval) !== undefined)
  }

  covers (interval: Interval): boolean {
    return this.without([interval]).length === 0
  }

  /** What is left of intervals without this set. */
  without (intervals: readonly Interval[]): Interval[] {
    return this.#intervals.reduce<Interval[]>((left, own) => left.flatMap(interval => subtract(interval, own)), [...intervals])
  }
}

export function spansOf (intervals: Iterable<Interval>): Spans {
  const spans = new Spans()
  for (const interval of intervals) spans.add(interval)
  return spans
}
