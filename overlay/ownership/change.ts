// `change`: the one procedure that changes an owner or a copy. Join, leave, exchange, migration, takeover and change of
// copies are its callers. Its steps are fill, freeze, prepare, accept, tell:
//
//   fill      the new members get all rows of the part, while it is served
//   freeze    the owner stops answering for the part; requests wait (bounded)
//   prepare   a majority of the old members promises; the owner's own promise is the fence behind which the tail goes
//   accept    a majority of the old members flushes the successor: that decides
//   tell      old and new members hear it; the gate opens and the waiting requests follow the hint
//
// The claimer drives. Before the promise it may give up at any time; from its promise on it never resumes but claims
// anew (`reclaim`), and so learns whether the successor was decided: docs/ownership.md, "In doubt, claim anew".

import { errorName } from '../errors.ts'
import type { FillRequest, Holdings } from '../holdings.ts'
import type { Host } from '../host.ts'
import type { Interval } from '../interval.ts'
import type { Member, MemberId } from '../member.ts'
import { randomHex, type StoreIdentity } from '../store-identity.ts'
import { nextBallot, type Ballot } from './ballot.ts'
import { isMember, type Piece } from './claim.ts'
import { acceptMethod, prepareMethod } from './messages.ts'
import type { Ownership } from './ownership.ts'
import {
  acceptRequest, beginProposal, countAccept, countPromise, countTail, outcome, promiseRequest, settle, votersOf,
  type Proposal, type Wish
} from './proposal.ts'
import { basesOf } from './register.ts'
import { tell, type News, type TellInit } from './tell.ts'

export interface ChangeComponents {
  readonly host: Host
  readonly ownership: Ownership
  readonly identity: StoreIdentity
  readonly holdings: Holdings
  contactOf (member: MemberId): Member | undefined
  /** No process there, or none that answers, as far as this node knows. */
  isSuspect (member: MemberId): boolean
}

export interface ChangeInit extends TellInit {
  /** Milliseconds for a fill, as long as rows go on arriving the learner tells of its life itself. */
  readonly fillMsMax: number
  /** Milliseconds for the tail, while the part is frozen. */
  readonly tailMs: number
  /** Milliseconds that a member has to answer PREPARE or ACCEPT, or to acknowledge what is decided. */
  readonly voteMs: number
  /** Ballots tried before a change gives up; each waits longer. */
  readonly ballotsMax: number
  /** Milliseconds that writes in flight have to end once the part is frozen. */
  readonly drainMs: number
  /** First wait in ms between ballots; doubles up to 64 times: docs/ownership.md, "Waits between ballots double". */
  readonly ballotBackoffMs: number
}

export interface ChangeRequest {
  readonly interval: Interval
  readonly owner: Member
  /** Members of the new claim, owner included. Each is a member of all present claims over the part, or of none. */
  readonly members: readonly Member[]
  /** The present owner, when it is silent and this node, a member, acts in its place. Default: this node owns the part. */
  readonly of?: MemberId | undefined
  /** Asked in the step that freezes the part: what cannot gain any more is given up. Default: go on. */
  readonly confirm?: (() => boolean) | undefined
}

/** `decided` for the whole part as wished; else why not, and nothing has changed hands by this call. */
export type ChangeOutcome =
  | { readonly state: 'decided', readonly pieces: readonly Piece[] }
  | { readonly state: 'given up', readonly reason: 'not owner' | 'not confirmed' | 'fill failed' | 'superseded' | 'no majority' | 'broken off', readonly detail: string }

