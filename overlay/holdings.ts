// What ownership asks of storage: to weigh and cut an interval, to bring a copy of it to other nodes before a claim
// changes, and to let go of it afterwards. The overlay knows no records; storage/holdings implements this.
//
// A fill is a session in the source's memory (docs/ownership.md, "Fill sessions"): it begins with a snapshot, notes
// each key written since, and its tail brings those. A source that has forgotten the session (restart) makes the tail
// fail, and the change begins anew.

import type { Interval, Key } from './interval.ts'
import type { Member, MemberId } from './member.ts'

export interface Learner extends Member {
  /** It is a member of the claims there now and has a copy, which is brought in line and never cleared. */
  readonly holds: boolean
}

export interface FillRequest {
  /** Random name of this fill. */
  readonly session: string
  readonly interval: Interval
  /** Highest epoch of the claims in interval, which the new claim follows. */
  readonly epoch: number
  /** Who has the rows; a member of each claim in interval. */
  readonly source: Member
  /** Who shall have them. Never the source. */
  readonly learners: readonly Learner[]
}

export interface Holdings {
  /** What interval weighs in the choice of where to join: bytes held, plus a little for the share of the key space. */
  weigh (interval: Interval): Promise<number>

  /**
   * Where to cut interval so that about `share` of its weight lies at or above the cut. Lies strictly inside the
   * interval, and within spatial collections on a whole curve index. Undefined where nothing can be cut.
   */
  boundaryFor (interval: Interval, share: number): Promise<Key | undefined>

  /**
   * Bring all rows of the interval from source to each learner and let later writes follow, while it is served.
   * Resolves when each learner has flushed all but a small tail. What a learner held of the interval is replaced; of
   * one that holds a copy, only what differs, and nothing newer before the tail.
   */
  fill (request: FillRequest, signal: AbortSignal): Promise<void>

  /** Bring what was written since to each learner; resolves when all have flushed and have what the source has. To be called after the source has promised, so nothing more is written. */
  tail (request: FillRequest, signal: AbortSignal): Promise<void>

  /** End the session: with `kept` false the learners drop what they received, but for those that hold a copy. */
  release (request: FillRequest, kept: boolean): void

  /** While this node leaves it becomes nobody's new owner: fills that would begin now are refused; those that run may end. */
  refuseFills (refuse: boolean): void

  /** Is this node being filled: from the first row until the claim has come or the giver has released it? */
  isFilling (): boolean

  /** Resolves with true when no write to interval is in flight between its owner and the other members; with false after ms. */
  drained (interval: Interval, ms: number): Promise<boolean>

  /** Has this store had all rows of interval since it was last filled with it, or as a member? Told again after a restart. */
  isFull (interval: Interval): boolean

  /** This node now owns interval by a decided claim. */
  gained (interval: Interval): void

  /** This node no longer owns interval. */
  lost (interval: Interval): void

  /** This node is now a member of interval's claim, as its owner or with a copy. */
  held (interval: Interval): void

  /** This node is no longer a member; the rows are at owner, and may go once the owner confirms them. */
  released (interval: Interval, owner: MemberId): void
}
