// What a member answers to PREPARE: it promises to accept nothing below this ballot, and tells what it has accepted so
// far and how high versions may have gone. All or nothing over the keys of the change that the member belongs to.
// From its promise on it takes no write under the base: that fence is what makes the claimer's copy complete.
//
// The caller flushes the changed rows, after all write batches given before, and only then sends the reply.
// Source: Lamport, Paxos Made Simple, 2.2, phase 1 (b).

import type { Interval } from '../interval.ts'
import type { MemberId } from '../member.ts'
import { compareBallots, higherBallot } from './ballot.ts'
import type { Ballot } from './ballot.ts'
import { isMember, sameClaim, supersedes } from './claim.ts'
import type { Claim, Piece } from './claim.ts'
import { catchUp, stepOf } from './register.ts'
import type { Accepted, Learned, Register, Registers, Step } from './register.ts'

export interface PromiseRequest {
  readonly ballot: Ballot
  /** The decided claims over the change's keys; a member that is behind learns from them. */
  readonly base: readonly Piece[]
}

export interface PromisedPart {
  readonly interval: Interval
  readonly base: Claim
  readonly accepted: Accepted | undefined
  /** Milliseconds since 1970, exclusive. */
  readonly ceiling: number
}

/**
 * `superseded`: a newer decided claim is held (see `held`). `different`: a claim of another chain is held. `unknown`:
 * no claim is held where this member should hold the base. `outsider`: it belongs to no base. `ballot`: it has promised
 * `above`. `lease`: another owner's lease is not over.
 */
export type PromiseRefusal = 'superseded' | 'different' | 'unknown' | 'outsider' | 'ballot' | 'lease'

export type PromiseReply =
  | { readonly answer: 'promised', readonly ballot: Ballot, readonly parts: readonly PromisedPart[] }
  | {
    readonly answer: 'refused'
    readonly ballot: Ballot
    readonly reason: PromiseRefusal
    /** Decided claims that this member holds in the place of the base. */
    readonly held: readonly Piece[]
    readonly above: Ballot | undefined
  }

export interface PromiseStep extends Step {
  readonly learned: readonly Learned[]
  readonly reply: PromiseReply
}

export interface PromiseOptions {
  /** Is a lease granted to the owner of this claim, over some of these keys, not over yet? Never asked about the claimer's own lease. */
  readonly leaseBlocks: (interval: Interval, claim: Claim) => boolean
}

interface View {
  readonly interval: Interval
  readonly base: Claim
  readonly register: Register | undefined
}

export function promise (registers: Registers, self: MemberId, request: PromiseRequest, options: PromiseOptions): PromiseStep {
  const { registers: caught, learned } = catchUp(registers, request.base)
  const views = request.base.flatMap(({ interval, claim }) => caught.stretches(interval).map(stretch => ({ interval: stretch.interval, base: claim, register: stretch.value })))
  const reply = refusalOf(views, self, request.ballot, options) ?? { answer: 'promised', ballot: request.ballot, parts: partsOf(views, self) }
  const next = caught.copy()
  if (reply.answer === 'promised') {
    for (const { interval } of reply.parts) next.update(interval, register => ({ ...register!, promised: request.ballot }))
  }
  return { ...stepOf(registers, next), learned, reply }
}

function refusalOf (views: readonly View[], self: MemberId, ballot: Ballot, { leaseBlocks }: PromiseOptions): PromiseReply | undefined {
  const held: Piece[] = []
  const reasons = new Set<PromiseRefusal>()
  let above: Ballot | undefined
  for (const { interval, base, register } of views) {
    if (register !== undefined && supersedes(register.claim, base)) {
      held.push({ interval, claim: register.claim })
      reasons.add('superseded')
    } else if (!isMember(base, self)) {
      continue
    } else if (register === undefined) {
      reasons.add('unknown')
    } else if (!sameClaim(register.claim, base)) {
      held.push({ interval, claim: register.claim })
      reasons.add('different')
    } else {
      if (register.promised !== undefined && compareBallots(ballot, register.promised) <= 0) above = higherBallot(above, register.promised)
      if (base.owner !== ballot.member && leaseBlocks(interval, base)) reasons.add('lease')
    }
  }
  if (above !== undefined) reasons.add('ballot')
  if (!views.some(({ base }) => isMember(base, self))) reasons.add('outsider')
  const weightiestFirst: PromiseRefusal[] = ['superseded', 'different', 'unknown', 'outsider', 'ballot', 'lease']
  const reason = weightiestFirst.find(reason => reasons.has(reason))
  return reason === undefined ? undefined : { answer: 'refused', ballot, reason, held, above }
}

function partsOf (views: readonly View[], self: MemberId): PromisedPart[] {
  return views.filter(({ base }) => isMember(base, self)).map(({ interval, base, register }) => ({
    interval, base, accepted: register!.accepted, ceiling: register!.ceiling
  }))
}
