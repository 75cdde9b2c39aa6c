// The bracket of a lookup: the nearest known nodes on both sides of a key, narrowed with every reply until one of them
// serves it. A plain skip-graph search comes from one side and never steps over the key; here the neighbors of all
// levels in both directions count, and those that replies carry, so a search closes in from left and right at once.
//
// A pure rule over what has been heard. Keys have no distance, but within a bracket their bytes can be read as a
// fraction, which only chooses the side to ask first; any choice ends at the owner.

import { compareHighs, compareKeys, isBelow, type Interval, type Key } from '../interval.ts'
import type { MemberId } from '../member.ts'
import { isNewer } from './atlas.ts'
import type { OwnerView, Target } from './routing.ts'

/** `refused`: no connection, so it may just be starting again; `silent`: it did not answer in time. */
export type Failure = 'refused' | 'silent'
type State = 'new' | 'asked' | Failure

interface Candidate {
  view: OwnerView
  state: State
}

/** Nodes that a lookup remembers at most; the farthest from the key go first. */
const candidatesMax = 64

/** Nodes asked behind the nearest in one round, at most: a guess. */
const widerMax = 8

export class Bracket {
  readonly target: Target
  /** Somebody alive is about to give or to get the target: worth waiting for. */
  changing = false
  /** Nodes asked in this round behind the nearest. */
  #widened = 0
  readonly #candidates = new Map<MemberId, Candidate>()

  constructor (target: Target) {
    this.target = target
  }

  /** Somebody says that this node exists and owns this. */
  hear (view: OwnerView): void {
    const known = this.#candidates.get(view.owner.id)
    if (known === undefined) {
      if (this.#candidates.size >= candidatesMax) this.#forgetFarthest()
      this.#candidates.set(view.owner.id, { view, state: 'new' })
    } else if (!hasFailed(known) && (isNewer(view, known.view) || (known.state === 'new' && this.#fitsBetter(view, known.view)))) {
      known.view = view
      known.state = 'new'
    }
  }

  /** The node itself says what it owns; undefined: it has no place in the ring. */
  answered (id: MemberId, own: OwnerView | undefined): void {
    if (own === undefined) this.#candidates.delete(id)
    else this.#candidates.set(id, { view: own, state: 'asked' })
  }

  /** The node did not answer. */
  failed (id: MemberId, how: Failure): void {
    const candidate = this.#candidates.get(id)
    if (candidate !== undefined) candidate.state = how
  }

  /** Ask everyone again: something may have changed hands or come back. Who was silent would only take as long again. */
  renew (): void {
    this.changing = false
    this.#widened = 0
    for (const candidate of this.#candidates.values()) {
      if (candidate.state !== 'silent') candidate.state = 'new'
    }
  }

  /** Whom to ask next; undefined when nobody nearer is known. */
  next (): OwnerView | undefined {
    const covering = this.#newestCovering('new')
    if (covering !== undefined) return covering
    const left = this.#nearestLeft()
    const right = this.#nearestRight()
    if (left?.state !== 'new') return right?.state === 'new' ? right.view : this.#wider()
    if (right?.state !== 'new') return left.view
    return isNearerToLow(this.target.key, left.view.interval, right.view.interval.low) ? left.view : right.view
  }

  /** The nearest have been asked in vain, as when nodes beside them died: those behind them may have links that reach over. */
  #wider (): OwnerView | undefined {
    if (this.#widened >= widerMax) return undefined
    const open = [...this.#candidates.values()].filter(candidate => candidate.state === 'new').map(candidate => candidate.view)
    const left = open.filter(view => startsBefore(view.interval, this.target)).sort((a, b) => compareKeys(b.interval.low, a.interval.low))[0]
    const right = open.filter(view => !startsBefore(view.interval, this.target)).sort((a, b) => compareKeys(a.interval.low, b.interval.low))[0]
    this.#widened++
    return this.#widened % 2 === 0 ? left ?? right : right ?? left
  }

  /** A node that is thought to own the target and did not answer, and how. */
  failedOwner (): { readonly view: OwnerView, readonly how: Failure } | undefined {
    for (const how of ['silent', 'refused'] as const) {
      const view = this.#newestCovering(how)
      if (view !== undefined) return { view, how }
    }
    return undefined
  }

  /** The keys around the target that no node which answered claims. */
  gap (): Interval {
    const left = this.#nearestLeft()?.view.interval
    const right = this.#nearestRight()?.view.interval
    const low = left === undefined || left.high === undefined ? new Uint8Array(0) : left.high
    const above = this.target.below ? isBelow(low, this.target.key) : compareKeys(low, this.target.key) <= 0
    return { low: above ? low : left?.low ?? low, high: right?.low }
  }

  /** Of two words of one epoch about a node that has not been asked, one may tell of a single piece: the one that covers the target is worth asking. */
  #fitsBetter (view: OwnerView, known: OwnerView): boolean {
    return !isNewer(known, view) && covers(view.interval, this.target) && !covers(known.interval, this.target)
  }

  #newestCovering (state: State): OwnerView | undefined {
    let newest: OwnerView | undefined
    for (const candidate of this.#candidates.values()) {
      if (candidate.state !== state || !covers(candidate.view.interval, this.target)) continue
      if (newest === undefined || isNewer(candidate.view, newest)) newest = candidate.view
    }
    return newest
  }

  #nearestLeft (): Candidate | undefined {
    let best: Candidate | undefined
    for (const candidate of this.#candidates.values()) {
      if (hasFailed(candidate) || !startsBefore(candidate.view.interval, this.target)) continue
      if (best === undefined || compareKeys(candidate.view.interval.low, best.view.interval.low) > 0) best = candidate
    }
    return best
  }

  #nearestRight (): Candidate | undefined {
    let best: Candidate | undefined
    for (const candidate of this.#candidates.values()) {
      if (hasFailed(candidate) || startsBefore(candidate.view.interval, this.target)) continue
      if (best === undefined || compareKeys(candidate.view.interval.low, best.view.interval.low) < 0) best = candidate
    }
    return best
  }

