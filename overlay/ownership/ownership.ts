// What this store knows of who owns what, and what follows from it: may this node answer for a key now? The rules
// (promise.ts, accept.ts, register.ts) decide; this class keeps their registers, flushes each step before anything
// rests on it, and works out the runs of keys that are served.
//
// A key is served when the newest claim known decided names this store as owner, no ballot is promised over it, the
// claim is flushed, a majority of its members has lent, and it is not frozen. A frozen key is changing hands: requests
// wait at its gate, as they do while a lease is asked for.

import { Gate } from '../gate.ts'
import type { Host } from '../host.ts'
import { IntervalMap } from '../interval-map.ts'
import type { Interval, Key } from '../interval.ts'
import type { Member, MemberId } from '../member.ts'
import type { Operation, Store } from '../store.ts'
import type { Owned, OwnerView, Target } from '../routing/routing.ts'
import { joined } from './adjacent.ts'
import { accept, type AcceptReply, type AcceptRequest } from './accept.ts'
import { isMember, sameClaim, type Claim, type Piece } from './claim.ts'
import { GrantedLeases, type LeaseInit } from './granted-leases.ts'
import { HeldLeases } from './held-leases.ts'
import type { LeaseReply, LeaseRequest } from './messages.ts'
import { OneAtATime } from './one-at-a-time.ts'
import { promise, type PromiseReply, type PromiseRequest } from './promise.ts'
import { catchUp, learn, mayServe, mayWrite, newRegisters, nextFloorAfterBoot, raiseCeiling, type Learned, type Register, type Registers, type Step } from './register.ts'
import { RegisterStore } from './register-rows.ts'
import { news, pieceOf, placeOf, segmentAt, servedRuns, subtractAll, type Run } from './served.ts'
import type { News } from './tell.ts'

export interface OwnershipComponents {
  readonly host: Host
  /** The whole store; registers take the prefix `o`, those of rings that this store has left the prefix `a`. */
  readonly store: Store
  readonly self: MemberId
  /** How to call a member that a claim names. */
  contactOf (member: MemberId): Member | undefined
}

export interface OwnershipInit extends LeaseInit {
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
  /** Runs of which this node is a member since this step, as their owner or not. */
  readonly held: readonly Interval[]
  /** Runs of which it was a member until this step, or was none at the boot, with their new claims. */
  readonly released: readonly Piece[]
}

export class Ownership {
  readonly #components: OwnershipComponents
  readonly #init: OwnershipInit
  #registers: Registers = newRegisters()
  /** Claims of our own that are flushed. */
  readonly #confirmed = new IntervalMap<Claim>(sameClaim)
  /** What this member has lent to owners. */
  readonly granted: GrantedLeases
  /** What members have lent to this owner. */
  readonly #leases: HeldLeases
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
  #place: OwnerView | undefined
  /** The last batch of registers: a reply that rests on nothing new still rests on what was given before. */
  #flushing: Promise<void> = Promise.resolve()
  /** What onClaim has told as owned, and as held by a member. */
  readonly #told = new IntervalMap<true>(() => true)
  readonly #toldHeld = new IntervalMap<true>(() => true)
  readonly #rows: RegisterStore
  /** Floor of versions after boot, until a new claim sets its own. */
  readonly #bootFloors = new IntervalMap<number>((a, b) => a === b)

  /** Parts are frozen one after the other: two claims of one node over the same keys would only refuse each other. */
  readonly freezing = new OneAtATime()

  /** What was decided here and not heard yet by those who should: with this node gone, nobody could tell them. */
  readonly owed = new Set<News>()

  /** Grows whenever what this node knows or serves may have changed. */
  revision = 0

  /** Told after each flushed step that changed what this node owns. */
  onClaim: (change: ClaimChange) => void = () => {}

  /** Has this store all rows of interval? A claim that makes it a member counts only then. */
  isFull: (interval: Interval) => boolean = () => true

  /** Told when a claim of this node's own lacks the leases to be served. */
  onUnleased: () => void = () => {}

