// What ownership asks of storage: to weigh and cut an interval, to bring a copy of it to other nodes before a claim
// changes, and to let go of it afterwards. The overlay knows no records; storage/holdings implements this.
//
// A fill is a session in the source's memory (docs/ownership.md, "Fill sessions"): it begins with a snapshot, notes
// each key written since, and its tail brings those. A source that has forgotten the session (restart) makes the tail
// fail, and the change begins anew.

import type { Interval, Key } from './interval.ts'
import type { Member, MemberId } from './member.ts'

export interface FillRequest {
  /** Random name of this fill. */
  readonly session: string
  readonly interval: Interval
  /** Who has the rows; a member of each claim in interval. */
  readonly source: Member
  /** Who shall have them. Never the source. */
  readonly learners: readonly Member[]
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
   * Resolves when each learner has flushed all but a small tail. What a learner held of the interval is replaced.
   */
  fill (request: FillRequest, signal: AbortSignal): Promise<void>

  /** Bring what was written since to each learner; resolves when all have flushed. To be called after the source has promised, so nothing more is written. */
  tail (request: FillRequest, signal: AbortSignal): Promise<void>

  /** End the session: with `kept` false the learners drop what they received. */
  release (request: FillRequest, kept: boolean): void

  /** While this node leaves it becomes nobody's new owner: fills that would begin now are refused; those that run may end. */
  refuseFills (refuse: boolean): void

  /** Is this node being filled: from the first row until the claim has come or the giver has released it? */
  isFilling (): boolean

  /** This node no longer owns interval; its rows are at owner, and may go once the owner confirms them. */
  lost (interval: Interval, owner: MemberId): void

  /** This node now owns interval by a decided claim. */
  gained (interval: Interval): void
}
