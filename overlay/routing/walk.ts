// Walk: visit the owners of a run of keys in order, upwards or downwards. It goes on by key, never by "the next node"
// (docs/ownership.md, "Scans go on by key"): at the end of what one owner answered it asks for the owner of the next
// key, so a boundary that moves under it costs nothing and no owner is visited for keys that it does not hold. Keys
// that nobody answers for are named and stepped over.

import { OwnerUnreachableError } from '../errors.ts'
import { compareHighs, compareKeys, isBelow, type Interval, type Key } from '../interval.ts'
import type { Asked, Target } from './routing.ts'

export type Direction = 'up' | 'down'

export type Step<Answer> =
  | { readonly kind: 'owner', readonly asked: Asked<Answer>, readonly covered: Interval }
  | { readonly kind: 'missing', readonly interval: Interval, readonly error: OwnerUnreachableError }

/**
 * One step an owner of interval, in order of direction. `ask` brings a request for the rest of the interval to the
 * owner of target.
 *
 * @throws what ask throws, except OwnerUnreachableError, which becomes a `missing` step
 */
export async function * walk<Answer> (interval: Interval, direction: Direction, ask: (target: Target, rest: Interval) => Promise<Asked<Answer>>): AsyncGenerator<Step<Answer>> {
  let rest = interval
  while (isBelow(rest.low, rest.high)) {
    const target = targetOf(rest, direction)
    try {
      const asked = await ask(target, rest)
      const covered = clip(rest, asked.interval)
      yield { kind: 'owner', asked, covered }
      rest = behind(rest, covered, direction)
    } catch (error) {
      if (!(error instanceof OwnerUnreachableError)) throw error
      const missing = clip(rest, error.interval)
      yield { kind: 'missing', interval: missing, error }
      rest = behind(rest, missing, direction)
    }
  }
}

/** The target whose owner holds the next keys of rest. Downwards from the end of the line no key is above: ask below the highest key there can be. */
export function targetOf (rest: Interval, direction: Direction): Target {
  return direction === 'up' ? { key: rest.low, below: false } : { key: rest.high ?? endKey, below: true }
}

/** Above every key in use: storage keys are shorter and begin with a collection's name. */
const endKey: Key = new Uint8Array(16).fill(0xff)

function clip (rest: Interval, interval: Interval): Interval {
  return {
    low: compareKeys(interval.low, rest.low) > 0 ? interval.low : rest.low,
    high: compareHighs(interval.high, rest.high) < 0 ? interval.high : rest.high
  }
}

function behind (rest: Interval, covered: Interval, direction: Direction): Interval {
  if (direction === 'down') return { low: rest.low, high: covered.low }
  return { low: covered.high ?? rest.low, high: covered.high === undefined ? rest.low : rest.high }
}
