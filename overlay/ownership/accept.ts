// What a member answers to ACCEPT: it takes the proposed successor, key by key, unless it has promised a higher ballot
// there or no longer holds the base. When a majority of a base's members has flushed the same ballot over a key, the
// successor is decided for that key, whether anyone knows it yet or not.
//
// The caller flushes the changed rows before the reply leaves. Source: Lamport, Paxos Made Simple, 2.2, phase 2 (b).

import type { Interval } from '../interval.ts'
import type { MemberId } from '../member.ts'
import { compareBallots, higherBallot } from './ballot.ts'
import type { Ballot } from './ballot.ts'
import { checkClaim, isMember, sameClaim, supersedes } from './claim.ts'
import type { Claim, Piece } from './claim.ts'
import { catchUp, stepOf } from './register.ts'
import type { Learned, Registers, Step } from './register.ts'

/** `value` shall be the successor of `base` over interval. */
export interface Proposed {
  readonly interval: Interval
  readonly base: Claim
  readonly value: Claim
}

export interface AcceptRequest {
  readonly ballot: Ballot
  readonly proposals: readonly Proposed[]
}

export interface AcceptReply {
  readonly ballot: Ballot
  readonly accepted: readonly Interval[]
  /** Decided claims that this member holds in the place of a base; one that equals the value says that it is decided. */
  readonly held: readonly Piece[]
  /** The highest promise that stood in the way. */
  readonly above: Ballot | undefined
}

export interface AcceptStep extends Step {
  readonly learned: readonly Learned[]
  readonly reply: AcceptReply
}

/** @throws RangeError when a value cannot be a successor of its base */
export function accept (registers: Registers, self: MemberId, { ballot, proposals }: AcceptRequest): AcceptStep {
  for (const proposed of proposals) checkSuccessor(proposed)
  const { registers: caught, learned } = catchUp(registers, proposals.map(({ interval, base }) => ({ interval, claim: base })))
  const next = caught.copy()
  const accepted: Interval[] = []
  const held: Piece[] = []
  let above: Ballot | undefined
  for (const { interval, base, value } of proposals) {
    next.update(interval, (register, stretch) => {
      if (register === undefined) return undefined
      if (!sameClaim(register.claim, base)) {
        held.push({ interval: stretch, claim: register.claim })
        return register
      }
      if (!isMember(base, self)) return register
      if (register.promised !== undefined && compareBallots(ballot, register.promised) < 0) {
        above = higherBallot(above, register.promised)
        return register
      }
      accepted.push(stretch)
      return { ...register, promised: ballot, accepted: { ballot, claim: value } }
    })
  }
  return { ...stepOf(registers, next), learned, reply: { ballot, accepted, held, above } }
}

function checkSuccessor ({ base, value }: Proposed): void {
  checkClaim(value)
  if (!supersedes(value, base)) throw new RangeError(`a successor of epoch ${base.epoch} in chain ${base.chain} must have a higher epoch there, got epoch ${value.epoch} in chain ${value.chain}`)
}
