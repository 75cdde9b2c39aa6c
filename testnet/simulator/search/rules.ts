// The rules that a search runs, as one replaceable set. The search takes them as an argument, so a test can put a
// broken rule in and ask whether the search finds out.

import { accept } from '../../../overlay/ownership/accept.ts'
import { promise } from '../../../overlay/ownership/promise.ts'
import { acceptRequest, beginProposal, countAccept, countNews, countPromise, countTail, outcome, settle } from '../../../overlay/ownership/proposal.ts'
import { basesOf, catchUp, learn, mayServe, mayWrite, nextFloorAfterBoot, raiseCeiling } from '../../../overlay/ownership/register.ts'

export const ownershipRules = {
  accept,
  acceptRequest,
  basesOf,
  beginProposal,
  catchUp,
  countAccept,
  countNews,
  countPromise,
  countTail,
  learn,
  mayServe,
  mayWrite,
  nextFloorAfterBoot,
  outcome,
  promise,
  raiseCeiling,
  settle
}

export type Rules = typeof ownershipRules

/** What the procedures and the store around the rules are trusted to do; a mutant breaks one of them. */
export interface Habits {
  /** A promise is flushed after the writes given before it. */
  readonly promiseFlushesAfterWrites: boolean
  /** A source that has forgotten a fill session gives no tail for it. */
  readonly tailNeedsSession: boolean
  /** A restarted owner gives versions above the ceiling that it had flushed. */
  readonly floorAfterBoot: boolean
}

export const goodHabits: Habits = { promiseFlushesAfterWrites: true, tailNeedsSession: true, floorAfterBoot: true }