  #forgetFarthest (): void {
    let lowest: Candidate | undefined
    let highest: Candidate | undefined
    for (const candidate of this.#candidates.values()) {
      if (lowest === undefined || compareKeys(candidate.view.interval.low, lowest.view.interval.low) < 0) lowest = candidate
      if (highest === undefined || compareKeys(candidate.view.interval.low, highest.view.interval.low) > 0) highest = candidate
    }
    const farthest = isNearerToLow(this.target.key, lowest!.view.interval, highest!.view.interval.low) ? highest! : lowest!
    this.#candidates.delete(farthest.view.owner.id)
  }
}

function hasFailed ({ state }: Candidate): boolean {
  return state === 'refused' || state === 'silent'
}

/** Does an interval hold the target: its key, or the keys just below it? */
export function covers (interval: Interval, target: Target): boolean {
  return target.below
    ? compareKeys(interval.low, target.key) < 0 && compareHighs(target.key, interval.high) <= 0
    : compareKeys(interval.low, target.key) <= 0 && isBelow(target.key, interval.high)
}

function startsBefore (interval: Interval, target: Target): boolean {
  const order = compareKeys(interval.low, target.key)
  return target.below ? order < 0 : order <= 0
}

/** Bytes read as a number behind the common prefix: exact enough to choose a side, and below 2^53. */
const fractionBytes = 6

/** Is key in the lower half of the stretch from the end of left to the key right? */
function isNearerToLow (key: Key, left: Interval, right: Key): boolean {
  const low = left.high !== undefined && compareKeys(left.high, key) <= 0 ? left.high : left.low
  let shared = 0
  while (shared < low.length && shared < right.length && low[shared] === right[shared]) shared++
  const from = numberAt(low, shared)
  const to = numberAt(right, shared)
  return numberAt(key, shared) - from <= (to - from) / 2
}

function numberAt (key: Key, offset: number): number {
  let number = 0
  for (let index = offset; index < offset + fractionBytes; index++) number = number * 256 + (key[index] ?? 0)
  return number
}
