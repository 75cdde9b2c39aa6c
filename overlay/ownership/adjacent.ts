// Do two runs of keys lie side by side? A node owns one contiguous run; it takes a part only where it stays one.

import { compareKeys, type Interval } from '../interval.ts'

/** Does one begin where the other ends? */
export function touchesRun (a: Interval, b: Interval): boolean {
  return endsAt(a, b) || endsAt(b, a)
}

function endsAt (left: Interval, right: Interval): boolean {
  return left.high !== undefined && compareKeys(left.high, right.low) === 0
}
