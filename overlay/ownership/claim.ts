// A claim says who owns a run of keys and which members hold copies of it. Its successor is one value, chosen by a
// majority of its members (single-decree Paxos, in the role that compare-and-set has in DDLL), and only a decided claim
// has successors. So the claims over one key form a line, and nobody owns a key by anything else.
//
// A claim is told by the ballot that first proposed it, never by its epoch: two rival successors have the same epoch,
// and one of them was never decided. Sources: Lamport, Paxos Made Simple; Scatter (SOSP 2011) is the nearest relative.

import { intersect } from '../interval.ts'
import type { Interval } from '../interval.ts'
import type { MemberId } from '../member.ts'
import { compareBallots } from './ballot.ts'
import type { Ballot } from './ballot.ts'

export interface Claim {
  /** Claims over one key have one chain until a lone claim forks it. */
  readonly chain: string
  /** Grows along a chain, key by key; says nothing between chains. */
  readonly epoch: number
  readonly owner: MemberId
  /** Who holds copies by name, owner included. */
  readonly members: readonly MemberId[]
  /** Milliseconds since 1970: versions given under this claim are at least that. */
  readonly floor: number
  /** The ballot under which it was first proposed. */
  readonly by: Ballot
}

/** A run of keys under one claim. A claim may lie over several runs, and keep only a part of what it was proposed for. */
export interface Piece {
  readonly interval: Interval
  readonly claim: Claim
}

export function sameClaim (a: Claim, b: Claim): boolean {
  return a.chain === b.chain && a.epoch === b.epoch && compareBallots(a.by, b.by) === 0
}

/** Tells a claim from all others, as `sameClaim` does. */
export function claimName ({ chain, epoch, by }: Claim): string {
  return `${chain}/${epoch}/${by.counter}/${by.member}`
}

/** Does a decided claim `later` stand in the place of a decided claim `earlier` over the same key? Never across chains. */
export function supersedes (later: Claim, earlier: Claim): boolean {
  return later.chain === earlier.chain && later.epoch > earlier.epoch
}

export function isMember (claim: Claim, member: MemberId): boolean {
  return claim.members.includes(member)
}

/** Are more than half of the claim's members among votes? Votes of others count for nothing. */
export function hasMajority (votes: readonly MemberId[], claim: Claim): boolean {
  const granted = claim.members.filter(member => votes.includes(member)).length
  return 2 * granted > claim.members.length
}

/** The parts of pieces that lie in interval. */
export function clipPieces (pieces: readonly Piece[], interval: Interval): Piece[] {
  const clipped: Piece[] = []
  for (const piece of pieces) {
    const part = intersect(piece.interval, interval)
    if (part !== undefined) clipped.push({ interval: part, claim: piece.claim })
  }
  return clipped
}

/** @throws RangeError when claim cannot be one */
export function checkClaim (claim: Claim): void {
  const { owner, members, epoch, floor, by } = claim
  if (members.length === 0 || new Set(members).size !== members.length) throw new RangeError(`members of a claim must be one or more, each once, got [${members.join(', ')}]`)
  if (!members.includes(owner)) throw new RangeError(`owner ${owner} must be among the members [${members.join(', ')}]`)
  for (const [name, value, least] of [['epoch', epoch, 1], ['floor', floor, 0], ['by.counter', by.counter, 1]] as const) {
    if (!Number.isSafeInteger(value) || value < least) throw new RangeError(`${name} of a claim must be an integer of at least ${least}, got ${value}`)
  }
}
