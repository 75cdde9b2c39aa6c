// What this node does to its claims, one change at a time: give a part to a joiner, take what a leaver hands over, join
// adjacent pieces into one, hand everything over. The lock is advice, for efficiency: claims alone keep it safe.

import { StoppedError } from '../errors.ts'
import type { Holdings } from '../holdings.ts'
import type { Host } from '../host.ts'
import type { Interval, Key } from '../interval.ts'
import { giveToJoiner } from '../join.ts'
import { give, leave, type LeaveInit } from '../leave.ts'
import type { Member, MemberId } from '../member.ts'
import { consentMethod, joinMethod, type ConsentReply, type ConsentRequest, type GraphNode, type JoinReply, type JoinRequest, type Refusal } from '../messages.ts'
import type { StoreIdentity } from '../store-identity.ts'
import { endsAt, touchesRun } from './adjacent.ts'
import { change, livingContact, type ChangeComponents, type ChangeInit } from './change.ts'
import { isMember } from './claim.ts'
import type { CopiesInit } from './membership.ts'
import { acceptMethod, decidedMethod, prepareMethod } from './messages.ts'
import type { Ownership } from './ownership.ts'

export interface ChangesComponents {
  readonly host: Host
  readonly ownership: Ownership
  readonly identity: StoreIdentity
  readonly holdings: Holdings
  contactOf (member: MemberId): Member | undefined
  isSuspect (member: MemberId): boolean
  knows (member: Member): void
  /** As `knows`, and on disk: it is about to be named in a claim. Resolves when flushed. */
  remember (member: Member): Promise<void>
  /** May this node give or take now, apart from a change that runs? */
  standing (): 'serving' | 'leaving' | 'not serving'
  self (): GraphNode | undefined
  right (): GraphNode | undefined
  /** A joiner owns the part above us now. */
  joined (node: GraphNode): void
  /** Who owns key now, by its own word. @throws as lookup */
  ownerOf (key: Key): Promise<Member>
  /** Neighbors at level 0 of a run, found by claims. */
  beside (run: Interval): Promise<GraphNode[]>
}

export interface ChangesInit extends ChangeInit, LeaveInit, CopiesInit {}

export class Changes {
  readonly #components: ChangesComponents
  readonly #init: ChangesInit
  readonly #stopping: AbortSignal
  #isChanging = false
  /** Everything is handed over and nothing may come any more. */
  #isGone = false

  constructor (components: ChangesComponents, init: ChangesInit, stopping: AbortSignal) {
    this.#components = components
    this.#init = init
    this.#stopping = stopping
  }

  start (): void {
    const { host, ownership, identity, remember } = this.#components
    host.handle(joinMethod, async request => await this.#onJoin(request))
    host.handle(consentMethod, request => this.#onConsent(request))
    host.handle(prepareMethod, async request => await ownership.promise(request))
    host.handle(acceptMethod, async request => await ownership.accept(request))
    host.handle(decidedMethod, async ({ pieces, members }) => {
      for (const member of members) await remember(member)
      const isOurs = pieces.some(({ claim }) => isMember(claim, identity.member))
      // an acknowledgement would leave the part without an owner: who decided this has to hear that nobody is here
      if (isOurs && (this.#isGone || pieces.some(({ claim }) => ownership.hasLeft(claim.chain)))) throw new StoppedError('this node has left the ring')
      await ownership.learn(pieces)
      // unknown after all: this store is not full, and whoever decided this goes on telling, or makes do without it
      if (pieces.some(({ interval, claim }) => isMember(claim, identity.member) && ownership.registers.get(interval.low) === undefined)) throw new StoppedError('this store has not the rows of that claim')
      return {}
    })
  }

  /** What `change` and `reclaim` work with. */
  get components (): ChangeComponents {
    return this.#components
  }

  /** Hand everything to neighbors. @throws LeaveError */
  async leave (signal: AbortSignal): Promise<void> {
    while (this.#isChanging && !signal.aborted) await this.#components.host.sleep(this.#init.leaveBackoffMs)
    await this.#alone(async () => { await leave({ ...this.#components, gone: () => { this.#isGone = true } }, this.#init, signal) })
  }

  /** A node owns one contiguous run; where a late claim has given it another, the lighter one goes to the node beside it. */
  async unite (): Promise<void> {
    const { ownership, holdings, beside } = this.#components
    if (this.#refusal() !== undefined || ownership.ownedRuns().length < 2) return
    await this.#alone(async () => {
      const weighed = await Promise.all(ownership.ownedRuns().map(async run => ({ run, weight: await holdings.weigh(run) })))
      const [lightest] = weighed.sort((a, b) => a.weight - b.weight)
      const [neighbor] = lightest === undefined ? [] : await beside(lightest.run)
      if (lightest !== undefined && neighbor !== undefined) await give(this.#components, lightest.run, neighbor, this.#init, this.#stopping)
    })
  }

  /** Adjacent pieces of this owner with the same members become one by a change of both, when nothing else is changing. */
  async merge (): Promise<void> {
    const { ownership } = this.#components
    if (this.#refusal() !== undefined) return
    const segments = ownership.ownedSegments()
    const at = segments.findIndex(({ interval, value: { claim } }, index) => {
      const next = segments[index + 1]
      return next !== undefined && endsAt(interval, next.interval) && claim.members.length === next.value.claim.members.length && claim.members.every(member => isMember(next.value.claim, member))
    })
    if (at < 0) return
    const [lower, upper] = [segments[at]!, segments[at + 1]!]
    const { members: ids } = lower.value.claim
    const living = livingContact(this.#components)
    const members = ids.flatMap(id => living(id) ?? [])
    const owner = living(this.#components.identity.member)!
    if (members.length < ids.length) return
    await this.#alone(async () => { await change(this.#components, { interval: { low: lower.interval.low, high: upper.interval.high }, owner, members }, this.#init, this.#stopping) })
  }

  /** Do work while this node gives and takes nothing else; undefined when it is busy, leaves or does not serve. */
  alone<T> (work: () => Promise<T>): Promise<T> | undefined {
    return this.#refusal() === undefined ? this.#alone(work) : undefined
  }

  async #onJoin (request: JoinRequest): Promise<JoinReply> {
    const refused = this.#refusal()
    if (refused !== undefined) return { refused }
    return await this.#alone(async () => {
      await this.#components.remember(request.joiner)
      const { joined, ...reply } = await giveToJoiner(this.#components, request, this.#init, this.#stopping)
      if (joined !== undefined) this.#components.joined(joined)
      return reply
    })
  }

  #onConsent ({ interval }: ConsentRequest): ConsentReply {
    const { ownership, standing } = this.#components
    const now = standing()
    if (now !== 'serving') return { refused: now }
    if (ownership.ownedSegments().length >= this.#init.piecesMax) return { refused: 'pieces' }
    if (!ownership.ownedRuns().some(run => touchesRun(run, interval))) return { refused: 'not adjacent' }
    return {}
  }

  #refusal (): Refusal | undefined {
    const now = this.#components.standing()
    if (now !== 'serving') return now
    return this.#isChanging ? 'busy' : undefined
  }

  async #alone<T> (work: () => Promise<T>): Promise<T> {
    this.#isChanging = true
    try {
      return await work()
    } finally {
      this.#isChanging = false
    }
  }
}
