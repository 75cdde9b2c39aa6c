// Keeps the pieces that this node owns or holds copies of alive: leases are renewed, members that fall silent are
// replaced, and when an owner falls silent one of its members takes the piece over. All of it by `change`; a wrong guess
// costs time, never a key (docs/ownership.md, "Leases", "Copies" and "Takeover").

import { errorName } from '../errors.ts'
import type { Host } from '../host.ts'
import type { Interval, Key } from '../interval.ts'
import type { Member, MemberId } from '../member.ts'
import type { StoreIdentity } from '../store-identity.ts'
import { endsAt } from './adjacent.ts'
import { change, livingContact, type ChangeComponents, type ChangeInit, type ChangeRequest } from './change.ts'
import { claimName, isMember, sameClaim, supersedes, type Claim, type Piece } from './claim.ts'
import { nextMembers, sameMembers, wantedMembers, type CopiesInit, type Wanted } from './membership.ts'
import { copyCheckMethod, leaseMethod, pingMethod } from './messages.ts'
import type { Ownership } from './ownership.ts'
import { Renewal, type RenewalInit } from './renewal.ts'
import { Watch, type WatchInit } from './watch.ts'

export interface KeeperComponents extends Omit<ChangeComponents, 'isSuspect'> {
  readonly host: Host
  readonly identity: StoreIdentity
  readonly ownership: Ownership
  /** Its contact is to be found again after a restart. */
  remember (member: Member): Promise<void>
  /** May this node take over now? */
  isServing (): boolean
  /** Who owns key now, by its own word. @throws as lookup */
  ownerOf (key: Key): Promise<Member>
  /** The nodes beside this one, nearest first. */
  beside (): Promise<Omit<Wanted, 'self'>>
  /** Do work while this node changes nothing else of its own accord; undefined when it is busy. */
  alone<T> (work: () => Promise<T>): Promise<T> | undefined
}

export interface KeeperInit extends ChangeInit, RenewalInit, WatchInit, CopiesInit {
  /** Pings without an answer after which a member that a write waits for is replaced. */
  readonly evictPings: number
  /** Milliseconds that a takeover waits where the taker is not the left neighbor, times a random number up to 1; twice that where it is no neighbor. */
  readonly takeoverMs: number
  /** Milliseconds without a member's lease after which an owner claims its piece anew. */
  readonly regainMs: number
  /** Milliseconds for which a member that has said it leaves is not taken for one again. */
  readonly retireMs: number
  /** Milliseconds from a change of claims to a look whether members should be others. */
  readonly tendMs: number
}

/** Copies checked at once. Guess. */
const checksMax = 8

export class Keeper {
  readonly #components: KeeperComponents
  readonly #init: KeeperInit
  readonly #stopping: AbortSignal
  readonly #watch: Watch
  readonly #renewal: Renewal
  /** Members that a write waits for. */
  readonly #awaited = new Set<MemberId>()
  /** Silent members and owners whose pieces are being seen to. */
  readonly #evicting = new Set<MemberId>()
  readonly #taking = new Set<MemberId>()
  /** Members that leave the ring: nobody counts on their copies any more. */
  readonly #retiring = new Set<MemberId>()
  /** Own claims that members do not lend under, because another has begun to choose their successor; and since when. */
  readonly #contested = new Map<string, Map<MemberId, number>>()
  #isTendingSoon = false
  #watched: { revision: number, members: Member[] } = { revision: -1, members: [] }

