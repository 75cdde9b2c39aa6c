// What storage asks of ownership about copies: who must have a row before a write counts, and may this node take one as
// a member. Asked anew in each step, for claims change while a write waits.

import type { Interval, Key } from './interval.ts'
import type { Member, MemberId } from './member.ts'
import type { Claim, Piece } from './ownership/claim.ts'

export interface Copies {
  readonly self: MemberId
  /** Which boot of this store it is. */
  readonly boot: number
  /** The claim under which this node may write key in this step, as its owner; undefined while it may not. */
  writableAt (key: Key): Claim | undefined
  /** Is this node the owner by the newest claim that it knows, whether it may write now or not? */
  isOwner (key: Key): boolean
  /** May this node take a row of key in this step, as a member under that claim? */
  mayTake (key: Key, under: Pick<Claim, 'chain' | 'epoch' | 'by'>): boolean
  /** The newest claims that this node knows over interval. */
  claimsIn (interval: Interval): readonly Piece[]
  contactOf (member: MemberId): Member | undefined
  /** A write waits for a member that did not take it. */
  unanswered (member: MemberId): void
  /** Versions of this millisecond, since 1970, are needed under own claims, whatever the clock says. */
  wantCeiling (ms: number): void
  /** A member answered that it may not take a write. */
  refused (member: MemberId): void
}
