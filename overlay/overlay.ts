// The overlay of one node: its claims, its place in the skip graph and its routing, put together, with its life:
//
//   starting -> joining -> serving -> leaving -> stopped        (a store with claims goes from starting to serving)
//
// It owns what no part can own alone: who may change claims now (one change a node at a time), and what follows from a
// claim gained or lost. Stop keeps claims and disk; only leave hands over.

import { fromString } from 'uint8arrays/from-string'
import { Book } from './contact/book.ts'
import { meet } from './contact/meet.ts'
import { AbortError, errorName, StoppedError } from './errors.ts'
import { Graph } from './graph/graph.ts'
import { Neighbors } from './graph/neighbors.ts'
import { adjoin, beside } from './graph/adjoin.ts'
import { keepLinks, restoreLinks } from './graph/kept-links.ts'
import type { Holdings } from './holdings.ts'
import type { Contact, Host } from './host.ts'
import { everything, type Interval } from './interval.ts'
import { giveToJoiner, join } from './join.ts'
import { leave } from './leave.ts'
import type { Member, MemberId } from './member.ts'
import {
  consentMethod, helloMethod, joinMethod, surveyMethod,
  type ConsentReply, type ConsentRequest, type GraphNode, type JoinReply, type JoinRequest, type Refusal
} from './messages.ts'
import type { OverlayInit } from './init.ts'
import { change, reclaim, tellAgain, type ChangeComponents } from './ownership/change.ts'
import { acceptMethod, decidedMethod, prepareMethod } from './ownership/messages.ts'
import { Ownership, type ClaimChange } from './ownership/ownership.ts'
import { touchesRun } from './ownership/adjacent.ts'
import { Atlas } from './routing/atlas.ts'
import { lookup } from './routing/lookup.ts'
import { ownersNear } from './routing/near.ts'
import { Router, type RouterComponents } from './routing/router.ts'
import type { OwnerView, Target, Trace } from './routing/routing.ts'
import { prefixed } from './prefixed-store.ts'
import type { Store } from './store.ts'
import { randomHex, StoreIdentity } from './store-identity.ts'

export type OverlayState = 'starting' | 'joining' | 'serving' | 'leaving' | 'stopped'

export interface OverlayComponents {
  readonly host: Host
  /** The whole store; the overlay keeps to the prefixes `i` (identity, contacts) and `o` (ownership). */
  readonly store: Store
}

export interface StartOptions {
  /** A store without claims: found a ring `now`, or only `after meeting` the nodes that are listed, if none of them has one. */
  readonly founding: 'now' | 'after meeting'
  /** Addresses in the list of nodes to join. */
  readonly listedCount: number
}

export class Overlay {
  readonly atlas: Atlas
  readonly neighbors = new Neighbors()
  readonly routing: Router
  readonly #host: Host
  readonly #store: Store
  readonly #init: OverlayInit
  readonly #book: Book
  readonly #graph: Graph
  readonly #stopping = new AbortController()
  readonly #met = new Map<MemberId, Member>()
  #identity!: StoreIdentity
  #ownership!: Ownership
  #holdings!: Holdings
  /** The part of the store for identity and links. */
  readonly #meta: Store
  #state: OverlayState = 'starting'
  /** One change of claims a node at a time, as advice; claims keep it safe. */
  #changing = false
  #refreshing = false
  /** Who waits until this node serves. */
  #awaiting: Array<{ resolve: () => void, reject: (error: Error) => void }> = []

  /** Told of each change of state. */
  onState: (state: OverlayState) => void = () => {}