  constructor (components: KeeperComponents, init: KeeperInit, stopping: AbortSignal) {
    const { host, identity, ownership } = components
    this.#components = components
    this.#init = init
    this.#stopping = stopping
    this.#watch = new Watch({
      host,
      watched: () => this.#toWatch(),
      bootOf: member => ownership.granted.bootOf(member),
      died: (member, boot) => { ownership.granted.noteDeath(member, boot) },
      missed: (member, misses, refused) => { this.#missed(member, misses, refused) }
    }, init)
    this.#renewal = new Renewal({
      host,
      identity,
      ownership,
      contactOf: components.contactOf,
      heard: member => { this.#watch.heard(member) },
      unanswered: member => { this.#ask(member) },
      answered: (member, claims) => { this.#agree(member, claims) },
      lacking: member => { void this.#once(this.#evicting, member, async () => { await this.#evict(member) }) }
    }, init)
  }

  start (): void {
    const { host, identity, ownership, remember } = this.#components
    host.handle(pingMethod, () => ({ member: identity.member, boot: identity.boot }))
    host.handle(leaseMethod, async request => {
      for (const member of request.members) await remember(member)
      for (const owner of new Set(request.pieces.map(({ claim }) => claim.owner))) this.#watch.heard(owner)
      return await ownership.lend(request)
    })
    host.handle(copyCheckMethod, ({ member, piece, leaves }) => {
      if (leaves) this.#retire(member)
      const held = ownership.registers.entries(piece.interval).map(({ interval, value }) => ({ interval, claim: value.claim }))
      return { held: held.filter(({ claim }) => supersedes(claim, piece.claim)) }
    })
    ownership.onUnleased = () => { this.#renewal.soon() }
    this.#watch.start()
    this.#renewal.start()
    this.#renewal.soon()
  }

  /** No lease is held any more when this node stops to answer. */
  stop (): void {
    this.#watch.stop()
    this.#renewal.stop()
    this.#components.ownership.dropLeases()
  }

  /** Not to be counted on: no process there, none that answers, or one that leaves. */
  isSuspect (member: MemberId): boolean {
    return this.#watch.isSuspect(member) || this.#retiring.has(member)
  }

  /** A write waits for member, which did not take it. */
  unanswered (member: MemberId): void {
    this.#awaited.add(member)
    this.#ask(member)
  }

  /** Ask members for leases at once: one of them does not agree with what this node takes for its claims. */
  renewSoon (): void {
    this.#renewal.soon()
  }

  /** Ask members to let versions go at least as far as this millisecond since 1970. */
  wantCeiling (ms: number): void {
    this.#renewal.want(ms)
  }

  /** Claims or neighbors have changed: look soon whether members should be others. */
  tendSoon (): void {
    if (this.#isTendingSoon || this.#init.copies === 1) return
    this.#isTendingSoon = true
    const { host } = this.#components
    host.after(this.#init.tendMs * (0.5 + host.random()), () => {
      this.#isTendingSoon = false
      void this.tend()
    })
  }

  /** One step: claim anew what has lost its leases, else bring the members of one piece closer to those wanted. */
  async tend (): Promise<void> {
    if (this.#stopping.aborted || !this.#components.isServing()) return
    try {
      if (await this.#regain() || await this.#components.alone(async () => await this.#followNeighbors()) === true) this.tendSoon()
    } catch (error) {
      this.#components.host.log.debug({ error: errorName(error) }, 'members stay as they are for now')
    }
  }

  /** Copies for which no owner has asked for a lease: it may have gone on without this node, which was away. */
  async checkCopies (): Promise<void> {
    const { ownership, identity } = this.#components
    const forgotten = ownership.registers.entries().filter(({ value: { claim } }) => claim.owner !== identity.member && isMember(claim, identity.member) && !ownership.granted.isLent(claim))
    await Promise.all(forgotten.slice(0, checksMax).map(async ({ interval, value: { claim } }) => { await this.#checkCopy({ interval, claim }) }))
  }

  /** Whoever of the claim is there may know its successor; else whoever owns the key now. */
  async #checkCopy (piece: Piece): Promise<void> {
    const { host, identity, ownership, contactOf, ownerOf } = this.#components
    const { member } = identity
    const named = piece.claim.members.flatMap(id => id === member ? [] : contactOf(id) ?? [])
    for (const ask of [...named.map(known => async () => known), async () => await ownerOf(piece.interval.low)]) {
      try {
        const { held } = await host.call((await ask()).contact, copyCheckMethod, { member, piece, leaves: false }, { deadlineMs: this.#init.voteMs })
        await ownership.catchUp(held)
        if (held.length > 0) return
      } catch (error) {
        host.log.debug({ error: errorName(error) }, 'a copy is checked later')
      }
    }
  }

  #ask (id: MemberId): void {
    const member = this.#components.contactOf(id)
    if (member !== undefined) this.#watch.unanswered(member)
  }

  #toWatch (): Member[] {
    const { ownership, identity, contactOf } = this.#components
    if (this.#watched.revision === ownership.revision) return this.#watched.members
    const ids = new Set<MemberId>()
    for (const { value: { claim } } of ownership.registers.entries()) {
      if (!isMember(claim, identity.member)) continue
      for (const id of claim.owner === identity.member ? claim.members : [claim.owner]) if (id !== identity.member) ids.add(id)
    }
    this.#watched = { revision: ownership.revision, members: [...ids].flatMap(id => contactOf(id) ?? []) }
    return this.#watched.members
  }

  #missed (member: Member, misses: number, refused: boolean): void {
    const isSuspect = refused || misses >= this.#init.pingsMax
    if (isSuspect || (this.#awaited.has(member.id) && misses >= this.#init.evictPings)) void this.#once(this.#evicting, member.id, async () => { await this.#evict(member.id) })
    if (isSuspect) void this.#once(this.#taking, member.id, async () => { await this.#takeOver(member.id) })
  }

  async #once (running: Set<MemberId>, id: MemberId, work: () => Promise<void>): Promise<void> {
    if (running.has(id) || this.#stopping.aborted) return
    running.add(id)
    try {
      await work()
    } catch (error) {
      this.#components.host.log.debug({ member: id, error: errorName(error) }, 'a silent peer is seen to later')
    } finally {
      running.delete(id)
    }
  }

  /** Own pieces go on without a silent member; it is replaced when there is another. */
  async #evict (id: MemberId): Promise<void> {
    this.#awaited.delete(id)
    const { ownership } = this.#components
    for (const { interval, value: { claim } } of ownership.ownedSegments()) {
      if (!isMember(claim, id)) continue
      await this.#changeOwn(interval, claim, this.#living(claim).filter(member => member.id !== id), 'evict')
    }
    this.tendSoon()
  }

  #retire (member: MemberId): void {
    this.#retiring.add(member)
    this.#components.host.after(this.#init.retireMs, () => { this.#retiring.delete(member) })
    void this.#once(this.#evicting, member, async () => { await this.#replace(member) })
  }

  /** A member that leaves is there yet, and votes for its own replacement. */
  async #replace (id: MemberId): Promise<void> {
    const { ownership, remember } = this.#components
    const wanted = await this.#wanted()
    for (const { interval, value: { claim } } of ownership.ownedSegments()) {
      if (!isMember(claim, id)) continue
      const members = nextMembers(claim, wanted, this.#living(claim), this.#init.copies)
      for (const member of members) await remember(member)
      await this.#change({ interval, owner: members[0]!, members }, 'retire')
    }
  }

  async #changeOwn (interval: Interval, claim: Claim, members: readonly Member[], why: string): Promise<boolean> {
    if (2 * members.filter(({ id }) => isMember(claim, id)).length <= claim.members.length) return false
    const { host, identity } = this.#components
    return await this.#change({ interval, owner: { id: identity.member, contact: host.self }, members }, why)
  }

  /** Pieces of a silent owner whose members this node is among: the left neighbor takes them first, then the right, then others. */
  async #takeOver (owner: MemberId): Promise<void> {
    const { host, identity, ownership, isServing } = this.#components
    const pieces = this.#copiesOf(owner)
    if (pieces.length === 0 || !isServing()) return
    await host.sleep(this.#patience(pieces), this.#stopping)
    const self: Member = { id: identity.member, contact: host.self }
    for (const { interval, claim } of pieces) {
      const present = ownership.registers.segmentAt(interval.low)
      if (!this.#watch.isSuspect(owner) || present === undefined || !sameClaim(present.value.claim, claim)) continue
      const members = [self, ...this.#living(claim).filter(({ id }) => id !== owner && id !== self.id)]
      if (2 * members.length <= claim.members.length) continue
      await this.#change({ interval: present.interval, owner: self, members, of: owner }, 'take over')
    }
    this.tendSoon()
  }

  #copiesOf (owner: MemberId): Piece[] {
    const { ownership, identity } = this.#components
    return ownership.registers.entries()
      .filter(({ value: { claim } }) => claim.owner === owner && isMember(claim, identity.member))
      .map(({ interval, value }) => ({ interval, claim: value.claim }))
  }

  #patience (pieces: readonly Piece[]): number {
    const { host, ownership } = this.#components
    const low = pieces[0]!.interval
    const high = pieces.at(-1)!.interval
    const runs = ownership.ownedRuns()
    if (runs.some(run => endsAt(run, low))) return 0
    const isRight = runs.some(run => endsAt(high, run))
    // at the lowest end of the line there is nobody to the left
    if (isRight && low.low.length === 0) return 0
    return this.#init.takeoverMs * host.random() * (isRight ? 1 : 2)
  }

  #agree (member: MemberId, claims: ReadonlyArray<{ claim: Claim, isGranted: boolean }>): void {
    for (const { claim, isGranted } of claims) {
      const name = claimName(claim)
      const since = this.#contested.get(name) ?? new Map<MemberId, number>()
      if (isGranted) since.delete(member)
      else if (!since.has(member)) since.set(member, this.#components.host.now())
      if (since.size > 0) this.#contested.set(name, since)
      else this.#contested.delete(name)
    }
  }

  /** Somebody has begun to claim an own piece and did not end it: a member that has promised takes no more copies. */
  async #regain (): Promise<boolean> {
    const { host, ownership } = this.#components
    const own = ownership.ownedSegments()
    const names = new Set(own.map(({ value }) => claimName(value.claim)))
    for (const name of this.#contested.keys()) if (!names.has(name)) this.#contested.delete(name)
    const before = host.now() - this.#init.regainMs
    const contested = own.find(({ value }) => [...this.#contested.get(claimName(value.claim))?.values() ?? []].some(sinceMs => sinceMs <= before))
    if (contested === undefined) return false
    const { interval, value: { claim } } = contested
    this.#contested.delete(claimName(claim))
    return await this.#changeOwn(interval, claim, this.#living(claim), 'regain')
  }

  async #followNeighbors (): Promise<boolean> {
    const { host, ownership, remember } = this.#components
    const segments = ownership.ownedSegments().filter(({ value }) => ownership.leaseEndMs(value.claim) > host.now())
    if (segments.length === 0) return false
    const wanted = await this.#wanted()
    for (const { interval, value: { claim } } of segments) {
      const members = nextMembers(claim, wanted, this.#living(claim), this.#init.copies)
      if (sameMembers(claim, members) || members.length < claim.members.length) continue
      for (const member of members) await remember(member)
      return await this.#change({ interval, owner: members[0]!, members }, 'members')
    }
    return false
  }

  /** Who shall be members of what this node owns: it, and the nodes beside it that are there and stay. */
  async #wanted (): Promise<Member[]> {
    const { host, identity, beside } = this.#components
    const near = await beside()
    const staying = (members: readonly Member[]): Member[] => members.filter(({ id }) => !this.isSuspect(id))
    return wantedMembers({ self: { id: identity.member, contact: host.self }, left: staying(near.left), right: staying(near.right) }, this.#init.copies)
  }

  #living (claim: Claim): Member[] {
    const living = livingContact({ ...this.#components, isSuspect: id => this.isSuspect(id) })
    return claim.members.flatMap(id => living(id) ?? [])
  }

  async #change (request: ChangeRequest, why: string): Promise<boolean> {
    const { host } = this.#components
    const outcome = await change({ ...this.#components, isSuspect: id => this.isSuspect(id) }, request, this.#init, this.#stopping)
    host.metrics.count('copy_changes', { why, outcome: outcome.state === 'decided' ? 'decided' : 'given up' })
    host.log.debug({ why, outcome: outcome.state, detail: outcome.state === 'decided' ? '' : outcome.detail }, 'members of a piece')
    return outcome.state === 'decided'
  }
}
