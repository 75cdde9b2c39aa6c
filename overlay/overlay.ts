// The overlay of one node: its claims, its place in the skip graph and its routing, put together, with its life:
//
//   starting -> joining -> serving -> leaving -> stopped        (a store with claims goes from starting to serving)
//
// It owns what no part can own alone: who may change claims now (one change a node at a time), and what follows from a
// claim gained or lost. Stop keeps claims and disk; only leave hands over.

import { fromString } from 'uint8arrays/from-string'
import type { Copies } from './copies.ts'
import { Book } from './contact/book.ts'
import { handleHello } from './contact/greet.ts'
import { keepMember, restoreMembers } from './contact/kept-members.ts'
import { enter, oweSuperseded, resume, type EntryComponents, type EntryOptions } from './entry.ts'
import { AbortError, StoppedError } from './errors.ts'
import { adjoin, beside } from './graph/adjoin.ts'
import { Graph } from './graph/graph.ts'
import { keepLinks, restoreLinks } from './graph/kept-links.ts'
import { Neighbors } from './graph/neighbors.ts'
import type { Holdings } from './holdings.ts'
import type { Host } from './host.ts'
import type { Key } from './interval.ts'
import type { Member, MemberId } from './member.ts'
import { neighborsMethod, surveyMethod, type GraphNode } from './messages.ts'
import type { OverlayInit } from './init.ts'
import { Changes } from './ownership/changes.ts'
import { Keeper } from './ownership/keeper.ts'
import type { Wanted } from './ownership/membership.ts'
import { Ownership, type ClaimChange } from './ownership/ownership.ts'
import { tellOwed } from './ownership/tell.ts'
import { prefixed } from './prefixed-store.ts'
import { Atlas } from './routing/atlas.ts'
import { lookup } from './routing/lookup.ts'
import { ownersNear } from './routing/near.ts'
import { Router, type RouterComponents } from './routing/router.ts'
import type { OwnerView, Target, Trace } from './routing/routing.ts'
import type { Store } from './store.ts'
import { StoreIdentity } from './store-identity.ts'

export type OverlayState = 'starting' | 'joining' | 'serving' | 'leaving' | 'stopped'

export interface OverlayComponents {
  readonly host: Host
  /** The whole store; the overlay keeps to the prefixes `i` (identity, links) and `o` (ownership). */
  readonly store: Store
}

export class Overlay {
  readonly atlas: Atlas
  readonly neighbors = new Neighbors()
  readonly routing: Router
  readonly #host: Host
  readonly #store: Store
  /** The part of the store for identity and links. */
  readonly #meta: Store
  readonly #init: OverlayInit
  readonly #book: Book
  readonly #graph: Graph
  readonly #stopping = new AbortController()
  readonly #met = new Map<MemberId, Member>()
  #identity!: StoreIdentity
  #ownership!: Ownership
  #holdings!: Holdings
  #changes!: Changes
  #keeper!: Keeper
  /** Members whose contacts are on disk. */
  readonly #remembered = new Set<MemberId>()
  #state: OverlayState = 'starting'
  #isRefreshing = false
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
    this.#graph = new Graph({
      host,
      neighbors: this.neighbors,
      self: () => this.self(),
      isForeign: view => this.#isForeign(view),
      learn: view => { this.#learn(view) },
      suspect: view => { this.#suspect(view) },
      lookup: async target => await this.lookup(target, init.attemptMs)
    }, init)
    this.routing = new Router(this.#lookupComponents(), init)
  }

