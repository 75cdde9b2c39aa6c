// The claimer's side of one ballot: it counts promises, settles which successor to propose for which keys, counts the
// new members that are full, and counts accepts until each key has a decided successor. Bases are counted apart: per
// run of keys, a majority of that base's members. What some member has accepted already is proposed again, clipped to
// the keys prepared here; the own value goes to the rest. So a change may be decided in part, or for another's value.
//
// One ballot proposes one value a key: promises that come after `settle` count for nothing. The order of calls is
// beginProposal, countPromise..., settle, (tail) countTail..., acceptRequest, countAccept..., outcome; news at any
// time by countNews. Source: Lamport, Paxos Made Simple, 2.2, phases 1 and 2 (a).

import { IntervalMap } from '../interval-map.ts'
import { compareHighs, isEmpty } from '../interval.ts'
import type { Interval } from '../interval.ts'
import type { MemberId } from '../member.ts'
import type { AcceptReply, AcceptRequest } from './accept.ts'
import { compareBallots, sameBallot } from './ballot.ts'
import type { Ballot } from './ballot.ts'
import { checkClaim, hasMajority, isMember, sameClaim, supersedes } from './claim.ts'
import type { Claim, Piece } from './claim.ts'
import type { PromiseReply, PromiseRequest } from './promise.ts'
import type { Accepted } from './register.ts'

/** What a change wants to be true of its keys. */
export interface Wish {
  readonly owner: MemberId
  readonly members: readonly MemberId[]
}

/** A run of keys with one base, and how far its successor has come. */
export interface ProposalPart {
  readonly base: Claim
  readonly promisedBy: readonly MemberId[]
  /** The accepted value of the highest ballot among the promises. */
  readonly accepted: Accepted | undefined
  /** Milliseconds since 1970, exclusive: the highest among the promises. */
  readonly ceiling: number
  /** What is proposed; undefined until settled. */
  readonly value: Claim | undefined
  readonly acceptedBy: readonly MemberId[]
  /** The decided successor of base, once known: `value`, or another. */
  readonly successor: Claim | undefined
}

export interface Proposal {
  readonly ballot: Ballot
  readonly wish: Wish
  /** Who filled the new members; belongs to each base. */
  readonly source: MemberId
  readonly parts: IntervalMap<ProposalPart>
  readonly settled: boolean
  /** The own value, once settled, if it is proposed for any key. */
  readonly own: Claim | undefined
  /** Members that have flushed the tail. */
  readonly fullMembers: readonly MemberId[]
}

export interface ProposalInit {
  readonly ballot: Ballot
  /** Decided claims over adjacent runs of keys, in order, all of one chain. */
  readonly bases: readonly Piece[]
  readonly wish: Wish
  readonly source: MemberId
}

/** @throws RangeError when bases leave a gap, the source is missing in one of them, or the wish cannot be a claim */
export function beginProposal ({ ballot, bases, wish, source }: ProposalInit): Proposal {
  bases.forEach(({ interval, claim }, index) => {
    const before = bases[index - 1]
    if (isEmpty(interval)) throw new RangeError('a base must hold keys')
    if (before !== undefined && compareHighs(before.interval.high, interval.low) !== 0) throw new RangeError('bases must lie side by side, in order')
    if (before !== undefined && before.claim.chain !== claim.chain) throw new RangeError(`bases must be of one chain, got ${before.claim.chain} and ${claim.chain}`)
    if (!isMember(claim, source)) throw new RangeError(`source ${source} must be a member of each base, but not of [${claim.members.join(', ')}]`)
  })
  checkClaim({ ...wish, chain: '', epoch: 1, floor: 0, by: ballot })
  const parts = new IntervalMap<ProposalPart>(Object.is)
  for (const { interval, claim } of bases) {
    parts.set(interval, { base: claim, promisedBy: [], accepted: undefined, ceiling: claim.floor, value: undefined, acceptedBy: [], successor: undefined })
  }
  if (parts.size === 0) throw new RangeError('a change needs a base')
  return { ballot, wish, source, parts, settled: false, own: undefined, fullMembers: [] }
}

/** Members of the bases: to whom PREPARE and ACCEPT go, each whole. A claimer that is among them asks itself first. */
export function votersOf (proposal: Proposal): MemberId[] {
  return [...new Set(proposal.parts.entries().flatMap(({ value }) => value.base.members))]
}

export function promiseRequest (proposal: Proposal): PromiseRequest {
  return { ballot: proposal.ballot, base: proposal.parts.entries().map(({ interval, value }) => ({ interval, claim: value.base })) }
}

/** Count what `from` answered to PREPARE: a promise of this ballot, or the decided claims of a refusal. */
export function countPromise (proposal: Proposal, from: MemberId, reply: PromiseReply): Proposal {
  if (reply.answer === 'refused') return countNews(proposal, reply.held)
  if (proposal.settled || !sameBallot(reply.ballot, proposal.ballot)) return proposal
  const parts = proposal.parts.copy()
  for (const promised of reply.parts) {
    parts.update(promised.interval, part => {
      if (part === undefined || !sameClaim(part.base, promised.base) || !isMember(part.base, from)) return part
      return {
        ...part,
        promisedBy: withMember(part.promisedBy, from),
        accepted: laterAccepted(part.accepted, promised.accepted),
        ceiling: Math.max(part.ceiling, promised.ceiling)
      }
    })
  }
  return { ...proposal, parts }
}

/** `majority`: of some base. `claimer`: it is a member and has not promised itself. `source`: it has not promised where the own value goes. */
export type SettleWait = 'majority' | 'claimer' | 'source'

