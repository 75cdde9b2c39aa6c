// What one store keeps, flushed, for each run of keys: the newest claim known decided, and its part in the choice of
// the successor. A register belongs to (key, chain, epoch), so a change that covers a part of a piece splits it, and
// the rest keeps its own promise and its own accepted value.
//
// Each rule returns new registers and the rows that changed; a reply may leave only after these rows are flushed.
// Nothing is ever forgotten yet: where a store holds no register it never made a promise.

import { IntervalMap } from '../interval-map.ts'
import type { Changes, Segment } from '../interval-map.ts'
import type { Interval } from '../interval.ts'
import type { MemberId } from '../member.ts'
import { sameBallot } from './ballot.ts'
import type { Ballot } from './ballot.ts'
import { isMember, sameClaim, supersedes } from './claim.ts'
import type { Claim, Piece } from './claim.ts'

/** A successor that a member accepted: it may be decided, or never become so. */
export interface Accepted {
  readonly ballot: Ballot
  readonly claim: Claim
}

export interface Register {
  /** The newest claim known decided. */
  readonly claim: Claim
  /** No ballot at or below it is promised any more; while there is one, nothing is written under `claim`. */
  readonly promised: Ballot | undefined
  readonly accepted: Accepted | undefined
  /** Milliseconds since 1970, exclusive: versions given under `claim` are below it. At least the claim's floor. */
  readonly ceiling: number
}

export type Registers = IntervalMap<Register>

/** News that a store took in: before is undefined where it held nothing. */
export interface Learned {
  readonly interval: Interval
  readonly before: Claim | undefined
  readonly after: Claim
}

/** News that a store did not take in. `chain`: a claim of another chain, to be settled by ceding. `epoch`: another claim of the same epoch, which cannot be. */
export interface Disputed {
  readonly piece: Piece
  readonly held: Claim
  readonly reason: 'chain' | 'epoch'
}

export interface Step {
  readonly registers: Registers
  readonly changed: Changes<Register>
}

export interface LearnStep extends Step {
  readonly learned: readonly Learned[]
  readonly disputed: readonly Disputed[]
}

/** The step from one state to the next, which is the former itself when no row changed. */
export function stepOf (before: Registers, after: Registers): Step {
  const changed = after.changesSince(before)
  return { registers: changed.put.length + changed.remove.length === 0 ? before : after, changed }
}

export function newRegisters (segments: Iterable<Segment<Register>> = []): Registers {
  return new IntervalMap(sameRegister, segments)
}

export function sameRegister (a: Register, b: Register): boolean {
  return sameClaim(a.claim, b.claim) && a.ceiling === b.ceiling && sameBallot(a.promised, b.promised) &&
    sameBallot(a.accepted?.ballot, b.accepted?.ballot) && sameBallot(a.accepted?.claim.by, b.accepted?.claim.by)
}

/**
 * Take in decided claims, also for keys where nothing was held. For what the claimer tells when it has decided, for
 * the founding of a ring, and for what a source tells at a fill; all other news goes by `catchUp`.
 */
export function learn (registers: Registers, pieces: readonly Piece[]): LearnStep {
  return takeIn(registers, pieces, (claim, held) => held === undefined || supersedes(claim, held))
}

/** Take in decided claims that come along with requests and refusals: only where an older claim is held. */
export function catchUp (registers: Registers, pieces: readonly Piece[]): LearnStep {
  return takeIn(registers, pieces, (claim, held) => held !== undefined && supersedes(claim, held))
}

function takeIn (registers: Registers, pieces: readonly Piece[], takes: (claim: Claim, held: Claim | undefined) => boolean): LearnStep {
  const next = registers.copy()
  const learned: Learned[] = []
  const disputed: Disputed[] = []
  for (const { interval, claim } of pieces) {
    next.update(interval, (register, stretch) => {
      const held = register?.claim
      if (takes(claim, held)) {
        learned.push({ interval: stretch, before: held, after: claim })
        return { claim, promised: undefined, accepted: undefined, ceiling: claim.floor }
      }
      if (held !== undefined && !sameClaim(claim, held) && !supersedes(held, claim)) {
        disputed.push({ piece: { interval: stretch, claim }, held, reason: held.chain === claim.chain ? 'epoch' : 'chain' })
      }
      return register
    })
  }
  return { ...stepOf(registers, next), learned, disputed }
}

/** The decided claims over interval, to be the bases of a change; undefined where some key of it is unknown. */
export function basesOf (registers: Registers, interval: Interval): Piece[] | undefined {
  const bases: Piece[] = []
  for (const { interval: stretch, value } of registers.stretches(interval)) {
    if (value === undefined) return undefined
    bases.push({ interval: stretch, claim: value.claim })
  }
  return bases
}

/** May self take a write under that claim? Not from its promise on, be it the owner itself. */
export function mayWrite (register: Register, self: MemberId, under: Claim): boolean {
  return sameClaim(register.claim, under) && isMember(register.claim, self) && register.promised === undefined
}

/** May self answer as the owner, as far as claims say? It needs a lease besides. An owner that has promised serves again only by a new claim. */
export function mayServe (register: Register, self: MemberId): boolean {
  return register.claim.owner === self && register.promised === undefined
}

/** Raise the ceiling where self may write under that claim. Flushed by a majority before a version below it is given. */
export function raiseCeiling (registers: Registers, self: MemberId, { interval, under, ceiling }: { interval: Interval, under: Claim, ceiling: number }): Step & { readonly raised: readonly Interval[] } {
  const next = registers.copy()
  const raised: Interval[] = []
  next.update(interval, (register, stretch) => {
    if (register === undefined || !mayWrite(register, self, under)) return register
    raised.push(stretch)
    return { ...register, ceiling: Math.max(register.ceiling, ceiling) }
  })
  return { ...stepOf(registers, next), raised }
}

/** Milliseconds since 1970. After a boot an owner gives no version below the ceiling that it had flushed. */
export function nextFloorAfterBoot (register: Register): number {
  return Math.max(register.ceiling, register.claim.floor)
}
