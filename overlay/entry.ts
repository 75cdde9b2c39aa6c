// How a node comes into a ring: it goes on with what its store owns, or it joins the ring that it meets, or it founds
// one. A store that owns nothing may have been in another ring before; what it holds of that one is put aside first.

import { greet, type GreetInit } from './contact/greet.ts'
import { meet, type MeetInit } from './contact/meet.ts'
import { errorName } from './errors.ts'
import type { Graph } from './graph/graph.ts'
import type { Neighbors } from './graph/neighbors.ts'
import type { Contact, Host } from './host.ts'
import { everything } from './interval.ts'
import { join, JoinError, type JoinInit } from './join.ts'
import type { Member, MemberId } from './member.ts'
import type { JoinReply } from './messages.ts'
import { reclaim, type ChangeComponents, type ChangeInit } from './ownership/change.ts'
import type { Ownership } from './ownership/ownership.ts'
import type { Atlas } from './routing/atlas.ts'
import type { OwnerView } from './routing/routing.ts'
import { randomHex, type StoreIdentity } from './store-identity.ts'

/** Rounds between two words that members are waited for. */
const confirmRounds = 60

export interface EntryOptions {
  /** A store without claims: found a ring `now`, or only `after meeting` the nodes that are listed, if none of them has one. */
  readonly founding: 'now' | 'after meeting'
}

export interface EntryComponents {
  readonly host: Host
  readonly identity: StoreIdentity
  readonly ownership: Ownership
  readonly neighbors: Neighbors
  readonly atlas: Atlas
  readonly graph: Graph
  readonly change: ChangeComponents
  readonly met: Map<MemberId, Member>
  knows (member: Member): void
  learn (view: OwnerView): void
  adjoin (): Promise<void>
  /** This node answers for keys now. */
  serving (): void
}

export interface EntryInit extends GreetInit, MeetInit, JoinInit, ChangeInit {
  readonly backoffMsMax: number
}

/**
 * Serve what the store owns again; what was in doubt is claimed anew first. Links are mended in the background.
 *
 * @returns false when nothing is owned, or all turns out to be decided for others: then this node has to enter
 */
export async function resume (components: EntryComponents, init: EntryInit, signal: AbortSignal): Promise<boolean> {
  const { ownership, serving, host } = components
  // with several members none of them may be there yet: what is in doubt is claimed anew beside the rest
  const isAlone = ownership.ownedSegments().every(({ value }) => value.claim.members.length === 1)
  const reclaiming = Promise.all(ownership.ownedRuns().map(async run => { await reclaim(components.change, run, init) }))
  if (isAlone) await reclaiming
  else reclaiming.catch((error: unknown) => { host.log.debug({ error: errorName(error) }, 'this node stopped before all in doubt was claimed anew') })
  ownership.confirmOwn()
  if (!await confirmed(components, init, signal)) return false
  serving()
  relink(components, init, signal).catch(error => { host.log.debug({ error: errorName(error) }, 'not linked again yet') })
  return true
}

/** Resolves with true when members lend to what is owned, and with false when all of it has gone to others meanwhile. */
async function confirmed ({ ownership, host }: EntryComponents, init: EntryInit, signal: AbortSignal): Promise<boolean> {
  for (let round = 0; ownership.ownedRuns().length > 0; round++) {
    if (ownership.runs().length > 0) return true
    if (signal.aborted) return true
    if (round % confirmRounds === confirmRounds - 1) host.log.warn({}, 'waiting for other members of what this node owns; is a majority of them running?')
    ownership.onUnleased()
    await host.sleep(init.meetIntervalMs, signal).catch(() => {})
  }
  return false
}

/** Join or found; a node that is not let in says so and goes on trying. Resolves when it serves, or at the signal. */
export async function enter (components: EntryComponents, options: EntryOptions, init: EntryInit, signal: AbortSignal): Promise<void> {
  const { host } = components
  while (!signal.aborted) {
    try {
      await enterOnce(components, options, init, signal)
      return
    } catch (error) {
      if (signal.aborted) return
      host.log.warn({ error: errorName(error) }, `not in a ring yet: ${error instanceof Error ? error.message : String(error)}`)
      await host.sleep(init.backoffMsMax).catch(() => {})
    }
  }
}