export type Settling =
  | { readonly state: 'waiting', readonly reason: SettleWait }
  /** A decided successor is known: begin again from it. */
  | { readonly state: 'superseded', readonly pieces: readonly Piece[] }
  | { readonly state: 'settled', readonly proposal: Proposal }

/** Fix which value goes where, once promises allow it. Ask the source for the tail only afterwards, over `ownIntervals`. */
export function settle (proposal: Proposal): Settling {
  if (proposal.settled) return { state: 'settled', proposal }
  const entries = proposal.parts.entries()
  const pieces = entries.flatMap(({ interval, value }) => value.successor === undefined ? [] : [{ interval, claim: value.successor }])
  if (pieces.length > 0) return { state: 'superseded', pieces }
  const waits = entries.map(({ value }) => waitOf(value, proposal))
  const reason = (['majority', 'claimer', 'source'] as const).find(reason => waits.includes(reason))
  if (reason !== undefined) return { state: 'waiting', reason }

  const bases = entries.map(({ value }) => value.base)
  const own: Claim = {
    chain: bases[0]!.chain,
    epoch: 1 + Math.max(...bases.map(({ epoch }) => epoch)),
    owner: proposal.wish.owner,
    members: proposal.wish.members,
    floor: Math.max(...entries.map(({ value }) => value.ceiling)),
    by: proposal.ballot
  }
  const parts = proposal.parts.copy()
  for (const { interval, value } of entries) parts.set(interval, { ...value, value: value.accepted?.claim ?? own })
  const usesOwn = entries.some(({ value }) => value.accepted === undefined)
  return { state: 'settled', proposal: { ...proposal, parts, settled: true, own: usesOwn ? own : undefined } }
}

function waitOf (part: ProposalPart, { ballot, source }: Proposal): SettleWait | undefined {
  if (!hasMajority(part.promisedBy, part.base)) return 'majority'
  if (isMember(part.base, ballot.member) && !part.promisedBy.includes(ballot.member)) return 'claimer'
  return part.accepted === undefined && !part.promisedBy.includes(source) ? 'source' : undefined
}

/** Where the own value goes: the keys whose tail the new members need. An adopted value's members were full before anyone accepted it. */
export function ownIntervals (proposal: Proposal): Interval[] {
  return proposal.parts.entries().filter(({ value }) => value.value !== undefined && value.value === proposal.own).map(({ interval }) => interval)
}

/** Count a member that has flushed the tail of all own intervals. */
export function countTail (proposal: Proposal, from: MemberId): Proposal {
  return { ...proposal, fullMembers: withMember(proposal.fullMembers, from) }
}

/** The ACCEPT to send to all voters; undefined until settled and each member of the own value, but for the source, is full. */
export function acceptRequest (proposal: Proposal): AcceptRequest | undefined {
  if (!proposal.settled) return undefined
  const missing = proposal.own?.members.filter(member => member !== proposal.source && !proposal.fullMembers.includes(member)) ?? []
  if (missing.length > 0) return undefined
  return { ballot: proposal.ballot, proposals: proposal.parts.entries().map(({ interval, value }) => ({ interval, base: value.base, value: value.value! })) }
}

/** Count what `from` answered to ACCEPT. */
export function countAccept (proposal: Proposal, from: MemberId, reply: AcceptReply): Proposal {
  if (!proposal.settled || !sameBallot(reply.ballot, proposal.ballot)) return proposal
  const parts = proposal.parts.copy()
  for (const interval of reply.accepted) {
    parts.update(interval, part => {
      if (part === undefined || !isMember(part.base, from)) return part
      const acceptedBy = withMember(part.acceptedBy, from)
      return { ...part, acceptedBy, successor: part.successor ?? (hasMajority(acceptedBy, part.base) ? part.value : undefined) }
    })
  }
  return countNews({ ...proposal, parts }, reply.held)
}

/** Count decided claims, from wherever they were heard. */
export function countNews (proposal: Proposal, pieces: readonly Piece[]): Proposal {
  const parts = proposal.parts.copy()
  for (const { interval, claim } of pieces) {
    parts.update(interval, part => part !== undefined && supersedes(claim, part.successor ?? part.base) ? { ...part, successor: claim } : part)
  }
  return { ...proposal, parts }
}

export interface Outcome {
  /** `done` when each key has a decided successor. */
  readonly state: 'waiting' | 'done'
  /** Decided for the own value, as far as known. */
  readonly own: readonly Piece[]
  /** Decided for a value of another, proposed again here: the change has to begin anew from it. */
  readonly adopted: readonly Piece[]
  /** Decided elsewhere: likewise. */
  readonly superseded: readonly Piece[]
}

/** What is decided so far. Own and adopted pieces are told to old and new members; all are news to the claimer. */
export function outcome (proposal: Proposal): Outcome {
  const own: Piece[] = []
  const adopted: Piece[] = []
  const superseded: Piece[] = []
  for (const { interval, value: { value, successor } } of proposal.parts.entries()) {
    if (successor === undefined) continue
    const ours = value !== undefined && sameClaim(value, successor)
    const list = !ours ? superseded : proposal.own !== undefined && sameClaim(successor, proposal.own) ? own : adopted
    list.push({ interval, claim: successor })
  }
  const waiting = proposal.parts.entries().some(({ value }) => value.successor === undefined)
  return { state: waiting ? 'waiting' : 'done', own, adopted, superseded }
}

function withMember (members: readonly MemberId[], member: MemberId): readonly MemberId[] {
  return members.includes(member) ? members : [...members, member]
}

function laterAccepted (a: Accepted | undefined, b: Accepted | undefined): Accepted | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return compareBallots(a.ballot, b.ballot) >= 0 ? a : b
}