/** Change the claim over a part that this node owns, or whose owner is silent. @throws AbortError when signal aborts before the freeze */
export async function change (components: ChangeComponents, request: ChangeRequest, init: ChangeInit, signal: AbortSignal): Promise<ChangeOutcome> {
  const { host, identity, holdings } = components
  const bases = basesFor(components, request)
  if (bases === undefined) return givenUp('not owner', 'this node does not own the whole part')
  const fill = fillRequest(components, request, bases)
  if (fill === 'mixed') return givenUp('not owner', 'a member holds only some of the part')
  if (fill !== undefined) {
    try {
      await holdings.fill(fill, host.deadline(init.fillMsMax, signal))
    } catch (error) {
      holdings.release(fill, false)
      if (signal.aborted) throw error
      return givenUp('fill failed', String(error))
    }
  }
  // what was true before the fill need not be now: claims, stop, gain
  if (signal.aborted || basesFor(components, request) === undefined || request.confirm?.() === false) {
    if (fill !== undefined) holdings.release(fill, false)
    return givenUp(request.confirm === undefined || signal.aborted ? 'not owner' : 'not confirmed', 'the part changed during the fill')
  }
  const result = await whileFrozen(components, request, fill, init, signal)
  host.metrics.count('changes', { outcome: result.state === 'decided' ? 'decided' : result.reason })
  host.log.debug({ member: identity.member, outcome: result.state }, 'change over')
  return result
}

/** From here on every way out leads to a decided claim, ours or another's, ends the fill and opens the gate. */
async function whileFrozen (components: ChangeComponents, request: ChangeRequest, fill: FillRequest | undefined, init: ChangeInit, signal: AbortSignal): Promise<ChangeOutcome> {
  const { ownership, host, identity, holdings } = components
  const turn = await ownership.freezing.turn()
  const gate = ownership.freeze(request.interval)
  try {
    // under a new owner a write in flight could not be carried on: it ends first, or nothing changes hands
    if (request.of === undefined && !await holdings.drained(request.interval, init.drainMs) && request.owner.id !== identity.member) {
      if (fill !== undefined) holdings.release(fill, false)
      return givenUp('not confirmed', 'writes in flight do not end')
    }
    const result = await ballots(components, request, fill, init, signal).catch((error: unknown) => {
      host.log.warn({ error: errorName(error) }, 'a change was broken off')
      return givenUp('broken off', String(error))
    })
    if (fill !== undefined) holdings.release(fill, result.state === 'decided')
    if (result.state === 'given up') await reclaim(components, request.interval, init)
    return result
  } finally {
    ownership.thaw(request.interval, gate)
    turn.release()
  }
}

/**
 * Own interval again by a new claim, after a change in doubt or a boot with a promise outstanding; what turns out to be
 * decided for another is taken in. Ends only when every key has a decided claim without a promise over it; a full disk is waited out.
 *
 * @throws StoppedError when the node stops
 */
export async function reclaim (components: ChangeComponents, interval: Interval, init: ChangeInit): Promise<void> {
  const { host, ownership, identity } = components
  const self: Member = { id: identity.member, contact: host.self }
  const never = new AbortController().signal
  for (let attempt = 0; ; attempt++) {
    const part = ownership.registers.entries(interval).filter(({ value }) => value.claim.owner === identity.member && value.promised !== undefined)
    if (part.length === 0) return
    if (attempt > 0) await host.sleep(backoffMs(init, attempt, host))
    for (const { interval: run, value: { claim } } of part) {
      const living = livingContact(components)
      const members = claim.members.flatMap(id => living(id) ?? [])
      await claimAgain(components, { interval: run, owner: self, members }, init, never).catch((error: unknown) => {
        host.log.warn({ error: errorName(error) }, 'a part is claimed anew later')
      })
    }
  }
}

/** Ballots over a part that is frozen already, its members brought in line first. */
async function claimAgain (components: ChangeComponents, request: ChangeRequest, init: ChangeInit, signal: AbortSignal): Promise<void> {
  const { holdings, host } = components
  const bases = basesFor(components, request)
  const fill = bases === undefined ? undefined : fillRequest(components, request, bases)
  if (bases === undefined || fill === 'mixed') return
  let isDecided = false
  try {
    if (fill !== undefined) await holdings.fill(fill, host.deadline(init.fillMsMax, signal))
    isDecided = (await ballots(components, request, fill, init, signal)).state === 'decided'
  } finally {
    if (fill !== undefined) holdings.release(fill, isDecided)
  }
}

