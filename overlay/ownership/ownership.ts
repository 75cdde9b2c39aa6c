// What this store knows of who owns what, and what follows from it: may this node answer for a key now? The rules
// (promise.ts, accept.ts, register.ts) decide; this class keeps their registers, flushes each step before anything
// rests on it, and works out the runs of keys that are served.
//
// A key is served when the newest claim known decided names this store as owner, no ballot is promised over it, the
// claim is confirmed since boot, and it is not frozen. A frozen key is changing hands: requests wait at its gate.

import { Gate } from '../gate.ts'
import type { Contact, Host } from '../host.ts'
import { IntervalMap } from '../interval-map.ts'
import { compareHighs, compareKeys, type Interval } from '../interval.ts'
import type { Member, MemberId } from '../member.ts'
import type { Operation, Store } from '../store.ts'
import type { Owned, OwnerView, Target } from '../routing/routing.ts'
import { joined } from './adjacent.ts'
import { accept, type AcceptReply, type AcceptRequest } from './accept.ts'
import { sameClaim, type Claim, type Piece } from './claim.ts'
import { promise, type PromiseReply, type PromiseRequest } from './promise.ts'
import { catchUp, learn, mayServe, newRegisters, nextFloorAfterBoot, type Learned, type Register, type Registers, type Step } from './register.ts'
import { RegisterStore } from './register-rows.ts'
import type { News } from './tell.ts'

export interface OwnershipComponents {
  readonly host: Host
  /** The whole store; registers take the prefix `o`, those of rings that this store has left the prefix `a`. */
  readonly store: Store
  readonly self: MemberId
  /** How to call a member that a claim names. */
  contactOf (member: MemberId): Member | undefined
}

export interface OwnershipInit {
  /** Requests that wait for one frozen part at most. */
  readonly frozenRequestsMax: number
}

/** What this node can say of a key. */
export type Standing =
  | { readonly kind: 'serving', readonly owned: Owned, readonly view: OwnerView }
  | { readonly kind: 'changing', readonly gate: Gate }
  | { readonly kind: 'elsewhere', readonly known: OwnerView | undefined }

export interface ClaimChange {
  /** Runs of keys that this node owns by a decided claim since this step. */
  readonly gained: readonly Interval[]
  /** Runs that it owned until this step, with their new claims. */
  readonly lost: readonly Piece[]
}

/** Adjacent keys that are served, by one or more claims of this owner. */
interface Run {
  readonly owned: Owned
  readonly view: OwnerView
}

export class Ownership {
  readonly #components: OwnershipComponents
  readonly #init: OwnershipInit
  #registers: Registers = newRegisters()
  /** Claims of our own that are flushed and confirmed since boot. */
  readonly #confirmed = new IntervalMap<Claim>(sameClaim)
  readonly #frozen = new IntervalMap<Gate>((a, b) => a === b)
  #runs = new IntervalMap<Run>((a, b) => a === b)
  /** Opens when what is served changes. */
  #settling: Gate
  /** What the store will hold when all that was given is flushed, and what it surely holds. */
  #given: Registers = newRegisters()
  #stored: Registers = newRegisters()
  /** Flushes that failed; a batch remembers how many there were when it was given. */
  #failures = 0
  #chain: string | undefined
  /** The last batch of registers: a reply that rests on nothing new still rests on what was given before. */
  #flushing: Promise<void> = Promise.resolve()
  /** What onClaim has told as owned. */
  readonly #told = new IntervalMap<true>(() => true)
  readonly #rows: RegisterStore
  /** Floor of versions after boot, until a new claim sets its own. */
  readonly #bootFloors = new IntervalMap<number>((a, b) => a === b)

  /** What was decided here and not heard yet by those who should: with this node gone, nobody could tell them. */
  readonly owed = new Set<News>()

  /** Grows whenever what this node knows or serves may have changed. */
  revision = 0

  /** Told after each flushed step that changed what this node owns. */
  onClaim: (change: ClaimChange) => void = () => {}

  constructor (components: OwnershipComponents, init: OwnershipInit) {
    this.#components = components
    this.#init = init
    this.#settling = new Gate(init.frozenRequestsMax)
    this.#rows = new RegisterStore(components.store)
  }

  get registers (): Registers {
    return this.#registers
  }

  /** Read what was flushed. Nothing is served yet. */
  async open (): Promise<void> {
    this.#registers = await this.#rows.open()
    this.#given = this.#registers
    this.#stored = this.#registers
    for (const { interval, value } of this.ownedSegments()) this.#bootFloors.set(interval, nextFloorAfterBoot(value))
  }

