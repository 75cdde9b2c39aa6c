// Who is there? A node watches those it shares claims with: owners of pieces it is a member of, and members of its own.
// Signs of life are their requests and replies; who gives none for a while, or whose connection closed, is pinged. A
// process is taken for dead when two dials in a row are refused (or another store answers in its place), and for silent
// after `pingsMax` pings without an answer. Only pings sent since this node woke count: after a pause of its own every
// peer looks silent, and nobody is.

import type { Contact, Host } from '../host.ts'
import type { Member, MemberId } from '../member.ts'
import { pingMethod } from './messages.ts'

export interface WatchComponents {
  readonly host: Host
  /** Those to be watched now. */
  watched (): Iterable<Member>
  /** Highest boot of member that asked for a lease here. */
  bootOf (member: MemberId): number
  /** The process of this boot is dead for sure. */
  died (member: MemberId, boot: number): void
  /** `misses` pings in a row were not answered; refused: no process is there. */
  missed (member: Member, misses: number, refused: boolean): void
}

export interface WatchInit {
  /** Milliseconds without a sign of life after which a peer is pinged; and between pings of one that is suspected. */
  readonly pingIntervalMs: number
  /** Milliseconds that a ping waits for its answer; the next follows at once. */
  readonly pingMs: number
  /** Pings without an answer after which a peer is suspected. */
  readonly pingsMax: number
}

type Answer = 'alive' | 'refused' | 'silent'

interface Watched {
  heardMs: number
  misses: number
  isRefused: boolean
  isPinging: boolean
}

/** Milliseconds between dials after a first refusal, and how many. Guess: some times the pause that a host makes. */
const hurryMs = 30
const hurriesMax = 30

/** Milliseconds between looks. */
const lookMs = 1000

export class Watch {
  readonly #components: WatchComponents
  readonly #init: WatchInit
  readonly #watched = new Map<MemberId, Watched>()
  #lookedMs: number
  /** Grows when this node wakes from a pause: pings sent before count for nothing. */
  #wakes = 0
  #isStopped = false
  #unsubscribe: () => void = () => {}

  constructor (components: WatchComponents, init: WatchInit) {
    this.#components = components
    this.#init = init
    this.#lookedMs = components.host.now()
  }

  start (): void {
    this.#unsubscribe = this.#components.host.onGone(contact => { this.#lost(contact) })
    this.#lookLater()
  }

  stop (): void {
    this.#isStopped = true
    this.#unsubscribe()
  }

  heard (member: MemberId): void {
    const watched = this.#watched.get(member)
    if (watched === undefined) return
    watched.heardMs = this.#components.host.now()
    watched.misses = 0
    watched.isRefused = false
  }

  /** No process there, or none that answers, as far as is known now. */
  isSuspect (member: MemberId): boolean {
    const watched = this.#watched.get(member)
    return watched !== undefined && (watched.isRefused || watched.misses >= this.#init.pingsMax)
  }

  /** A request to member had no answer: look at once. */
  unanswered (member: Member): void {
    this.#ping(member)
  }

  #lost (contact: Contact): void {
    for (const member of this.#components.watched()) if (member.contact.id === contact.id) this.#ping(member)
  }

  #lookLater (): void {
    // with nobody to watch there is nothing to be late for
    const waitMs = this.#watched.size === 0 ? this.#init.pingIntervalMs : lookMs
    this.#components.host.after(waitMs, () => {
      if (this.#isStopped) return
      this.#look(waitMs)
      this.#lookLater()
    })
  }

  #look (waitMs: number): void {
    const now = this.#components.host.now()
    const isWaking = now - this.#lookedMs > waitMs + this.#init.pingIntervalMs
    this.#lookedMs = now
    if (isWaking) {
      this.#wakes++
      this.#watched.clear()
    }
    const present = new Set<MemberId>()
    for (const member of this.#components.watched()) {
      present.add(member.id)
      if (now - this.#entry(member.id).heardMs >= this.#init.pingIntervalMs) this.#ping(member)
    }
    for (const id of this.#watched.keys()) if (!present.has(id)) this.#watched.delete(id)
  }

  #entry (id: MemberId): Watched {
    let watched = this.#watched.get(id)
    if (watched === undefined) {
      watched = { heardMs: this.#components.host.now(), misses: 0, isRefused: false, isPinging: false }
      this.#watched.set(id, watched)
    }
    return watched
  }

  #ping (member: Member): void {
    const watched = this.#entry(member.id)
    if (watched.isPinging || this.#isStopped) return
    watched.isPinging = true
    void this.#pings(member, watched).finally(() => { watched.isPinging = false })
  }

  async #pings (member: Member, watched: Watched): Promise<void> {
    const wakes = this.#wakes
    let refusals = 0
    let hurries = 0
    while (!this.#isStopped && wakes === this.#wakes) {
      const boot = this.#components.bootOf(member.id)
      const answer = await this.#pingOnce(member, refusals === 1 ? hurryMs : this.#init.pingMs)
      if (wakes !== this.#wakes || this.#isStopped) return
      if (answer === 'alive') {
        this.heard(member.id)
        return
      }
      if (answer === 'refused') refusals++
      // a host may leave an address alone for a moment after a refusal: the next dial comes soon
      if (refusals === 1 && hurries++ < hurriesMax) continue
      // of the second refusal it is sure that its dial began after the first had been heard
      if (refusals > 1) {
        watched.isRefused = true
        this.#components.died(member.id, boot)
      }
      watched.misses++
      watched.heardMs = this.#components.host.now()
      this.#components.missed(member, watched.misses, watched.isRefused)
      if (watched.isRefused || watched.misses >= this.#init.pingsMax) return
    }
  }

  /** @param waitMs - an answer that there is none takes at least so long */
  async #pingOnce (member: Member, waitMs: number): Promise<Answer> {
    const { host, died } = this.#components
    let isRefused = false
    const sentMs = host.now()
    const off = host.onGone((contact, why) => { isRefused ||= why === 'refused' && contact.id === member.contact.id })
    try {
      const { member: there, boot } = await host.call(member.contact, pingMethod, {}, { deadlineMs: this.#init.pingMs })
      if (there !== member.id) return 'refused'
      died(member.id, boot - 1)
      return 'alive'
    } catch {
      if (isRefused) return 'refused'
      // a connection that broke at once says no more than a ping that waits its time
      await host.sleep(Math.max(0, sentMs + waitMs - host.now())).catch(() => {})
      return 'silent'
    } finally {
      off()
    }
  }
}