  constructor ({ host, store }: OverlayComponents, init: OverlayInit) {
    this.#host = host
    this.#store = store
    this.#meta = prefixed(store, fromString('i'))
    this.#init = init
    this.atlas = new Atlas(init)
    this.#book = new Book(init.bookEntriesMax)
    this.#graph = new Graph({ host, neighbors: this.neighbors, self: () => this.self(), learn: view => { this.#learn(view) }, suspect: view => { this.#suspect(view) } }, init)
    this.routing = new Router(this.#lookupComponents(), init)
  }

  get state (): OverlayState { return this.#state }
  get memberId (): MemberId { return this.#identity.member }
  get ownership (): Ownership { return this.#ownership }

  /** This node in the graph; undefined while it serves nothing. */
  self (): GraphNode | undefined {
    const view = this.#ownership.run()
    return view && { view, vector: this.#identity.vector, placement: this.#identity.placement }
  }

  /** Read who this store is and what it owns. Nothing is answered yet. */
  async open (): Promise<void> {
    this.#identity = await StoreIdentity.open(this.#meta, this.#host)
    restoreLinks(this.#meta, this.neighbors)
    for (const { view } of this.neighbors.all()) this.#learn(view)
    this.#ownership = new Ownership({ host: this.#host, store: prefixed(this.#store, fromString('o')), self: this.#identity.member, contactOf: id => this.#book.get(id) }, this.#init)
    this.#ownership.onClaim = change => { this.#onClaim(change) }
    await this.#ownership.open()
  }

  /** Answer others; after `open`. Resolves when claims kept on disk are served again, or joining has begun. */
  async start (holdings: Holdings, options: StartOptions): Promise<void> {
    this.#holdings = holdings
    this.#handle()
    if (this.#ownership.ownedRuns().length > 0) {
      await this.#resume()
    } else {
      void this.#enterAtLast(options)
    }
    this.#scheduleRefresh()
  }

  /** Resolves when this node serves. @throws StoppedError when it stops first */
  async whenServing (): Promise<void> {
    if (this.#state === 'serving') return
    if (this.#state === 'stopped') throw new StoppedError('the node has stopped')
    await new Promise<void>((resolve, reject) => { this.#awaiting.push({ resolve, reject }) })
  }

  /** The owner of target by its own word. @throws as lookup */
  async lookup (target: Target, deadlineMs: number, trace?: Trace): Promise<OwnerView> {
    const standing = this.#ownership.standing(target)
    if (standing.kind === 'serving') return standing.view
    return await lookup(this.#lookupComponents(), target, this.#init, { endMs: this.#host.now() + deadlineMs, trace })
  }

  /** Hand everything to neighbors. The node serves on when it throws. @throws LeaveError */
  async leave (deadlineMs: number): Promise<void> {
    if (this.#state !== 'serving') throw new StoppedError(`only a serving node can leave, this one is ${this.#state}`)
    const self = this.#identity.member
    this.#setState('leaving')
    try {
      const signal = this.#host.deadline(deadlineMs, this.#stopping.signal)
      while (this.#changing && !signal.aborted) await this.#host.sleep(this.#init.leaveBackoffMs)
      this.#changing = true
      await leave({ ...this.#changeComponents(), beside: async run => await this.#beside(run) }, this.#init, signal)
      await this.#graph.unlink(self, this.#identity.placement)
    } catch (error) {
      this.#setState('serving')
      throw error
    } finally {
      this.#changing = false
    }
  }

  /** No further requests leave this node by itself; claims and disk stay. */
  stop (): void {
    this.#stopping.abort(new AbortError('the node is stopping'))
    this.#setState('stopped')
  }

  /** A store with claims serves them again; what was in doubt is claimed anew first. */
  async #resume (): Promise<void> {
    for (const run of this.#ownership.ownedRuns()) await reclaim(this.#changeComponents(), run, this.#init)
    this.#ownership.confirmOwn()
    this.#setState('serving')
    this.#tellSuperseded()
    this.#relink().catch(() => {})
  }

  /** What this store gave away before a restart may not have been told: tell the new owners once more. */
  #tellSuperseded (): void {
    for (const { interval, value: { claim } } of this.#ownership.registers.entries(everything)) {
      const owner = claim.owner === this.#identity.member ? undefined : this.#book.get(claim.owner)
      if (owner !== undefined) tellAgain({ host: this.#host }, owner, [{ interval, claim }], [owner], this.#init).catch(() => {})
    }
  }

  /** Tell the neighbors of before the restart that this node is back, or find the ring through listed contacts. */
  async #relink (): Promise<void> {
    const { signal } = this.#stopping
    const linked = this.neighbors.all().length > 0
    while (!linked && !signal.aborted && !this.#ownsAll()) {
      if ((await this.#hello(await this.#host.discover())).length > 0) break
      await this.#host.sleep(this.#init.meetIntervalMs, signal)
    }
    await this.#adjoin()
    if (linked) await this.#graph.announce()
    await this.#graph.insert(signal)
  }

  #ownsAll (): boolean {
    return this.#ownership.ownedRuns().every(run => run.low.length === 0 && run.high === undefined)
  }

  /** Ask contacts of a ring for their links, so that a lookup can begin somewhere. */
  async #hello (contacts: readonly Contact[]): Promise<Member[]> {
    const self = { id: this.#identity.member, contact: this.#host.self }
    const found: Member[] = []
    await Promise.all(contacts.map(async contact => {
      try {
        const reply = await this.#host.call(contact, helloMethod, { self, met: [] }, { deadlineMs: this.#init.helloMs, signal: this.#stopping.signal })
        if (reply.self.id === self.id || !reply.serving) return
        found.push(reply.self)
        const { self: node, links } = await this.#host.call(reply.self.contact, surveyMethod, {}, { deadlineMs: this.#init.neighborMs, signal: this.#stopping.signal })
        for (const { view } of node === undefined ? links : [node, ...links]) this.#learn(view)
      } catch (error) {
        this.#host.log.debug({ contact: contact.id, error: errorName(error) }, 'no hello')
      }
    }))
    return found
  }

  /** A node that is not let in goes on trying, and says so. */
  async #enterAtLast (options: StartOptions): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#enter(options)
        return
      } catch (error) {
        if (this.#stopping.signal.aborted) return
        this.#host.log.warn({ error: errorName(error) }, `not in a ring yet: ${error instanceof Error ? error.message : String(error)}`)
        await this.#host.sleep(this.#init.backoffMsMax).catch(() => {})
      }
    }
  }

  /** Meet a ring and join it, or found one. */
  async #enter ({ founding, listedCount }: StartOptions): Promise<void> {
    const { signal } = this.#stopping
    this.#setState('joining')
    const known = (): Contact[] => this.neighbors.all().map(({ view }) => view.owner.contact)
    const meeting = founding === 'now' ? { outcome: 'found' as const } : await meet({ host: this.#host, self: this.#identity.member, met: this.#met, listedCount, known }, this.#init, signal)
    if (meeting.outcome === 'found') {
      await this.#found()
    } else {
      await this.#identity.placeAnew()
      this.neighbors.clear()
      for (const member of meeting.through) this.#book.learn(member)
      const reply = await join({ host: this.#host, identity: this.#identity, ownership: this.#ownership }, meeting.through, this.#init, signal)
      if (reply?.giver !== undefined) this.neighbors.set(0, 'left', reply.giver)
      if (reply?.right !== undefined) this.neighbors.set(0, 'right', reply.right)
      for (const node of [reply?.giver, reply?.right]) if (node !== undefined) this.#learn(node.view)
      this.#setState('serving')
      if (reply === undefined) await this.#hello(meeting.through.map(member => member.contact))
      await this.#adjoin()
      await this.#graph.insert(signal).catch(error => { this.#host.log.debug({ error: errorName(error) }, 'not linked at all levels yet') })
    }
  }

  async #found (): Promise<void> {
    const { member } = this.#identity
    const counter = this.#identity.ballotCounter + 1
    await this.#identity.useBallot(counter)
    const chain = randomHex(this.#host, 32)
    await this.#ownership.learn([{ interval: everything, claim: { chain, epoch: 1, owner: member, members: [member], floor: Math.floor(this.#host.wallClock()), by: { counter, member } } }])
    this.#host.log.info({ chain }, 'founded a ring')
    this.#setState('serving')
  }

  #handle (): void {
    const host = this.#host
    this.routing.start()
    this.#graph.start()
    host.handle(helloMethod, ({ self, met }) => {
      for (const member of [self, ...met]) {
        this.#book.learn(member)
        if (member.id !== this.#identity.member && this.#met.size < this.#init.metMax) this.#met.set(member.id, member)
      }
      return { self: { id: this.#identity.member, contact: host.self }, serving: this.#ownership.run() !== undefined, met: [...this.#met.values()] }
    })
    host.handle(surveyMethod, async () => {
      const self = this.self()
      return { self, weight: self === undefined ? 0 : await this.#holdings.weigh(self.view.interval), links: this.neighbors.all() }
    })
    host.handle(joinMethod, async request => await this.#onJoin(request))
    host.handle(consentMethod, request => this.#onConsent(request))
    host.handle(prepareMethod, async request => await this.#ownership.promise(request))
    host.handle(acceptMethod, async request => await this.#ownership.accept(request))
    host.handle(decidedMethod, async ({ pieces, members }) => {
      for (const member of members) this.#book.learn(member)
      await this.#ownership.learn(pieces)
      return {}
    })
  }

  async #onJoin (request: JoinRequest): Promise<JoinReply> {
    const refusal = this.#refusal()
    if (refusal !== undefined) return { refused: refusal }
    this.#book.learn(request.joiner)
    this.#changing = true
    try {
      const reply = await giveToJoiner({ ...this.#changeComponents(), self: () => this.self(), right: () => this.neighbors.at(0).right }, request, this.#init, this.#stopping.signal)
      if (reply.joined !== undefined) {
        this.neighbors.set(0, 'right', reply.joined)
        this.#learn(reply.joined.view)
      }
      return reply
    } finally {
      this.#changing = false
    }
  }

  #onConsent ({ interval }: ConsentRequest): ConsentReply {
    if (this.#state !== 'serving') return { refused: this.#state === 'leaving' ? 'leaving' : 'not serving' }
    if (this.#ownership.ownedSegments().length >= this.#init.piecesMax) return { refused: 'pieces' }
    if (!this.#ownership.ownedRuns().some(run => touchesRun(run, interval))) return { refused: 'not adjacent' }
    return {}
  }

  #refusal (): Refusal | undefined {
    if (this.#state === 'leaving') return 'leaving'
    if (this.#state !== 'serving') return 'not serving'
    return this.#changing ? 'busy' : undefined
  }

  #onClaim ({ gained, lost }: ClaimChange): void {
    for (const interval of gained) this.#holdings.gained(interval)
    for (const { interval, claim } of lost) {
      const owner = this.#book.get(claim.owner)
      if (owner !== undefined) this.#holdings.lost(interval, owner)
    }
  }

  /** Adjacent pieces of one owner become one by a change of both. Every so often, when nothing else is changing. */
  async #mergePieces (): Promise<void> {
    if (this.#refusal() !== undefined) return
    const runs = this.#ownership.ownedRuns()
    const split = runs.find(run => this.#ownership.registers.entries(run).length > 1)
    if (split === undefined) return
    this.#changing = true
    try {
      const self: Member = { id: this.#identity.member, contact: this.#host.self }
      await change(this.#changeComponents(), { interval: split, owner: self, members: [self] }, this.#init, this.#stopping.signal)
    } finally {
      this.#changing = false
    }
  }

  #scheduleRefresh (): void {
    const jittered = this.#init.refreshIntervalMs * (0.75 + this.#host.random() / 2)
    this.#host.after(jittered, () => {
      if (this.#stopping.signal.aborted) return
      this.#scheduleRefresh()
      if (this.#refreshing) return
      this.#refreshing = true
      this.#refresh().catch(error => { this.#host.log.debug({ error: String(error) }, 'refresh failed') }).finally(() => { this.#refreshing = false })
    })
  }

  async #refresh (): Promise<void> {
    if (this.#state !== 'serving') return
    await this.#mergePieces()
    await this.#adjoin()
    await this.#graph.refresh()
    await keepLinks(this.#meta, this.neighbors)
  }

  async #adjoin (): Promise<void> {
    await adjoin({ host: this.#host, neighbors: this.neighbors, self: () => this.self(), lookup: async target => await this.lookup(target, this.#init.attemptMs) }, this.#init)
  }

  async #beside (run: Interval): Promise<GraphNode[]> {
    return await beside({ host: this.#host, lookup: async target => await this.lookup(target, this.#init.attemptMs) }, run, this.#init)
  }

  #setState (state: OverlayState): void {
    if (this.#state === state || this.#state === 'stopped') return
    this.#state = state
    this.onState(state)
    if (state !== 'serving' && state !== 'stopped') return
    for (const { resolve, reject } of this.#awaiting.splice(0)) {
      if (state === 'serving') resolve()
      else reject(new StoppedError('the node has stopped'))
    }
  }

  #learn (view: OwnerView): void {
    if (this.#identity !== undefined && view.owner.id === this.#identity.member) return
    this.#book.learn(view.owner)
    this.atlas.learn(view)
    this.neighbors.learn(view)
  }

  /** A node did not answer: its links above level 0 go; the level-0 link stays, since it knows where the line is broken. */
  #suspect (view: OwnerView): void {
    this.atlas.forget(view)
    this.neighbors.dropAbove(view.owner.id)
  }

  #lookupComponents (): RouterComponents {
    return {
      host: this.#host,
      atlas: this.atlas,
      self: () => this.#identity.member,
      ownership: { standing: target => this.#ownership.standing(target) },
      near: target => ({ own: this.#ownership.run(), near: ownersNear(this.atlas, this.neighbors, target, this.#init) }),
      learn: view => { this.#learn(view) },
      suspect: view => { this.#suspect(view) }
    }
  }

  #changeComponents (): ChangeComponents {
    return { host: this.#host, ownership: this.#ownership, identity: this.#identity, holdings: this.#holdings, contactOf: id => this.#book.get(id) }
  }
}