  /** Segments whose newest decided claim names this store as owner, in key order. */
  ownedSegments (): Array<{ interval: Interval, value: Register }> {
    return this.#registers.entries().filter(({ value }) => value.claim.owner === this.#components.self)
  }

  /** Runs of keys that this node owns, whether it serves them now or not, adjacent ones joined. */
  ownedRuns (): Interval[] {
    return joined(this.ownedSegments().map(({ interval }) => interval))
  }

  /** The run that is served, or where several are, the lowest; undefined when nothing is served. */
  run (): OwnerView | undefined {
    return this.#runs.entries()[0]?.value.view
  }

  /** The chain in which this node owns keys, whether it serves them at this moment or not. */
  get chain (): string | undefined {
    return this.#chain
  }

  /** Each run that is served, in key order. */
  runs (): OwnerView[] {
    return this.#runs.entries().map(({ value }) => value.view)
  }

  standing (target: Target): Standing {
    const run = segmentAt(this.#runs, target)
    if (run !== undefined) return { kind: 'serving', ...run.value }
    const gate = segmentAt(this.#frozen, target)?.value
    if (gate !== undefined) return { kind: 'changing', gate }
    const register = segmentAt(this.#registers, target)
    if (register === undefined) return { kind: 'elsewhere', known: undefined }
    const { claim } = register.value
    if (claim.owner === this.#components.self) return { kind: 'changing', gate: this.#settling }
    const owner = this.#components.contactOf(claim.owner)
    return { kind: 'elsewhere', known: owner && { interval: register.interval, chain: claim.chain, epoch: claim.epoch, owner } }
  }

  /** Member's answer to PREPARE. The reply leaves when the promise is flushed, after all writes given before. */
  async promise (request: PromiseRequest): Promise<PromiseReply> {
    // An owner that lives holds its lease: only it may ask then. Leases of others come with copies.
    const leaseBlocks = (_interval: Interval, claim: Claim): boolean => claim.owner === this.#components.self
    const step = promise(this.#registers, this.#components.self, request, { leaseBlocks })
    await this.#apply(step)
    return step.reply
  }

  /** Member's answer to ACCEPT. */
  async accept (request: AcceptRequest): Promise<AcceptReply> {
    const step = accept(this.#registers, this.#components.self, request)
    await this.#apply(step)
    return step.reply
  }

  /** Take in decided claims told by a claimer, and serve those that name this store. Resolves when flushed. */
  async learn (pieces: readonly Piece[]): Promise<void> {
    const step = learn(this.#registers, pieces)
    for (const { piece, held, reason } of step.disputed) {
      this.#components.host.log.warn({ reason, chain: piece.claim.chain, heldChain: held.chain }, 'a claim does not fit what is held')
    }
    await this.#apply(step)
    this.#follow(pieces)
  }

  /** Before this store enters the ring of `chain`: what it holds of another ring is put aside, what it once held of this one is taken up again. */
  async enter (chain: string): Promise<void> {
    const { self } = this.#components
    const aside = this.#registers.entries().filter(({ value }) => value.claim.chain !== chain && value.claim.owner !== self)
    const next = this.#registers.copy()
    for (const { interval } of aside) next.delete(interval)
    for (const { interval, value } of await this.#rows.readAside(chain)) next.update(interval, held => held ?? value)
    this.#registers = next
    await this.#flush([...this.#rows.putAside(aside), ...await this.#rows.dropAside(chain)])
  }

  /** Has this store left the ring of chain for another? What is told of it now comes too late. */
  hasLeft (chain: string): boolean {
    return this.#rows.asideChains.has(chain)
  }

  /** Take in decided claims heard along the way, only where an older one is held. */
  async catchUp (pieces: readonly Piece[]): Promise<void> {
    await this.#apply(catchUp(this.#registers, pieces))
    this.#follow(pieces)
  }

  /**
   * After a boot: serve own claims again, once a majority of their members has confirmed that they are still the last
   * (with members = {owner} that is this store itself), and tell what is held by others now.
   */
  confirmOwn (): void {
    const own = this.ownedSegments().filter(({ value }) => value.claim.members.length === 1)
    const lost = this.#registers.entries().filter(({ value }) => value.claim.owner !== this.#components.self)
    if (lost.length > 0) this.onClaim({ gained: [], lost: lost.map(({ interval, value }) => ({ interval, claim: value.claim })) })
    this.#follow(own.map(({ interval, value }) => ({ interval, claim: value.claim })))
  }

  /** Stop answering for interval until the gate opens. One synchronous step. */
  freeze (interval: Interval): Gate {
    const gate = new Gate(this.#init.frozenRequestsMax)
    this.#frozen.set(interval, gate)
    this.#refresh()
    return gate
  }

  thaw (interval: Interval, gate: Gate): void {
    this.#frozen.delete(interval)
    this.#refresh()
    gate.open()
  }

  /** Registers change at once, so a promise fences at once; what rests on them waits for the flush. */
  async #apply (step: Step & { readonly learned: readonly Learned[] }): Promise<void> {
    this.#registers = step.registers
    for (const { interval } of step.learned) this.#bootFloors.delete(interval)
    await this.#flush([])
  }

  /**
   * Bring to disk what it lacks. After a failure all that is not known to be there is given again: the store refuses
   * what waited behind a failed batch too, so the disk is always some earlier state.
   */
  async #flush (more: readonly Operation[]): Promise<void> {
    const registers = this.#registers
    const operations = [...this.#rows.operations(registers.changesSince(this.#given)), ...more]
    if (operations.length > 0) {
      this.#refresh()
      this.#given = registers
      const failures = this.#failures
      this.#flushing = this.#components.store.batch(operations).then(() => { this.#stored = registers }, error => {
        // once for a failed batch and those behind it: what was given since then rests on what is stored already
        if (failures === this.#failures) {
          this.#failures++
          this.#given = this.#stored
        }
        throw error
      })
    }
    await this.#flushing
  }

  /** Serve what of pieces is flushed and ours, and tell what that changes. From state, so that a repeated word mends a failed flush. */
  #follow (pieces: readonly Piece[]): void {
    const { self } = this.#components
    for (const { interval, claim } of pieces) {
      for (const held of this.#stored.entries(interval)) {
        if (claim.owner === self && sameClaim(held.value.claim, claim)) this.#confirmed.set(held.interval, claim)
      }
    }
    this.#refresh()
    const gained: Interval[] = []
    const lost: Piece[] = []
    for (const { interval, value: { claim } } of this.#stored.entries()) {
      for (const stretch of this.#told.stretches(interval)) {
        if (claim.owner === self && stretch.value === undefined) gained.push(stretch.interval)
        if (claim.owner !== self && stretch.value !== undefined) lost.push({ interval: stretch.interval, claim })
      }
    }
    for (const interval of gained) this.#told.set(interval, true)
    for (const { interval } of lost) this.#told.delete(interval)
    if (gained.length > 0 || lost.length > 0) this.onClaim({ gained: joined(gained), lost })
  }

  /** Work out the runs anew. Called at each change of claims or frozen parts, so that `standing` is one search. */
  #refresh (): void {
    const { self, host } = this.#components
    const served: Array<{ interval: Interval, value: Register }> = []
    for (const segment of this.#registers.entries()) {
      if (!mayServe(segment.value, self)) continue
      for (const { interval, value } of this.#confirmed.entries(segment.interval)) {
        if (!sameClaim(value, segment.value.claim)) continue
        for (const stretch of this.#frozen.stretches(interval)) {
          if (stretch.value === undefined) served.push({ interval: stretch.interval, value: segment.value })
        }
      }
    }
    const runs = new IntervalMap<Run>((a, b) => a === b)
    for (const interval of joined(served.map(segment => segment.interval))) runs.set(interval, this.#runOf(interval, served, host.self))
    this.#runs = runs
    this.#chain = this.ownedSegments()[0]?.value.claim.chain
    this.revision++
    const settled = this.#settling
    this.#settling = new Gate(this.#init.frozenRequestsMax)
    settled.open()
  }

  #runOf (interval: Interval, served: ReadonlyArray<{ interval: Interval, value: Register }>, contact: Contact): Run {
    const inside = served.filter(segment => compareKeys(interval.low, segment.interval.low) <= 0 && compareHighs(segment.interval.high, interval.high) <= 0)
    const newest = inside.reduce((a, b) => b.value.claim.epoch > a.value.claim.epoch ? b : a).value.claim
    const floors = [...inside.map(({ value }) => value.claim.floor), ...this.#bootFloors.entries(interval).map(({ value }) => value)]
    return {
      owned: { interval, floorMs: Math.max(...floors) },
      view: { interval, chain: newest.chain, epoch: newest.epoch, owner: { id: this.#components.self, contact } }
    }
  }
}

/** The segment that holds the target: its key, or the keys just below it. */
function segmentAt<V> (map: IntervalMap<V>, target: Target): { interval: Interval, value: V } | undefined {
  if (!target.below) return map.segmentAt(target.key)
  return map.around(target.key, 2).before.find(({ interval }) => compareKeys(interval.low, target.key) < 0 && compareHighs(target.key, interval.high) <= 0)
}
