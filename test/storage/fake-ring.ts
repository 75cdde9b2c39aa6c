// A ring for tests of storage/ alone: simulated hosts, stores in memory, and a routing that knows all owners from one
// table instead of asking. It keeps the promises of overlay/routing/routing.ts: the owner decides in one step, keys that
// change hands wait, a silent owner is named with its interval. `move` is a change of owner as ownership does it: fill
// while serving, freeze, flush the promise, tail, decide.

import assert from 'node:assert/strict'
import { BusyError, OwnerUnreachableError, TimeoutError, errorName } from '../../overlay/errors.ts'
import type { Contact, Host, Logger, Method, Metrics } from '../../overlay/host.ts'
import { compareKeys, holdsKey, subtract } from '../../overlay/interval.ts'
import type { Interval, Key } from '../../overlay/interval.ts'
import type { Member } from '../../overlay/member.ts'
import type { AskOptions, Asked, Owned, Routing, Target } from '../../overlay/routing/routing.ts'
import type { Store } from '../../overlay/store.ts'
import { storageDefaults } from '../../storage/init.ts'
import type { StorageInit } from '../../storage/init.ts'
import { MemoryStore } from '../../storage/memory-store.ts'
import { Storage } from '../../storage/storage.ts'
import { World } from '../../testnet/simulator/world.ts'

const silence = (): void => {}
export const quietLog: Logger = { debug: silence, info: silence, warn: silence, error: silence }
export const quietMetrics: Metrics = { count: silence, gauge: silence, observe: silence }

export const deadline = { deadlineMs: 10_000 }

export interface RingNode {
  readonly host: Host
  store: Store
  readonly member: Member
  readonly storage: Storage
}

export interface RingInit {
  readonly seed?: number
  /** Where each node's interval begins but the first's, ascending. */
  readonly boundaries?: readonly Key[]
  readonly init?: Partial<StorageInit>
  /** Nodes that own nothing at the start. */
  readonly spare?: number
  /** The disk of each node; by default an empty one in memory. */
  readonly storeOf?: (index: number) => Store
}

class NotOwnerError extends Error {
  override readonly name = 'NotOwnerError'
  readonly definite = true
}

export class FakeRing {
  readonly world: World
  readonly nodes: RingNode[] = []
  owners: Array<{ interval: Interval, node: number }> = []
  /** Each request that an owner answered. */
  asked: Array<{ method: string, node: number }> = []
  readonly silent = new Set<number>()
  /** Owners that tell each asker to come again later. */
  readonly busy = new Set<number>()
  floorMs = 0
  #frozen: Array<{ interval: Interval, thawed: Promise<void> }> = []

  constructor ({ seed = 1, boundaries = [], init = {}, spare = 0, storeOf = () => new MemoryStore() }: RingInit = {}) {
    this.world = new World({ seed, latencyMs: { min: 1, max: 5 } })
    const lows = [new Uint8Array(0), ...boundaries]
    lows.forEach((low, node) => { this.owners.push({ interval: { low, high: lows[node + 1] }, node }) })
    for (let index = 0; index < lows.length + spare; index++) this.nodes.push(this.#node(index, storeOf(index), init))
    for (const { interval, node } of this.owners) this.gain(node, interval)
  }

  get any (): Storage {
    return this.nodes[0]!.storage
  }

  /** Run virtual time until promise is settled. */
  async run<T> (promise: Promise<T>): Promise<T> {
    return await this.world.settle(promise)
  }

  async pass (ms: number): Promise<void> {
    await this.run(this.nodes[0]!.host.sleep(ms))
  }

  ownerOf ({ key, below }: Target): { interval: Interval, node: number } {
    const found = this.owners.find(({ interval }) => below ? isAbove(key, interval) : holdsKey(interval, key))
    assert(found !== undefined)
    return found
  }

  /** Requests for interval wait until the returned function is called. */
  freeze (interval: Interval): () => void {
    const thawed = Promise.withResolvers<void>()
    const entry = { interval, thawed: thawed.promise }
    this.#frozen.push(entry)
    return () => {
      this.#frozen = this.#frozen.filter(other => other !== entry)
      thawed.resolve()
    }
  }

  /** Give interval, which one node owns, to another. */
  async move (interval: Interval, to: number, session = `move-${to}-${this.nodes[0]!.host.random()}`): Promise<void> {
    const from = this.ownerOf({ key: interval.low, below: false }).node
    const [giver, taker] = [this.nodes[from]!, this.nodes[to]!]
    const request = { session, interval, epoch: 1, source: giver.member, learners: [{ ...taker.member, holds: false }] }
    const { holdings } = giver.storage
    const signal = giver.host.deadline(60_000)
    await holdings.fill(request, signal)
    const thaw = this.freeze(interval)
    await giver.store.batch([]) // the promise
    await holdings.tail(request, signal)
    this.decide(interval, to)
    this.lose(from, interval, to)
    this.gain(to, interval)
    thaw()
    holdings.release(request, true)
  }

  /** Tell a node that it owns interval, as ownership does. */
  gain (node: number, interval: Interval): void {
    this.nodes[node]!.storage.holdings.held(interval)
    this.nodes[node]!.storage.holdings.gained(interval)
  }

  /** Tell a node that another owns interval, and it keeps no copy. */
  lose (node: number, interval: Interval, to: number): void {
    this.nodes[node]!.storage.holdings.lost(interval)
    this.nodes[node]!.storage.holdings.released(interval, this.nodes[to]!.member.id)
  }

  decide (interval: Interval, node: number): void {
    const rest = this.owners.flatMap(owner => subtract(owner.interval, interval).map(left => ({ interval: left, node: owner.node })))
    this.owners = [...rest, { interval, node }].sort((a, b) => compareKeys(a.interval.low, b.interval.low))
  }

  /** The run of adjacent intervals of one node around target, cut at what is frozen. */
  owned (target: Target): Owned {
    return { interval: this.ownerOf(target).interval, floorMs: this.floorMs, ceilingMs: Infinity, copies: 1 }
  }

  async #thawed (target: Target): Promise<void> {
    for (let frozen = this.#frozenAt(target); frozen !== undefined; frozen = this.#frozenAt(target)) await frozen
  }

  #frozenAt ({ key, below }: Target): Promise<void> | undefined {
    return this.#frozen.find(({ interval }) => below ? isAbove(key, interval) : holdsKey(interval, key))?.thawed
  }

