// Keys are bytes in byte order; an interval is a run of keys [low, high). The key line does not wrap: it begins at
// the empty key, and a missing high is its end. `interval` is what a node owns; what a user asks for is a range,
// which storage turns into an interval first. Pure functions, no state.

export type Key = Uint8Array

/** The keys k with low <= k < high; high undefined is the end of the line. low >= high holds nothing and is legal. */
export interface Interval {
  readonly low: Key
  readonly high: Key | undefined
}

export const lowestKey: Key = new Uint8Array(0)

/** The whole key line. */
export const everything: Interval = { low: lowestKey, high: undefined }

/**
 * Byte order: negative when a < b, 0 when equal, positive when a > b. A loop of our own, because a call out of
 * JavaScript, as every library makes it, costs more than the few bytes that keys differ in: most lookups are compares.
 */
export function compareKeys (a: Key, b: Key): number {
  const shared = Math.min(a.length, b.length)
  for (let at = 0; at < shared; at++) {
    const difference = a[at]! - b[at]!
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** Order of upper bounds, where undefined is the end of the line. */
export function compareHighs (a: Key | undefined, b: Key | undefined): number {
  if (a === undefined) return b === undefined ? 0 : 1
  return b === undefined ? -1 : compareKeys(a, b)
}

/** Is key < high? */
export function isBelow (key: Key, high: Key | undefined): boolean {
  return high === undefined || compareKeys(key, high) < 0
}

export function isEmpty (interval: Interval): boolean {
  return !isBelow(interval.low, interval.high)
}

export function holdsKey (interval: Interval, key: Key): boolean {
  return compareKeys(interval.low, key) <= 0 && isBelow(key, interval.high)
}

/** Does outer hold each key of inner? An empty inner is always held. */
export function holdsInterval (outer: Interval, inner: Interval): boolean {
  return isEmpty(inner) || (compareKeys(outer.low, inner.low) <= 0 && compareHighs(inner.high, outer.high) <= 0)
}

/** The keys in both, or undefined when there are none. */
export function intersect (a: Interval, b: Interval): Interval | undefined {
  const low = compareKeys(a.low, b.low) >= 0 ? a.low : b.low
  const high = compareHighs(a.high, b.high) <= 0 ? a.high : b.high
  return isBelow(low, high) ? { low, high } : undefined
}

/** What is left of a without b: none, one or two intervals, in order. */
export function subtract (a: Interval, b: Interval): Interval[] {
  const middle = intersect(a, b)
  if (middle === undefined) return isEmpty(a) ? [] : [a]
  const rest: Interval[] = []
  if (compareKeys(a.low, middle.low) < 0) rest.push({ low: a.low, high: middle.low })
  if (middle.high !== undefined && compareHighs(middle.high, a.high) < 0) rest.push({ low: middle.high, high: a.high })
  return rest
}

export function sameInterval (a: Interval, b: Interval): boolean {
  return compareKeys(a.low, b.low) === 0 && compareHighs(a.high, b.high) === 0
}

/** The smallest key above key: key followed by a zero byte. */
export function nextKey (key: Key): Key {
  const next = new Uint8Array(key.length + 1)
  next.set(key)
  return next
}

/** The keys that begin with prefix; the end is open when prefix is empty or all 0xff. */
export function prefixInterval (prefix: Key): Interval {
  let length = prefix.length
  while (length > 0 && prefix[length - 1] === 0xff) length--
  if (length === 0) return { low: prefix, high: undefined }
  const high = prefix.slice(0, length)
  high[length - 1]! += 1
  return { low: prefix, high }
}
