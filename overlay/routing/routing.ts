// Routing as storage sees it: methods whose handlers answer only for keys that this node owns, and `ask`, which brings
// a request to the owner of its key wherever that key lives now. The owner decides alone: a handler runs in the same
// synchronous step in which its claim was checked. A key that is just changing hands makes the request wait (bounded),
// never fail.

import type { Contact, Method } from '../host.ts'
import type { Interval, Key } from '../interval.ts'
import type { Member } from '../member.ts'

/** Which owner is meant: of `key` itself, or, with `below`, of the keys just below it (low < key <= high), for walks backwards. */
export interface Target {
  readonly key: Key
  readonly below: boolean
}

/** A decided claim as it is told to others: who owns interval, under which chain and epoch. */
export interface OwnerView {
  readonly interval: Interval
  readonly chain: string
  readonly epoch: number
  readonly owner: Member
}

/** What a handler is told of its own claim: the run of keys that this node serves around the target, at this moment. */
export interface Owned {
  /** Adjacent pieces that serve; a part that is changing hands is cut off. */
  readonly interval: Interval
  /** Versions given now are at least this, in ms since 1970. */
  readonly floorMs: number
  /** And below this, so that no later owner gives a lower one: docs/ownership.md, "Leases and ceilings". Infinity where nobody else can become the owner. */
  readonly ceilingMs: number
  /** Members that a write goes to, this owner included: the least of all pieces. */
  readonly copies: number
}

export interface AskOptions {
  /** Milliseconds for the whole request, routing included. */
  readonly deadlineMs: number
  readonly signal?: AbortSignal | undefined
  /** The request may be carried out twice without harm (reads, idempotent writes): a silent or lost owner is asked again. Default false. */
  readonly repeatable?: boolean | undefined
  /** Collects what the request cost; shared by the asks of one walk. */
  readonly trace?: Trace | undefined
}

/** What a read or write cost so far. */
export interface Trace {
  /** Requests to other nodes. */
  hops: number
  /** Ids of the members that answered as owners. */
  readonly peers: Set<string>
}

export interface Asked<Answer> {
  readonly answer: Answer
  /** The owner's run of keys around the target when it answered: where to go on. */
  readonly interval: Interval
  readonly owner: Member
}

export interface Routing {
  /**
   * Answer method for keys that this node owns. Requests for other keys are redirected, requests for keys that are
   * changing hands wait. fn decides synchronously; its promise stands only for a flush or for reading a snapshot that
   * it took in that step.
   */
  handle<Request, Answer> (method: Method<Request, Answer>, targetOf: (request: Request) => Target, fn: (request: Request, owned: Owned, from: Contact) => Answer | Promise<Answer>): void

  /**
   * Bring request to the owner of target. Routing errors are retried within the deadline; an indefinite failure of the
   * request itself is not.
   *
   * @throws OwnerUnreachableError (names the missing interval), TimeoutError, RemoteError from the handler (one named
   * BusyError carries `interval` and `ownerId` of the owner that was asked), AbortError
   */
  ask<Request, Answer> (target: Target, method: Method<Request, Answer>, request: Request, options: AskOptions): Promise<Asked<Answer>>
}