  constructor (components: OwnershipComponents, init: OwnershipInit) {
    this.#components = components
    this.#init = init
    this.#settling = new Gate(init.frozenRequestsMax)
    this.#rows = new RegisterStore(components.store)
    this.granted = new GrantedLeases(() => components.host.now(), init)
    this.#leases = new HeldLeases(init)
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

  /** The run that is owned, or where several are, the lowest, whether it is served at this moment or not; undefined when nothing is owned. */
  run (): OwnerView | undefined {
    return this.#place
  }

  /** The chain in which this node owns keys, whether it serves them at this moment or not. */
  get chain (): string | undefined {
    return this.#chain
  }

  /** Each run that is served, in key order. */
  runs (): OwnerView[] {
    const now = this.#components.host.now()
    return this.#runs.entries().filter(({ value }) => value.endMs > now).map(({ value }) => value.view)
  }

  standing (target: Target): Standing {
    let run = segmentAt(this.#runs, target)
    if (run !== undefined && run.value.endMs <= this.#components.host.now()) {
      // one of its leases is over: what rests on others is still served
      this.#refresh()
      run = segmentAt(this.#runs, target)
    }
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
    // an owner that lives promises nobody but itself
    const leaseBlocks = (_interval: Interval, claim: Claim): boolean => claim.owner === this.#components.self || this.granted.blocks(claim)
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
    const ready = pieces.flatMap(piece => this.#ready(piece))
    const step = learn(this.#registers, ready)
    for (const { piece, held, reason } of step.disputed) {
      this.#components.host.log.warn({ reason, chain: piece.claim.chain, heldChain: held.chain }, 'a claim does not fit what is held')
    }
    await this.#apply(step)
    this.#follow(ready)
  }

  /** Where this store can be what the claim makes of it: a member that is no member yet must be full. */
  #ready ({ interval, claim }: Piece): Piece[] {
    const { self, host } = this.#components
    if (!isMember(claim, self) || claim.epoch === 1) return [{ interval, claim }]
    const ready = this.#registers.stretches(interval).filter(({ interval: stretch, value }) => (value !== undefined && isMember(value.claim, self)) || this.isFull(stretch))
    if (subtractAll(interval, ready.map(stretch => stretch.interval)).length > 0) host.log.warn({ epoch: claim.epoch }, 'a claim names this store for keys whose rows it does not have')
    return ready.map(stretch => ({ interval: stretch.interval, claim }))
  }

  /**
   * Member's answer to an owner that asks for a lease: granted where its claim is the newest here and nobody else has a
   * promise. The reply leaves when the ceiling is flushed.
   */
  async lend ({ boot, pieces, ceiling }: LeaseRequest): Promise<LeaseReply> {
    await this.learn(pieces)
    const granted: Interval[] = []
    const held: Piece[] = []
    const lacking = pieces.flatMap(piece => subtractAll(piece.interval, this.#ready(piece).map(({ interval }) => interval)))
    const next = this.#registers.copy()
    const { self } = this.#components
    for (const { interval, claim } of pieces) {
      for (const { interval: stretch, value } of this.#registers.stretches(interval)) {
        if (value === undefined) continue
        if (!sameClaim(value.claim, claim)) held.push({ interval: stretch, claim: value.claim })
        else if (isMember(claim, self) && (value.promised === undefined || value.promised.member === claim.owner) && this.granted.grant(claim, boot)) granted.push(stretch)
      }
    }
    for (const interval of granted) {
      next.update(interval, (register, _stretch) => register !== undefined && mayWrite(register, self, register.claim) ? { ...register, ceiling: Math.max(register.ceiling, ceiling) } : register)
    }
    this.#registers = next
    await this.#flush([])
    return { granted, held, lacking, member: self }
  }

  /** A member has lent, asked at sentMs of Host.now(), and has flushed the ceiling. */
  hold (pieces: readonly Piece[], granted: readonly Interval[], member: MemberId, sentMs: number, ceiling: number): void {
    for (const { interval, claim } of pieces) {
      // a lease is of a claim: it counts when all of the piece was granted
      const whole = subtractAll(interval, granted).length === 0
      if (whole) this.#leases.hold(claim, member, sentMs, ceiling)
    }
    this.#refresh()
  }

  /** Flush a ceiling for own claims, as each member does, before the others are asked for it. */
  async raiseOwnCeiling (pieces: readonly Piece[], ceiling: number): Promise<void> {
    for (const { interval, claim } of pieces) this.#registers = raiseCeiling(this.#registers, this.#components.self, { interval, under: claim, ceiling }).registers
    await this.#flush([])
  }

  /** On Host.now(): until when this node may answer under a claim of its own. */
  leaseEndMs (claim: Claim): number {
    return this.#leases.endMs(claim, this.#components.self)
  }

  /** Milliseconds since 1970: versions given under a claim over interval are at least that. */
  floorOf ({ interval, claim }: Piece): number {
    return Math.max(claim.floor, ...this.#bootFloors.entries(interval).map(({ value }) => value))
  }

  /** Milliseconds since 1970, exclusive: versions below it may be given under register's claim. */
  ceilingOf ({ claim, ceiling }: Register): number {
    return claim.members.length === 1 ? Infinity : Math.min(ceiling, this.#leases.ceiling(claim, this.#components.self))
  }

  /** Before this node can be taken for dead it must not answer any more. */
  dropLeases (): void {
    this.#leases.drop()
    this.#refresh()
  }

  /** The claim under which this node may write key in this step, as its owner; undefined while it may not. */
  writableAt (key: Key): Claim | undefined {
    const register = this.#registers.get(key)
    return register !== undefined && mayServe(register, this.#components.self) ? register.claim : undefined
  }

  /** May this node take a row of key in this step, as a member under that claim? */
  mayTake (key: Key, under: Pick<Claim, 'chain' | 'epoch' | 'by'>): boolean {
    const register = this.#registers.get(key)
    return register !== undefined && mayWrite(register, this.#components.self, under as Claim)
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
   * After a boot: own claims are taken up again, to be served when a majority of their members lends, which confirms
   * that they are still the last; and what is held by others now is told.
   */
  confirmOwn (): void {
    const { self } = this.#components
    const lost = this.#registers.entries().filter(({ value }) => value.claim.owner !== self).map(pieceOf)
    const released = lost.filter(({ claim }) => !isMember(claim, self))
    if (lost.length > 0) this.onClaim({ gained: [], lost, held: [], released })
    this.#follow(this.#registers.entries().filter(({ value }) => isMember(value.claim, self)).map(pieceOf))
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
    if (this.ownedSegments().some(({ value }) => this.leaseEndMs(value.claim) <= this.#components.host.now())) this.onUnleased()
    const { gained, lost } = news(this.#stored, this.#told, claim => claim.owner === self)
    const { gained: held, lost: released } = news(this.#stored, this.#toldHeld, claim => isMember(claim, self))
    if (gained.length + lost.length + held.length + released.length > 0) this.onClaim({ gained: joined(gained), lost, held: joined(held), released })
  }

  /** Work out the runs anew. Called at each change of claims, leases or frozen parts, so that `standing` is one search. */
  #refresh (): void {
    const { self, host } = this.#components
    this.#runs = servedRuns({
      self: { id: self, contact: host.self },
      registers: this.#registers,
      confirmed: this.#confirmed,
      frozen: this.#frozen,
      bootFloors: this.#bootFloors,
      now: host.now(),
      leaseEndMs: claim => this.leaseEndMs(claim),
      ceilingOf: register => this.ceilingOf(register)
    })
    const owned = this.ownedSegments()
    this.#chain = owned[0]?.value.claim.chain
    this.#place = placeOf(owned, { id: self, contact: host.self })
    this.#leases.keepOnly(owned.map(({ value }) => value.claim))
    this.revision++
    const settled = this.#settling
    this.#settling = new Gate(this.#init.frozenRequestsMax)
    settled.open()
  }
}
