// Who this store is: the member id that claims name, and what must never go back while the store lives: its boot
// count, its ballot counter and its placement. An empty store is a new member, whatever key its node has
// (docs/ownership.md, "An empty disk is a new member").

import { fromString } from 'uint8arrays/from-string'
import type { Host } from './host.ts'
import type { MemberId } from './member.ts'
import type { Store } from './store.ts'

const row = fromString('identity')

/** Hex digits of a member id: 128 random bits. */
const memberIdDigits = 32

export interface KeptIdentity {
  readonly member: MemberId
  /** 32 random bits, lowest first. */
  readonly vector: number
  readonly boot: number
  readonly placement: number
  readonly ballotCounter: number
}

export class StoreIdentity {
  readonly #store: Store
  #kept: KeptIdentity

  private constructor (store: Store, kept: KeptIdentity) {
    this.#store = store
    this.#kept = kept
  }

  /** Read the identity, or make one for an empty store, and count this boot. Resolves when flushed. */
  static async open (store: Store, host: Pick<Host, 'random'>): Promise<StoreIdentity> {
    const bytes = store.getSync(row)
    const kept: KeptIdentity = bytes === undefined
      ? { member: randomHex(host, memberIdDigits), vector: Math.floor(host.random() * 2 ** 32), boot: 0, placement: 0, ballotCounter: 0 }
      : JSON.parse(new TextDecoder().decode(bytes))
    const identity = new StoreIdentity(store, kept)
    await identity.#keep({ boot: kept.boot + 1 })
    return identity
  }

  /** Give an empty store an identity made elsewhere: for rings that start from prepared stores. */
  static async prepare (store: Store, kept: KeptIdentity): Promise<void> {
    await new StoreIdentity(store, kept).#keep({})
  }

  get member (): MemberId { return this.#kept.member }
  get vector (): number { return this.#kept.vector }
  get boot (): number { return this.#kept.boot }
  get placement (): number { return this.#kept.placement }
  get ballotCounter (): number { return this.#kept.ballotCounter }

  /** A new place in the graph: links to the earlier one are void. */
  async placeAnew (): Promise<void> {
    await this.#keep({ placement: this.#kept.placement + 1 })
  }

  /** Flushed before a ballot with this counter leaves, so no number is given twice. */
  async useBallot (counter: number): Promise<void> {
    if (counter > this.#kept.ballotCounter) await this.#keep({ ballotCounter: counter })
  }

  async #keep (changed: Partial<KeptIdentity>): Promise<void> {
    this.#kept = { ...this.#kept, ...changed }
    await this.#store.batch([{ type: 'put', key: row, value: new TextEncoder().encode(JSON.stringify(this.#kept)) }])
  }
}

export function randomHex (host: Pick<Host, 'random'>, digits: number): string {
  let text = ''
  while (text.length < digits) text += Math.floor(host.random() * 16).toString(16)
  return text
}