/** How to call members that are there. */
export function livingContact (components: Pick<ChangeComponents, 'host' | 'identity' | 'contactOf' | 'isSuspect'>): (id: MemberId) => Member | undefined {
  const { host, identity, contactOf, isSuspect } = components
  return id => id === identity.member ? { id, contact: host.self } : isSuspect(id) ? undefined : contactOf(id)
}

/** Ballots until the part is decided as wished, or turns out to be decided otherwise. */
async function ballots (components: ChangeComponents, request: ChangeRequest, fill: FillRequest | undefined, init: ChangeInit, signal: AbortSignal): Promise<ChangeOutcome> {
  const { host, ownership, identity } = components
  let above: Ballot | undefined
  for (let attempt = 0; attempt < init.ballotsMax; attempt++) {
    if (attempt > 0) await host.sleep(backoffMs(init, attempt, host))
    const bases = basesFor(components, request)
    if (bases === undefined) return givenUp('superseded', 'another claim was decided')
    // who was filled counts on what the claims were then: members that were only brought in line, and marks of fills
    if (!fits(fill, bases)) return givenUp('superseded', 'the claims of the part have changed since the fill')
    const ballot = nextBallot(identity.member, identity.ballotCounter, above)
    await identity.useBallot(ballot.counter)
    const wish: Wish = { owner: request.owner.id, members: request.members.map(member => member.id) }
    const begun = beginProposal({ ballot, bases, wish, source: identity.member })
    const round = await oneBallot(components, begun, request, fill, init, signal)
    above = round.above
    const { own, adopted, superseded } = outcome(round.proposal)
    const news = [...own, ...adopted]
    await ownership.catchUp(superseded)
    if (news.length > 0) {
      const owed = owe(components, news, bases, request)
      await ownership.learn(news)
      await tell(components, owed, init)
    }
    const done = outcome(round.proposal)
    if (done.state === 'done' && done.adopted.length === 0 && done.superseded.length === 0) return { state: 'decided', pieces: done.own }
    if (round.tailFailed) return givenUp('fill failed', 'the tail did not arrive')
  }
  return givenUp('no majority', `no decision in ${init.ballotsMax} ballots`)
}

interface Round {
  readonly proposal: Proposal
  readonly above: Ballot | undefined
  readonly tailFailed: boolean
}

async function oneBallot (components: ChangeComponents, begun: Proposal, request: ChangeRequest, fill: FillRequest | undefined, init: ChangeInit, signal: AbortSignal): Promise<Round> {
  let proposal = begun
  let above: Ballot | undefined
  await vote(components, proposal, init, member => components.host.call(member.contact, prepareMethod, promiseRequest(begun), { deadlineMs: init.voteMs }), (from, reply) => {
    proposal = countPromise(proposal, from, reply)
    if (reply.answer === 'refused') above = reply.above
    return settle(proposal).state !== 'waiting'
  })
  const settling = settle(proposal)
  if (settling.state !== 'settled') return { proposal, above, tailFailed: false }
  proposal = settling.proposal
  // members of a value that is adopted were full before; who let go of the rows since becomes full again, if it is there
  if (proposal.own === undefined && fill !== undefined) await components.holdings.tail(fill, components.host.deadline(init.tailMs, signal)).catch(() => {})
  if (proposal.own !== undefined && fill !== undefined) {
    try {
      await components.holdings.tail(fill, components.host.deadline(init.tailMs, signal))
    } catch (error) {
      components.host.log.warn({ error: errorName(error) }, 'tail of a change did not arrive')
      return { proposal, above, tailFailed: true }
    }
    for (const learner of fill.learners) proposal = countTail(proposal, learner.id)
  }
  const asked = acceptRequest(proposal)
  if (asked === undefined) return { proposal, above, tailFailed: true }
  await vote(components, proposal, init, member => components.host.call(member.contact, acceptMethod, asked, { deadlineMs: init.voteMs }), (from, reply) => {
    proposal = countAccept(proposal, from, reply)
    above = reply.above ?? above
    return outcome(proposal).state === 'done'
  })
  return { proposal, above, tailFailed: false }
}