async function enterOnce (components: EntryComponents, { founding }: EntryOptions, init: EntryInit, signal: AbortSignal): Promise<void> {
  const { host, identity, neighbors, met } = components
  const known = (): Contact[] => neighbors.all().map(({ view }) => view.owner.contact)
  const meeting = founding === 'now' ? { outcome: 'found' as const } : await meet({ host, self: identity.member, met, known }, init, signal)
  if (meeting.outcome === 'found') await found(components)
  else await joinThrough(components, meeting.through, init, signal)
}

async function found ({ host, identity, ownership, serving }: EntryComponents): Promise<void> {
  const chain = randomHex(host, 32)
  await ownership.enter(chain)
  const counter = identity.ballotCounter + 1
  await identity.useBallot(counter)
  const { member } = identity
  await ownership.learn([{ interval: everything, claim: { chain, epoch: 1, owner: member, members: [member], floor: Math.floor(host.wallClock()), by: { counter, member } } }])
  host.log.info({ chain }, 'founded a ring')
  serving()
}

async function joinThrough (components: EntryComponents, through: readonly Member[], init: EntryInit, signal: AbortSignal): Promise<void> {
  const { host, identity, ownership, neighbors, atlas, learn } = components
  for (const member of through) components.knows(member)
  await identity.placeAnew()
  // what was known before may be of another ring
  neighbors.clear()
  atlas.clear()
  const entering = async (chain: string): Promise<void> => { await ownership.enter(chain) }
  const reply = await join({ host, identity, ownership, entering }, through, init, signal)
  await owning(components, init, signal)
  stand(components, reply)
  components.serving()
  if (reply === undefined) await greet({ host, self: identity.member, learn }, through.map(member => member.contact), init, signal)
  try {
    await components.adjoin()
    await components.graph.announce()
    await components.graph.insert(signal)
  } catch (error) {
    host.log.debug({ error: errorName(error) }, 'not linked at all levels yet')
  }
}

/** The giver has decided; the claim itself may still be on its way. @throws JoinError */
async function owning ({ host, ownership }: EntryComponents, init: EntryInit, signal: AbortSignal): Promise<void> {
  const endMs = host.now() + init.joinMs
  while (ownership.runs().length === 0) {
    if (host.now() > endMs) throw new JoinError('the node that gave a part did not tell its claim')
    await host.sleep(init.joinBackoffMs, signal)
  }
}

/** Take the place at level 0 that the giver told. */
function stand ({ neighbors, learn }: EntryComponents, reply: JoinReply | undefined): void {
  if (reply?.giver !== undefined) neighbors.set(0, 'left', reply.giver)
  if (reply?.right !== undefined) neighbors.set(0, 'right', reply.right)
  for (const node of [reply?.giver, reply?.right]) if (node !== undefined) learn(node.view)
}

/** What this store gave away before a restart may not have been told: its new owners are owed the word until they hear it. */
export function oweSuperseded ({ identity, ownership, change }: EntryComponents): void {
  for (const { interval, value: { claim } } of ownership.registers.entries(everything)) {
    const member = claim.owner === identity.member ? undefined : change.contactOf(claim.owner)
    if (member !== undefined) ownership.owed.add({ member, pieces: [{ interval, claim }], members: [member], isFromBoot: true })
  }
}

/** Tell the neighbors of before the restart that this node is back, or find the ring through listed contacts. */
async function relink ({ host, identity, ownership, neighbors, graph, learn, adjoin }: EntryComponents, init: EntryInit, signal: AbortSignal): Promise<void> {
  const ownsAll = ownership.ownedRuns().every(run => run.low.length === 0 && run.high === undefined)
  const wasLinked = neighbors.all().length > 0
  while (!wasLinked && !ownsAll && !signal.aborted) {
    if ((await greet({ host, self: identity.member, learn }, await host.discover(), init, signal)).length > 0) break
    await host.sleep(init.meetIntervalMs, signal)
  }
  await adjoin()
  if (wasLinked) await graph.announce()
  await graph.insert(signal)
}
