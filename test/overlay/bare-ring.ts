// Nodes without graph, entry and refresh: ownership, routing and storage over the simulated network, so that a test can
// run one `change` and break it where it likes. Who owns what is told to a node by the test, or found by claims.

import { fromString } from 'uint8arrays/from-string'
import { overlayDefaults } from '../../overlay/init.ts'
import { everything, type Interval, type Key } from '../../overlay/interval.ts'
import type { Member, MemberId } from '../../overlay/member.ts'
import { change, reclaim, type ChangeComponents, type ChangeOutcome, type ChangeRequest } from '../../overlay/ownership/change.ts'
import type { Claim } from '../../overlay/ownership/claim.ts'
import { acceptMethod, decidedMethod, prepareMethod } from '../../overlay/ownership/messages.ts'
import { Ownership } from '../../overlay/ownership/ownership.ts'
import { prefixed } from '../../overlay/prefixed-store.ts'
import { Atlas } from '../../overlay/routing/atlas.ts'
import { Router, type RouterInit } from '../../overlay/routing/router.ts'
import type { OwnerView } from '../../overlay/routing/routing.ts'
import { StoreIdentity } from '../../overlay/store-identity.ts'
import { storageDefaults, type StorageInit } from '../../storage/init.ts'
import { MemoryStore } from '../../storage/memory-store.ts'
import { orderedKey } from '../../storage/records/key-layout.ts'
import { Storage } from '../../storage/storage.ts'
import type { SimHost } from '../../testnet/simulator/sim-host.ts'
import { World, type WorldInit } from '../../testnet/simulator/world.ts'

export const chain = 'c0ffee'.padEnd(32, '0')

export interface BareRingInit extends Partial<WorldInit> {
  readonly router?: Partial<RouterInit>
  readonly storage?: Partial<StorageInit>
  /** Milliseconds of virtual time that each flush takes. */
  readonly flushMs?: number
}

export class BareNode {
  readonly host: SimHost
  readonly store: MemoryStore
  readonly atlas = new Atlas(overlayDefaults)
  readonly suspected: MemberId[] = []
  readonly #ring: BareRing
  identity!: StoreIdentity
  ownership!: Ownership
  router!: Router
  storage!: Storage
  components!: ChangeComponents

  constructor (ring: BareRing, host: SimHost, store: MemoryStore) {
    this.#ring = ring
    this.host = host
    this.store = store
  }

  get member (): Member { return { id: this.identity.member, contact: this.host.self } }

