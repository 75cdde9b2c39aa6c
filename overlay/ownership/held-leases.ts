// What this owner holds: from each member of a claim of its own, until when it may answer by itself, and below which
// ceiling it may give versions. A majority of the members counts, this one included; a claim with one member needs no
// lease. Counted from the sending of the request, and shorter than the member's count by the drift of clocks.

import type { MemberId } from '../member.ts'
import { claimName, type Claim } from './claim.ts'
import type { LeaseInit } from './granted-leases.ts'

interface Held {
  readonly endMs: number
  /** Milliseconds since 1970, exclusive. */
  readonly ceiling: number
}

export class HeldLeases {
  readonly #init: LeaseInit
  readonly #claims = new Map<string, Map<MemberId, Held>>()

  constructor (init: LeaseInit) {
    this.#init = init
  }

  /** A member has lent. */
  hold (claim: Claim, member: MemberId, sentMs: number, ceiling: number): void {
    const name = claimName(claim)
    const held = this.#claims.get(name) ?? new Map<MemberId, Held>()
    this.#claims.set(name, held)
    const before = held.get(member)
    held.set(member, {
      endMs: Math.max(before?.endMs ?? -Infinity, sentMs + this.#init.leaseMs * (1 - this.#init.leaseDrift)),
      ceiling: Math.max(before?.ceiling ?? 0, ceiling)
    })
  }

  /** On Host.now(): until when a majority of the claim's members, this one among them, lends. */
  endMs (claim: Claim, self: MemberId): number {
    return this.#quorum(claim, self, ({ endMs }) => endMs)
  }

  /** Milliseconds since 1970: versions below it may be given, as far as the other members say. */
  ceiling (claim: Claim, self: MemberId): number {
    return this.#quorum(claim, self, ({ ceiling }) => ceiling)
  }

  /** Claims that are not among these are over. */
  keepOnly (claims: Iterable<Claim>): void {
    const kept = new Set([...claims].map(claimName))
    for (const name of this.#claims.keys()) if (!kept.has(name)) this.#claims.delete(name)
  }

  /** The clock stood still, or the process did: nothing that was lent counts any more. */
  drop (): void {
    this.#claims.clear()
  }

  /** The greatest value that a majority reaches; self has no bound of its own. */
  #quorum (claim: Claim, self: MemberId, valueOf: (held: Held) => number): number {
    const others = claim.members.filter(member => member !== self)
    const needed = Math.floor(claim.members.length / 2) + 1 - (others.length < claim.members.length ? 1 : 0)
    if (needed <= 0) return Infinity
    const held = this.#claims.get(claimName(claim))
    const values = others.map(member => {
      const one = held?.get(member)
      return one === undefined ? -Infinity : valueOf(one)
    }).sort((a, b) => b - a)
    return values[needed - 1] ?? -Infinity
  }
}
