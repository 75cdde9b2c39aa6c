// Join: take a part of the interval of a node that holds much. The joiner looks around by a random walk over the skip
// graph, asks the heaviest node it met, and that node runs `change` for the upper half of its weight with the joiner
// as owner. Records first, claim last: until the claim is decided the joiner is nobody's neighbor
// (docs/ownership.md, "Records first, claim last").

import { errorName } from './errors.ts'
import type { Contact, Host } from './host.ts'
import type { Holdings } from './holdings.ts'
import type { Member, MemberId } from './member.ts'
import { joinMethod, neighborsMethod, surveyMethod, type GraphNode, type JoinReply, type JoinRequest, type Refusal, type SurveyReply } from './messages.ts'
import { compareKeys, isBelow, type Interval } from './interval.ts'
import { change, livingContact, type ChangeComponents, type ChangeInit } from './ownership/change.ts'
import { membersWithout, type CopiesInit } from './ownership/membership.ts'
import { basesOf } from './ownership/register.ts'
import type { StoreIdentity } from './store-identity.ts'
import type { Ownership } from './ownership/ownership.ts'

export interface JoinInit {
  /** Nodes looked at before one is asked. */
  readonly surveyNodesMax: number
  /** Milliseconds that the giver has for the whole hand-over. */
  readonly joinMs: number
  readonly joinBackoffMs: number
  readonly joinAttemptsMax: number
  /** Of the heaviest node's weight: who has that much counts as heavy too. */
  readonly heavyShare: number
  readonly neighborMs: number
  /** Milliseconds between looks whether a giver is still there, and the looks in a row that it may miss. */
  readonly giverCheckMs: number
  readonly missedMax: number
}

export interface JoinComponents {
  readonly host: Host
  readonly identity: StoreIdentity
  readonly ownership: Ownership
  /** Called with the chain of the ring before a part of it is asked for. */
  entering (chain: string): Promise<void>
}

/** The ring did not let this node in. */
export class JoinError extends Error {
  override readonly name = 'JoinError'
  readonly definite = true
}

/**
 * Join the ring that `through` belong to. Resolves when this node owns a decided interval.
 *
 * @returns what the giver told of the neighborhood; undefined when the reply was lost but the claim arrived
 * @throws JoinError, AbortError
 */
export async function join (components: JoinComponents, through: readonly Member[], init: JoinInit, signal: AbortSignal): Promise<JoinReply | undefined> {
  const { host, ownership } = components
  const reasons = new Map<string, number>()
  // their intervals hold one row or one curve index; others may be lighter and yet be cut
  const indivisible = new Set<MemberId>()
  for (let attempt = 0; attempt < init.joinAttemptsMax; attempt++) {
    if (attempt > 0) await host.sleep(init.joinBackoffMs * Math.min(attempt, 10) * (0.5 + host.random()), signal)
    // a claim may arrive though the reply was lost
    if (ownership.ownedRuns().length > 0) return undefined
    // a refusal means that the ring is changing: look again
    const giver = await chooseGiver(components, through, indivisible, init, signal)
    const answer = giver === undefined ? 'none answered' : await askFor(components, giver, init, signal)
    if (typeof answer !== 'string') return answer
    reasons.set(answer, (reasons.get(answer) ?? 0) + 1)
    if (giver !== undefined && answer === 'cannot be cut') indivisible.add(giver.view.owner.id)
  }
  throw new JoinError(`no node of the ring gave a part of its interval (${[...reasons].map(([reason, times]) => `${reason} ${times}x`).join(', ')}); is the ring running and reachable?`)
}

/** @returns the giver's reply, or why there is none */
async function askFor ({ host, identity, entering }: JoinComponents, giver: GraphNode, init: JoinInit, signal: AbortSignal): Promise<JoinReply | string> {
  const joiner: Member = { id: identity.member, contact: host.self }
  await entering(giver.view.chain)
  const { contact } = giver.view.owner
  const silent = new AbortController()
  const either = AbortSignal.any([signal, silent.signal])
  void abortWhenSilent(host, contact, init, silent)
  try {
    const reply = await host.call(contact, joinMethod, { joiner, vector: identity.vector, placement: identity.placement }, { deadlineMs: init.joinMs, signal: either })
    return reply.refused ?? reply
  } catch (error) {
    if (signal.aborted) throw error
    return silent.signal.aborted ? 'fell silent' : errorName(error)
  } finally {
    silent.abort()
  }
}