  async open (): Promise<void> {
    const { host, store } = this
    this.identity = await StoreIdentity.open(prefixed(store, fromString('i')), host)
    const contactOf = (id: MemberId): Member | undefined => this.#ring.contacts.get(id)
    const ownership = new Ownership({ host, store, self: this.identity.member, contactOf }, overlayDefaults)
    this.ownership = ownership
    await ownership.open()
    this.router = new Router({
      host,
      atlas: this.atlas,
      ownership,
      self: () => this.identity.member,
      isForeign: () => false,
      near: ({ key }) => ({ own: ownership.run(), near: this.atlas.around(key, 4) }),
      learn: view => { if (view.owner.id !== this.identity.member) this.atlas.learn(view) },
      suspect: view => { this.suspected.push(view.owner.id) }
    }, { ...overlayDefaults, ...this.#ring.init.router })
    this.router.start()
    host.handle(prepareMethod, async request => await ownership.promise(request))
    host.handle(acceptMethod, async request => await ownership.accept(request))
    host.handle(decidedMethod, async ({ pieces }) => { await ownership.learn(pieces); return {} })
    this.storage = new Storage({ host, store: prefixed(store, fromString('r')), routing: this.router }, { ...storageDefaults, ...this.#ring.init.storage, memberId: this.identity.member, unicodeVersion: 'simulated' })
    this.storage.start()
    const { holdings } = this.storage
    ownership.onClaim = ({ gained, lost, held, released }) => {
      for (const interval of held) holdings.held(interval)
      for (const interval of gained) holdings.gained(interval)
      for (const { interval } of lost) holdings.lost(interval)
      for (const { interval, claim } of released) holdings.released(interval, claim.owner)
    }
    this.components = { host, ownership, identity: this.identity, holdings, contactOf, isSuspect: () => false }
  }

  /** As a node does that comes up with claims on its disk. */
  async resume (): Promise<void> {
    for (const run of this.ownership.ownedRuns()) await reclaim(this.components, run, overlayDefaults)
    this.ownership.confirmOwn()
  }

  async give (interval: Interval, to: BareNode, more: Partial<ChangeRequest> = {}, signal: AbortSignal = new AbortController().signal): Promise<ChangeOutcome> {
    return await change(this.components, { interval, owner: to.member, members: [to.member], ...more }, overlayDefaults, signal)
  }

  /** The owner and epoch that this store holds for a key. */
  holds (key: Key): { owner: string, epoch: number, isPromised: boolean } | undefined {
    const register = this.ownership.registers.get(key)
    if (register === undefined) return undefined
    return { owner: this.#ring.nameOf(register.claim.owner), epoch: register.claim.epoch, isPromised: register.promised !== undefined }
  }

  serves (key: Key): boolean {
    return this.ownership.standing({ key, below: false }).kind === 'serving'
  }

  /** Tell this node, and nobody else, who owns what. */
  hear (owner: BareNode, interval: Interval, epoch: number): void {
    const view: OwnerView = { interval, chain, epoch, owner: owner.member }
    this.atlas.learn(view)
  }
}

export class BareRing {
  readonly world: World
  readonly init: BareRingInit
  readonly nodes = new Map<string, BareNode>()
  /** How to call a member: nodes here are never in doubt about that. */
  readonly contacts = new Map<MemberId, Member>()

  constructor (init: BareRingInit = {}) {
    this.init = init
    this.world = new World({ seed: 1, latencyMs: { min: 5, max: 10 }, ...init })
  }

  /** A new node, or one that comes back on its former disk; or on a store of the test's own. */
  async start (name: string, store?: MemoryStore): Promise<BareNode> {
    return await this.settle(this.boot(name, store))
  }

  /** The same for whoever runs the world. */
  async boot (name: string, store?: MemoryStore): Promise<BareNode> {
    const disk = this.nodes.get(name)?.store.rows
    const host = this.world.host(name)
    const { flushMs } = this.init
    const node = new BareNode(this, host, store ?? new MemoryStore(flushMs === undefined ? undefined : async () => { await host.sleep(flushMs) }, disk))
    this.nodes.set(name, node)
    await node.open()
    this.contacts.set(node.identity.member, node.member)
    return node
  }

  /** The process of a node ends at once; its disk stays. */
  kill (name: string): void {
    const node = this.nodes.get(name)!
    node.storage.stop()
    this.world.kill(name)
  }

  /** Decide by word of the test that node owns interval. */
  async found (node: BareNode, interval: Interval = everything, epoch = 1): Promise<Claim> {
    const { member } = node.identity
    const claim: Claim = { chain, epoch, owner: member, members: [member], floor: 0, by: { counter: 1, member } }
    await this.settle(node.ownership.learn([{ interval, claim }]))
    return claim
  }

  nameOf (member: MemberId): string {
    return this.contacts.get(member)?.contact.id ?? member
  }

  async settle<T> (promise: Promise<T>): Promise<T> {
    return await this.world.settle(promise)
  }

  async pass (ms: number): Promise<void> {
    await this.world.run({ untilMs: this.world.now() + ms })
  }

  /** Names of the nodes that answer for a key now. */
  servers (key: Key): string[] {
    return [...this.nodes].filter(([, node]) => node.host.state === 'up' && node.serves(key)).map(([name]) => name)
  }
}

export function kv (text: string): Key {
  return orderedKey('kv', fromString(text))
}

/** The keys of kv from one text to another, or to the end of the line. */
export function kvSpan (from: string, to?: string): Interval {
  return { low: kv(from), high: to === undefined ? undefined : kv(to) }
}
