// What this member has lent to owners: until a lease is over it promises nobody else the choice of a successor, so an
// owner may answer reads by itself for that long. A lease belongs to one claim and one boot of its owner; the member
// counts from receipt, the owner from its sending (held-leases.ts), so the owner's end comes first.
//
// A restarted member has forgotten what it lent, and waits a whole lease after its boot. Death spares the wait: a process
// that refuses connections holds no lease any more. That evidence is about one boot, and used by nobody but the boot of
// the member that saw it (docs/ownership.md, "Leases").

import type { MemberId } from '../member.ts'
import { claimName, type Claim } from './claim.ts'

export interface LeaseInit {
  /** Milliseconds that a lease lasts at the member. */
  readonly leaseMs: number
  /** Share by which two clocks may run apart: the owner's part is shorter by that. */
  readonly leaseDrift: number
}

interface Grant {
  readonly owner: MemberId
  readonly boot: number
  readonly endMs: number
}

export class GrantedLeases {
  readonly #now: () => number
  readonly #init: LeaseInit
  readonly #bootMs: number
  /** By claim. Ended ones are swept at each new claim. */
  readonly #grants = new Map<string, Grant>()
  /** Highest boot of each owner that asked here. */
  readonly #boots = new Map<MemberId, number>()
  /** Highest boot of each owner whose process was seen dead. */
  readonly #dead = new Map<MemberId, number>()

  constructor (now: () => number, init: LeaseInit) {
    this.#now = now
    this.#init = init
    this.#bootMs = now()
  }

  /** Lend to this boot of the claim's owner. False for a boot before one that has asked already. */
  grant (claim: Claim, boot: number): boolean {
    if (boot < this.bootOf(claim.owner)) return false
    this.#boots.set(claim.owner, boot)
    const name = claimName(claim)
    if (!this.#grants.has(name)) this.#sweep()
    this.#grants.set(name, { owner: claim.owner, boot, endMs: this.#now() + this.#init.leaseMs })
    return true
  }

  /** Has the claim's owner asked here not long ago? */
  isLent (claim: Claim): boolean {
    return (this.#grants.get(claimName(claim))?.endMs ?? -Infinity) > this.#now()
  }

  /** May the claim's owner hold a lease from here, or from here before a restart? */
  blocks (claim: Claim): boolean {
    const dead = this.#dead.get(claim.owner) ?? -1
    const grant = this.#grants.get(claimName(claim))
    if (grant !== undefined && grant.boot > dead && grant.endMs > this.#now()) return true
    return dead < this.bootOf(claim.owner) && this.#now() < this.#bootMs + this.#init.leaseMs
  }

  /** Highest boot of owner that asked here; 0 when none did since this member's own boot. */
  bootOf (owner: MemberId): number {
    return this.#boots.get(owner) ?? 0
  }

  /** The process of this boot of owner, and with it all before, was seen dead. */
  noteDeath (owner: MemberId, boot: number): void {
    this.#dead.set(owner, Math.max(boot, this.#dead.get(owner) ?? 0))
  }

  #sweep (): void {
    for (const [name, { endMs }] of this.#grants) if (endMs <= this.#now()) this.#grants.delete(name)
  }
}