/** Ask each voter, the claimer itself first; resolves when `counted` says enough or all have answered or failed. */
async function vote<Reply> (components: ChangeComponents, proposal: Proposal, init: ChangeInit, ask: (member: Member) => Promise<Reply>, counted: (from: MemberId, reply: Reply) => boolean): Promise<void> {
  const { host, identity } = components
  const voters = votersOf(proposal)
  const self = voters.filter(id => id === identity.member)
  const others = voters.filter(id => id !== identity.member)
  for (const group of [self, others]) {
    if (group.length === 0) continue
    let left = group.length
    const enough = await new Promise<boolean>(resolve => {
      const answered = (isEnough: boolean): void => {
        if (isEnough) resolve(true)
        else if (--left === 0) resolve(false)
      }
      for (const id of group) {
        const member = id === identity.member ? { id, contact: host.self } : components.contactOf(id)
        if (member === undefined) answered(false)
        else ask(member).then(reply => counted(id, reply)).then(answered, () => { answered(false) })
      }
    })
    if (enough) return
  }
}

/** Old and new members are owed the word from now on. */
function owe (components: ChangeComponents, pieces: readonly Piece[], bases: readonly Piece[], request: ChangeRequest): News[] {
  const { host, identity, ownership } = components
  const members = [...new Set([...pieces, ...bases].flatMap(({ claim }) => claim.members))]
    .filter(id => id !== identity.member)
    .flatMap(id => request.members.find(member => member.id === id) ?? components.contactOf(id) ?? [])
  const named = [{ id: identity.member, contact: host.self }, ...members]
  const news = members.map(member => ({ member, pieces, members: named, isFromBoot: false }))
  for (const one of news) ownership.owed.add(one)
  return news
}

/** `mixed` when a member of the new claim holds a part of the interval only: to clear it would lose a copy, to keep it would mix. */
function fillRequest (components: ChangeComponents, request: ChangeRequest, bases: readonly Piece[]): FillRequest | undefined | 'mixed' {
  const { host, identity } = components
  // members that stay are brought in line: each must equal the source before any old member accepts
  const learners = request.members.filter(member => member.id !== identity.member).map(member => ({ ...member, held: bases.filter(({ claim }) => isMember(claim, member.id)).length }))
  if (learners.some(({ held }) => held > 0 && held < bases.length)) return 'mixed'
  if (learners.length === 0) return undefined
  return {
    session: randomHex(host, 16),
    interval: request.interval,
    epoch: Math.max(...bases.map(({ claim }) => claim.epoch)),
    source: { id: identity.member, contact: host.self },
    learners: learners.map(({ id, contact, held }) => ({ id, contact, holds: held > 0 }))
  }
}

function fits (fill: FillRequest | undefined, bases: readonly Piece[]): boolean {
  return fill === undefined || bases.every(({ claim }) => claim.epoch <= fill.epoch && fill.learners.every(({ id, holds }) => !holds || isMember(claim, id)))
}

/** The decided claims over the part, when this node owns all of it, or is a member where it acts for an owner. */
function basesFor ({ ownership, identity }: ChangeComponents, { interval, of: owner = identity.member }: ChangeRequest): Piece[] | undefined {
  const bases = basesOf(ownership.registers, interval)
  return bases?.every(({ claim }) => claim.owner === owner && isMember(claim, identity.member)) === true ? bases : undefined
}

function backoffMs (init: ChangeInit, attempt: number, host: Host): number {
  return init.ballotBackoffMs * 2 ** Math.min(attempt, 6) * (0.5 + host.random())
}

function givenUp (reason: Extract<ChangeOutcome, { state: 'given up' }>['reason'], detail: string): ChangeOutcome {
  return { state: 'given up', reason, detail }
}
