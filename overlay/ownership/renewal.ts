// The owner's side of leases: it asks each member of its claims, one message a member, long before the lease is over,
// and at once when a claim is new or this node has just started. A majority that lends has thereby said that the claim is
// still the last one, so a restarted owner needs nothing else before it serves.

import { errorName, UnreachableError } from '../errors.ts'
import type { Host } from '../host.ts'
import type { Member, MemberId } from '../member.ts'
import type { StoreIdentity } from '../store-identity.ts'
import type { Claim, Piece } from './claim.ts'
import { leaseMethod } from './messages.ts'
import type { Ownership } from './ownership.ts'
import { subtractAll } from './served.ts'

export interface RenewalComponents {
  readonly host: Host
  readonly identity: StoreIdentity
  readonly ownership: Ownership
  contactOf (member: MemberId): Member | undefined
  /** A member answered, or did not. */
  heard (member: MemberId): void
  unanswered (member: MemberId): void
  /** What a member lends, and what not although it is the same claim that it holds: it has promised another the choice of the next. */
  answered (member: MemberId, claims: ReadonlyArray<{ claim: Claim, isGranted: boolean }>): void
  /** A member has not the rows of a piece that names it. */
  lacking (member: MemberId): void
}

export interface RenewalInit {
  /** Milliseconds between requests, well below leaseMs. */
  readonly leaseRenewMs: number
  /** Milliseconds that a member has to answer. */
  readonly voteMs: number
  /** Ceilings are asked for in steps of so many ms, and reach one to two steps beyond the clock. */
  readonly ceilingStepMs: number
}

/** Versions above a floor that is ahead of the clock: a millisecond holds two billion of one key. Guess. */
const floorRoomMs = 1000

export class Renewal {
  readonly #components: RenewalComponents
  readonly #init: RenewalInit
  #isAsked = false
  #isRunning = false
  #isStopped = false
  /** Of a version that was wanted: a claim with one member knew no ceiling, and its clock may have been ahead. */
  #wantedMs = 0

  constructor (components: RenewalComponents, init: RenewalInit) {
    this.#components = components
    this.#init = init
  }

  start (): void {
    const { host } = this.#components
    if (this.#isStopped) return
    host.after(this.#init.leaseRenewMs * (0.8 + 0.2 * host.random()), () => {
      this.soon()
      this.start()
    })
  }

  stop (): void {
    this.#isStopped = true
  }

  /** Ceilings shall lie above this millisecond since 1970. */
  want (ms: number): void {
    this.#wantedMs = Math.max(this.#wantedMs, ms)
    this.soon()
  }

  /** Ask now, or again when what runs is over. */
  soon (): void {
    if (this.#isStopped) return
    this.#isAsked = true
    if (this.#isRunning) return
    this.#isRunning = true
    void this.#run().finally(() => { this.#isRunning = false })
  }

  async #run (): Promise<void> {
    while (this.#isAsked && !this.#isStopped) {
      this.#isAsked = false
      try {
        await this.#ask()
      } catch (error) {
        this.#components.host.log.debug({ error: errorName(error) }, 'leases are asked for later')
      }
    }
  }

  async #ask (): Promise<void> {
    const { ownership, identity } = this.#components
    const byMember = new Map<MemberId, Piece[]>()
    const shared: Piece[] = []
    for (const { interval, value: { claim } } of ownership.ownedSegments()) {
      if (claim.members.length === 1) continue
      shared.push({ interval, claim })
      for (const member of claim.members) if (member !== identity.member) byMember.set(member, [...byMember.get(member) ?? [], { interval, claim }])
    }
    if (shared.length === 0) return
    const ceiling = this.#ceiling(shared)
    await ownership.raiseOwnCeiling(shared, ceiling)
    await Promise.all([...byMember].map(async ([member, pieces]) => { await this.#askOne(member, pieces, ceiling) }))
  }

  async #askOne (id: MemberId, pieces: readonly Piece[], ceiling: number): Promise<void> {
    const { host, ownership, identity, contactOf, heard, unanswered, lacking, answered } = this.#components
    const member = contactOf(id)
    if (member === undefined) return
    const named = new Set(pieces.flatMap(({ claim }) => claim.members))
    const members = [...named].flatMap(one => one === identity.member ? { id: one, contact: host.self } : contactOf(one) ?? [])
    const sentMs = host.now()
    try {
      const { granted, held, lacking: lacks, member: there } = await host.call(member.contact, leaseMethod, { members, boot: identity.boot, pieces, ceiling }, { deadlineMs: this.#init.voteMs })
      if (there !== id) throw new UnreachableError(`another store than ${id} is open there`)
      heard(id)
      ownership.hold(pieces, granted, id, sentMs, ceiling)
      if (held.length + lacks.length === 0) answered(id, pieces.map(piece => ({ claim: piece.claim, isGranted: subtractAll(piece.interval, granted).length === 0 })))
      if (held.length > 0) await ownership.catchUp(held)
      if (lacks.length > 0) lacking(id)
    } catch (error) {
      host.log.debug({ member: id, error: errorName(error) }, 'a member does not lend')
      unanswered(id)
    }
  }

  /** Milliseconds since 1970. The same for a while, so that a renewal seldom has anything to flush. */
  #ceiling (pieces: readonly Piece[]): number {
    const { ceilingStepMs } = this.#init
    const { host, ownership } = this.#components
    // a floor that is ahead of the clock shall not run away from it with each claim
    const floor = Math.max(...pieces.map(piece => ownership.floorOf(piece)))
    return Math.max((Math.floor(host.wallClock() / ceilingStepMs) + 2) * ceilingStepMs, Math.max(floor, this.#wantedMs) + floorRoomMs)
  }
}