  get state (): OverlayState { return this.#state }
  get memberId (): MemberId { return this.#identity.member }
  get ownership (): Ownership { return this.#ownership }

  /** For storage; after `open`. */
  get copies (): Copies {
    const ownership = this.#ownership
    const { member: self, boot } = this.#identity
    return {
      self,
      boot,
      writableAt: key => ownership.writableAt(key),
      isOwner: key => ownership.registers.get(key)?.claim.owner === self,
      mayTake: (key, under) => ownership.mayTake(key, under),
      claimsIn: interval => ownership.registers.entries(interval).map(({ interval, value }) => ({ interval, claim: value.claim })),
      contactOf: id => this.#book.get(id),
      unanswered: id => { this.#keeper.unanswered(id) },
      refused: () => { this.#keeper.renewSoon() },
      wantCeiling: ms => { this.#keeper.wantCeiling(ms) }
    }
  }

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
    this.#ownership = new Ownership({ host: this.#host, store: this.#store, self: this.#identity.member, contactOf: id => this.#book.get(id) }, this.#init)
    this.#ownership.onClaim = change => { this.#onClaim(change) }
    await this.#ownership.open()
    const named = new Set(this.#ownership.registers.entries().flatMap(({ value }) => value.claim.members))
    for (const member of await restoreMembers(this.#meta, id => named.has(id))) this.#book.learn(member)
  }

  /** Answer others; after `open`. Resolves when claims kept on disk are served again, or joining has begun. */
  async start (holdings: Holdings, options: EntryOptions): Promise<void> {
    this.#holdings = holdings
    this.#changes = this.#makeChanges()
    this.#keeper = this.#makeKeeper()
    this.#ownership.isFull = interval => holdings.isFull(interval)
    this.#handle()
    oweSuperseded(this.#entryComponents())
    tellOwed(this.#changes.components, this.#init).catch(() => {})
    // what has other members waits for them, and the rest of this node does not
    const resuming = resume(this.#entryComponents(), this.#init, this.#stopping.signal).then(isResumed => { if (!isResumed) this.#enter(options) })
    if (this.#ownership.ownedSegments().every(({ value }) => value.claim.members.length === 1)) await resuming
    else resuming.catch((error: unknown) => { this.#host.log.error({ error: String(error) }, 'claims on disk were not taken up again; restart this node') })
    this.#scheduleRefresh()
  }

  /** Join a ring or found one, in the background. */
  #enter (options: EntryOptions): void {
    this.#setState('joining')
    void enter(this.#entryComponents(), options, this.#init, this.#stopping.signal)
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
    if (this.#state !== 'serving' && this.#state !== 'leaving') throw new StoppedError(`only a serving node can leave, this one is ${this.#state}`)
    this.#setState('leaving')
    try {
      await this.#changes.leave(this.#host.deadline(deadlineMs, this.#stopping.signal))
    } catch (error) {
      // with nothing left to serve it is still leaving, and may be told to again
      if (this.#ownership.ownedRuns().length > 0) this.#setState('serving')
      throw error
    }
    await this.#graph.unlink(this.#identity.member, this.#identity.placement)
    // whoever starts this store again says which ring it shall join
    this.neighbors.clear()
    await keepLinks(this.#meta, this.neighbors)
  }

  /** No further requests leave this node by itself; claims and disk stay. */
  stop (): void {
    this.#keeper?.stop()
    this.#stopping.abort(new AbortError('the node is stopping'))
    this.#setState('stopped')
  }

  #handle (): void {
    this.routing.start()
    this.#graph.start()
    this.#changes.start()
    this.#keeper.start()
    handleHello({
      host: this.#host,
      self: this.#identity.member,
      met: this.#met,
      isServing: () => this.#ownership.run() !== undefined,
      knows: member => { this.#book.learn(member) },
      learn: view => { this.#learn(view) }
    }, this.#init)
    this.#host.handle(surveyMethod, async () => {
      const self = this.self()
      return { self, weight: self === undefined ? 0 : await this.#holdings.weigh(self.view.interval), links: this.neighbors.all() }
    })
  }

  #onClaim ({ gained, lost, held, released }: ClaimChange): void {
    for (const interval of held) this.#holdings.held(interval)
    for (const interval of gained) this.#holdings.gained(interval)
    for (const { interval } of lost) this.#holdings.lost(interval)
    for (const { interval, claim } of released) this.#holdings.released(interval, claim.owner)
    this.#keeper.tendSoon()
    // others took over all of it while this node was away: it comes in again, with what it has on disk
    if (lost.length > 0 && this.#state === 'serving' && this.#ownership.ownedRuns().length === 0) this.#enter({ founding: 'after meeting' })
    // who came to own more has a new neighbor: when several leave side by side, nobody else will tell
    if (gained.length > 0 && this.#state === 'serving') this.#adjoin().catch(() => {})
  }

  #scheduleRefresh (): void {
    const jittered = this.#init.refreshIntervalMs * (0.75 + this.#host.random() / 2)
    this.#host.after(jittered, () => {
      if (this.#stopping.signal.aborted) return
      this.#scheduleRefresh()
      if (this.#isRefreshing) return
      this.#isRefreshing = true
      this.#refresh().catch(error => { this.#host.log.debug({ error: String(error) }, 'refresh failed') }).finally(() => { this.#isRefreshing = false })
    })
  }

  async #refresh (): Promise<void> {
    await tellOwed(this.#changes.components, this.#init)
    await this.#keeper.checkCopies()
    if (this.#state !== 'serving') return
    await this.#changes.unite()
    await this.#changes.merge()
    await this.#adjoin()
    await this.#keeper.tend()
    await this.#graph.refresh()
    await keepLinks(this.#meta, this.neighbors)
  }

  async #adjoin (): Promise<void> {
    await adjoin({ host: this.#host, neighbors: this.neighbors, self: () => this.self(), lookup: async target => await this.lookup(target, this.#init.attemptMs) }, this.#init)
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
    if ((this.#identity !== undefined && view.owner.id === this.#identity.member) || this.#isForeign(view)) return
    this.#book.learn(view.owner)
    this.atlas.learn(view)
    this.neighbors.learn(view)
  }

  /** Rings do not merge yet: what a node of another one says of keys is not true here. */
  #isForeign (view: OwnerView): boolean {
    const own = this.#ownership?.chain
    return own !== undefined && own !== view.chain
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
      isForeign: view => this.#isForeign(view),
      ownership: { standing: target => this.#ownership.standing(target) },
      near: target => ({ own: this.#ownership.run(), near: ownersNear(this.atlas, this.neighbors, target, this.#init) }),
      learn: view => { this.#learn(view) },
      suspect: view => { this.#suspect(view) }
    }
  }

  #makeChanges (): Changes {
    return new Changes({
      host: this.#host,
      ownership: this.#ownership,
      identity: this.#identity,
      holdings: this.#holdings,
      contactOf: id => this.#book.get(id),
      knows: member => { this.#book.learn(member) },
      isSuspect: id => this.#keeper.isSuspect(id),
      remember: async member => { await this.#remember(member) },
      standing: () => this.#state === 'serving' || this.#state === 'leaving' ? this.#state : 'not serving',
      self: () => this.self(),
      right: () => this.neighbors.at(0).right,
      joined: node => {
        this.neighbors.set(0, 'right', node)
        this.#learn(node.view)
        this.#keeper.tendSoon()
      },
      ownerOf: async key => await this.#ownerOf(key),
      beside: async run => await beside({ host: this.#host, lookup: async target => await this.lookup(target, this.#init.attemptMs) }, run, this.#init)
    }, this.#init, this.#stopping.signal)
  }

  #makeKeeper (): Keeper {
    return new Keeper({
      ...this.#changes.components,
      remember: async member => { await this.#remember(member) },
      isServing: () => this.#state === 'serving',
      ownerOf: async key => await this.#ownerOf(key),
      beside: async () => await this.#beside(),
      alone: work => this.#changes.alone(work)
    }, this.#init, this.#stopping.signal)
  }

  async #ownerOf (key: Key): Promise<Member> {
    return (await this.lookup({ key, below: false }, this.#init.attemptMs)).owner
  }

  async #remember (member: Member): Promise<void> {
    const known = this.#book.get(member.id)
    this.#book.learn(member)
    if (member.id === this.#identity.member || (this.#remembered.has(member.id) && sameAddresses(known, this.#book.get(member.id)))) return
    this.#remembered.add(member.id)
    await keepMember(this.#meta, member)
  }

  /** Nodes beside this one on the line; where one side has none, two of the other. */
  async #beside (): Promise<Omit<Wanted, 'self'>> {
    const { left, right } = this.neighbors.at(0)
    const sides = { left: left === undefined ? [] : [left.view.owner], right: right === undefined ? [] : [right.view.owner] }
    for (const [side, other, first] of [['left', 'right', right], ['right', 'left', left]] as const) {
      if (sides[side].length > 0 || first === undefined) continue
      const reply = await this.#host.call(first.view.owner.contact, neighborsMethod, { level: 0 }, { deadlineMs: this.#init.neighborMs })
      const second = reply[other]?.view.owner
      if (second !== undefined && second.id !== this.#identity.member) sides[other].push(second)
    }
    return sides
  }

  #entryComponents (): EntryComponents {
    return {
      host: this.#host,
      identity: this.#identity,
      ownership: this.#ownership,
      neighbors: this.neighbors,
      atlas: this.atlas,
      graph: this.#graph,
      change: this.#changes.components,
      met: this.#met,
      knows: member => { this.#book.learn(member) },
      learn: view => { this.#learn(view) },
      adjoin: async () => { await this.#adjoin() },
      serving: () => { this.#setState('serving') }
    }
  }
}

function sameAddresses (a: Member | undefined, b: Member | undefined): boolean {
  return a !== undefined && b !== undefined && a.contact.addresses.length === b.contact.addresses.length && a.contact.addresses.every((address, at) => address === b.contact.addresses[at])
}