  #node (index: number, store: Store, given: Partial<StorageInit>): RingNode {
    const host = this.world.host(`node ${index}`)
    const member: Member = { id: `${index}`.padStart(32, '0'), contact: host.self }
    const routing = this.#routing(index, host)
    const storage = new Storage({ host, store, routing }, { ...storageDefaults, unicodeVersion: 'test', ...given, memberId: member.id })
    storage.start()
    return { host, store, member, storage }
  }

  #routing (index: number, host: Host): Routing {
    const answer = <Request, Answer> (targetOf: (request: Request) => Target, fn: (request: Request, owned: Owned, from: Contact) => Answer | Promise<Answer>, name: string) =>
      (request: Request, from: Contact): Answer | Promise<Answer> => {
        const target = targetOf(request)
        if (this.#frozenAt(target) !== undefined) return this.#thawed(target).then(() => answer(targetOf, fn, name)(request, from))
        if (this.ownerOf(target).node !== index) throw new NotOwnerError('not mine')
        this.asked.push({ method: name, node: index })
        const owned = this.owned(target)
        const frozen = this.#frozen.map(({ interval }) => interval)
        return fn(request, { ...owned, interval: cutAround(owned.interval, frozen, target) }, from)
      }
    return {
      handle: (method, targetOf, fn) => { host.handle(method, answer(targetOf, fn, method.name)) },
      ask: async <Request, Answer> (target: Target, method: Method<Request, Answer>, request: Request, options: AskOptions): Promise<Asked<Answer>> => {
        const endMs = host.now() + options.deadlineMs
        while (host.now() < endMs) {
          const { interval, node } = this.ownerOf(target)
          const { member } = this.nodes[node]!
          if (this.silent.has(node)) {
            await host.sleep(Math.min(100, options.deadlineMs), options.signal)
            throw new OwnerUnreachableError('silent', { interval, ownerId: member.contact.id, definite: true })
          }
          if (this.busy.has(node)) throw Object.assign(new BusyError('busy'), { interval, ownerId: member.contact.id })
          if (node !== index && options.trace !== undefined) options.trace.hops++
          try {
            const reply = await host.call(member.contact, method, request, { deadlineMs: endMs - host.now(), signal: options.signal })
            options.trace?.peers.add(member.id)
            return { answer: reply, interval, owner: member }
          } catch (error) {
            if (errorName(error) !== 'NotOwnerError') throw error
            await host.sleep(1)
          }
        }
        throw new TimeoutError('no owner')
      }
    }
  }
}

/** low < key <= high */
function isAbove (key: Key, { low, high }: Interval): boolean {
  return compareKeys(low, key) < 0 && (high === undefined || compareKeys(key, high) <= 0)
}

function cutAround (interval: Interval, frozen: readonly Interval[], { key, below }: Target): Interval {
  const parts = frozen.reduce<Interval[]>((left, cut) => left.flatMap(part => subtract(part, cut)), [interval])
  const part = parts.find(part => below ? isAbove(key, part) : holdsKey(part, key))
  assert(part !== undefined)
  return part
}
