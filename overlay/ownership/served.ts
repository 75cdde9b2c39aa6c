// Which runs of keys a node serves, worked out from its registers: the claims that name it as their owner and are flushed,
// without a promise over them, with leases that are not over, less what is frozen. Pure, so that `standing` is one search
// between two changes.

import type { Gate } from '../gate.ts'
import { IntervalMap } from '../interval-map.ts'
import { compareHighs, compareKeys, subtract, type Interval } from '../interval.ts'
import type { Member } from '../member.ts'
import type { Owned, OwnerView, Target } from '../routing/routing.ts'
import { joined } from './adjacent.ts'
import { sameClaim, type Claim, type Piece } from './claim.ts'
import { mayServe, type Register, type Registers } from './register.ts'

/** Adjacent keys that are served, by one or more claims of this owner. */
export interface Run {
  readonly owned: Owned
  readonly view: OwnerView
  /** On Host.now(): when the first lease of these claims is over. */
  readonly endMs: number
}

export interface ServedInit {
  readonly self: Member
  readonly registers: Registers
  /** Claims of this node's own that are flushed. */
  readonly confirmed: IntervalMap<Claim>
  readonly frozen: IntervalMap<Gate>
  /** Floors of versions after a boot, where no claim has come since. */
  readonly bootFloors: IntervalMap<number>
  /** On Host.now(). */
  readonly now: number
  leaseEndMs (claim: Claim): number
  ceilingOf (register: Register): number
}

interface ClaimSegment { readonly interval: Interval, readonly value: Register }

export function servedRuns (init: ServedInit): IntervalMap<Run> {
  const { self, registers, confirmed, frozen, now, leaseEndMs } = init
  const served: ClaimSegment[] = []
  for (const segment of registers.entries()) {
    if (!mayServe(segment.value, self.id) || leaseEndMs(segment.value.claim) <= now) continue
    for (const { interval, value } of confirmed.entries(segment.interval)) {
      if (!sameClaim(value, segment.value.claim)) continue
      for (const stretch of frozen.stretches(interval)) {
        if (stretch.value === undefined) served.push({ interval: stretch.interval, value: segment.value })
      }
    }
  }
  const runs = new IntervalMap<Run>((a, b) => a === b)
  for (const interval of joined(served.map(segment => segment.interval))) runs.set(interval, runOf(interval, served, init))
  return runs
}

function runOf (interval: Interval, served: readonly ClaimSegment[], { self, bootFloors, leaseEndMs, ceilingOf }: ServedInit): Run {
  const inside = within(interval, served)
  const newest = newestIn(interval, inside)
  const floors = [...inside.map(({ value }) => value.claim.floor), ...bootFloors.entries(interval).map(({ value }) => value)]
  return {
    owned: { interval, floorMs: Math.max(...floors), ceilingMs: Math.min(...inside.map(({ value }) => ceilingOf(value))), copies: Math.min(...inside.map(({ value }) => value.claim.members.length)) },
    view: { interval, chain: newest.chain, epoch: newest.epoch, owner: self },
    endMs: Math.min(...inside.map(({ value }) => leaseEndMs(value.claim)))
  }
}

/** The lowest run of what is owned, as others are told of it, whether it is served at this moment or not. */
export function placeOf (owned: readonly ClaimSegment[], self: Member): OwnerView | undefined {
  const [interval] = joined(owned.map(segment => segment.interval))
  if (interval === undefined) return undefined
  const { chain, epoch } = newestIn(interval, owned)
  return { interval, chain, epoch, owner: self }
}

/** What is ours in the stored claims and was not told as such, and the reverse; told from now on. */
export function news (stored: Registers, told: IntervalMap<true>, isOurs: (claim: Claim) => boolean): { gained: Interval[], lost: Piece[] } {
  const gained: Interval[] = []
  const lost: Piece[] = []
  for (const { interval, value: { claim } } of stored.entries()) {
    for (const stretch of told.stretches(interval)) {
      if (isOurs(claim) && stretch.value === undefined) gained.push(stretch.interval)
      if (!isOurs(claim) && stretch.value !== undefined) lost.push({ interval: stretch.interval, claim })
    }
  }
  for (const interval of gained) told.set(interval, true)
  for (const { interval } of lost) told.delete(interval)
  return { gained, lost }
}

function within (interval: Interval, segments: readonly ClaimSegment[]): ClaimSegment[] {
  return segments.filter(segment => compareKeys(interval.low, segment.interval.low) <= 0 && compareHighs(segment.interval.high, interval.high) <= 0)
}

function newestIn (interval: Interval, segments: readonly ClaimSegment[]): Claim {
  return within(interval, segments).reduce((a, b) => b.value.claim.epoch > a.value.claim.epoch ? b : a).value.claim
}

export function pieceOf ({ interval, value }: ClaimSegment): Piece {
  return { interval, claim: value.claim }
}

/** What is left of interval without parts. */
export function subtractAll (interval: Interval, parts: readonly Interval[]): Interval[] {
  return parts.reduce<Interval[]>((left, part) => left.flatMap(one => subtract(one, part)), [interval])
}

/** The segment that holds the target: its key, or the keys just below it. */
export function segmentAt<V> (map: IntervalMap<V>, target: Target): { interval: Interval, value: V } | undefined {
  if (!target.below) return map.segmentAt(target.key)
  return map.around(target.key, 2).before.find(({ interval }) => compareKeys(interval.low, target.key) < 0 && compareHighs(target.key, interval.high) <= 0)
}
