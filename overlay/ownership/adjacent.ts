// Do two runs of keys lie side by side? A node owns one contiguous run; it takes a part only where it stays one.

import { compareKeys, isBelow, type Interval } from '../interval.ts'

/** Does one begin where the other ends? */
export function touchesRun (a: Interval, b: Interval): boolean {
  return endsAt(a, b) || endsAt(b, a)
}

/** Does left end where right begins? */
export function endsAt (left: Interval, right: Interval): boolean {
  return left.high !== undefined && compareKeys(left.high, right.low) === 0
}

/** Intervals in key order, adjacent ones joined. */
export function joined (intervals: readonly Interval[]): Interval[] {
  const runs: Interval[] = []
  for (const interval of intervals) {
    const last = runs.at(-1)
    if (last?.high !== undefined && compareKeys(last.high, interval.low) === 0) runs[runs.length - 1] = { low: last.low, high: interval.high }
    else if (isBelow(interval.low, interval.high)) runs.push(interval)
  }
  return runs
}
