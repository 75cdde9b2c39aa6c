// Ballots order the attempts to decide the successor of a claim: by counter, then by the member that tries. A member
// flushes its counter before it sends a ballot, and never gives a number twice, so a ballot names one attempt for ever.
//
// Source: Lamport, Paxos Made Simple, 2.2 (proposal numbers). When to try again, and after which pause, is not told here.

import type { MemberId } from '../member.ts'

export interface Ballot {
  /** 1 and up. */
  readonly counter: number
  readonly member: MemberId
}

/** Negative when a is below b, 0 when they are the same, positive when a is above b. */
export function compareBallots (a: Ballot, b: Ballot): number {
  if (a.counter !== b.counter) return a.counter - b.counter
  return a.member === b.member ? 0 : a.member < b.member ? -1 : 1
}

export function sameBallot (a: Ballot | undefined, b: Ballot | undefined): boolean {
  return a === undefined || b === undefined ? a === b : compareBallots(a, b) === 0
}

/** The higher one; undefined is below each ballot. */
export function higherBallot (a: Ballot | undefined, b: Ballot | undefined): Ballot | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return compareBallots(a, b) >= 0 ? a : b
}

/** The next ballot of self, above the last counter that self gave and above a ballot that stood in its way. */
export function nextBallot (self: MemberId, lastCounter: number, above?: Ballot): Ballot {
  return { counter: Math.max(lastCounter, above?.counter ?? 0) + 1, member: self }
}