/** A hand-over may take long; a giver that answers nothing meanwhile is not worth waiting for. Ends when the signal is aborted by anybody. */
async function abortWhenSilent (host: Host, contact: Contact, init: JoinInit, silent: AbortController): Promise<void> {
  for (let missed = 0; missed < init.missedMax && !silent.signal.aborted;) {
    await host.sleep(init.giverCheckMs, silent.signal).catch(() => {})
    if (silent.signal.aborted) return
    missed = await host.call(contact, neighborsMethod, { level: 0 }, { deadlineMs: init.neighborMs }).then(() => 0, () => missed + 1)
  }
  silent.abort()
}

/** One of the heaviest nodes of a survey: joiners who come together spread over nearly equal ones, and none takes from a light one. */
async function chooseGiver ({ host }: JoinComponents, through: readonly Member[], without: ReadonlySet<MemberId>, init: JoinInit, signal: AbortSignal): Promise<GraphNode | undefined> {
  const seen = (await survey(host, through, init, signal)).filter(({ self }) => self !== undefined && !without.has(self.view.owner.id))
  const most = Math.max(...seen.map(({ weight }) => weight))
  const heavy = seen.filter(({ weight }) => weight >= init.heavyShare * most)
  return heavy[Math.floor(host.random() * heavy.length)]?.self
}

/** Random walk: ask a node for its links and weight, go on at one of the links not yet seen. Small rings are seen whole. */
async function survey (host: Host, through: readonly Member[], init: JoinInit, signal: AbortSignal): Promise<SurveyReply[]> {
  const replies: SurveyReply[] = []
  const open = new Map<MemberId, Member>(through.map(member => [member.id, member]))
  const asked = new Set<MemberId>()
  while (open.size > 0 && asked.size < init.surveyNodesMax) {
    const ids = [...open.keys()]
    const id = ids[Math.floor(host.random() * ids.length)]!
    const member = open.get(id)!
    open.delete(id)
    asked.add(id)
    try {
      const reply = await host.call(member.contact, surveyMethod, {}, { deadlineMs: init.neighborMs, signal })
      replies.push(reply)
      for (const { view } of reply.links) if (!asked.has(view.owner.id)) open.set(view.owner.id, view.owner)
    } catch (error) {
      if (signal.aborted) throw error
    }
  }
  return replies
}

export interface GiveComponents extends ChangeComponents {
  readonly holdings: Holdings
  self (): GraphNode | undefined
  /** The right neighbor at level 0. */
  right (): GraphNode | undefined
}

/** The giver's side: cut the own run where half of its weight lies above, and change that part to the joiner. */
export async function giveToJoiner (components: GiveComponents, { joiner, vector, placement }: JoinRequest, init: ChangeInit & CopiesInit, signal: AbortSignal): Promise<JoinReply & { readonly joined?: GraphNode | undefined }> {
  const { ownership, holdings, host, identity } = components
  const { copies } = init
  const run = ownership.runs()[0]
  if (run === undefined) return refused('not serving')
  const middle = await holdings.boundaryFor(run.interval, 0.5)
  if (middle === undefined) return refused('cannot be cut')
  const right = components.right()
  // of one piece: its members hold all of it
  const last = ownership.ownedSegments().findLast(({ interval }) => isBelow(interval.low, run.interval.high))
  const cut = last !== undefined && compareKeys(last.interval.low, middle) > 0 ? last.interval.low : middle
  const interval: Interval = { low: cut, high: run.interval.high }
  const pieces = basesOf(ownership.registers, interval) ?? []
  const members = membersWithout(pieces, joiner, { id: identity.member, contact: host.self }, livingContact(components), copies)
  const outcome = await change(components, { interval, owner: joiner, members }, init, signal)
  if (outcome.state !== 'decided') return refused('busy')
  const { chain, epoch } = outcome.pieces[0]!.claim
  const joined: GraphNode = { view: { interval: { low: outcome.pieces[0]!.interval.low, high: run.interval.high }, chain, epoch, owner: joiner }, vector, placement }
  return { giver: components.self(), right, joined }
}

function refused (reason: Refusal): JoinReply {
  return { refused: reason }
}
