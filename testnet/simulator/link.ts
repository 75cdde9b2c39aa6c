// One end of a connection between two simulated nodes. A link begins by a dial that takes one round trip, during which
// packets wait; it ends when the far process ends, and what waits on it ends with it.

import type { SimHost } from './sim-host.ts'
import type { Packet } from './packet.ts'
import type { PendingCall } from './pending-call.ts'
import type { PullEnd } from './pull-end.ts'

const nothing: readonly Packet[] = []

export class Link {
  readonly id: string
  readonly far: SimHost
  state: 'dialing' | 'open' | 'closed'
  waiting: Packet[] | undefined
  #pulls: Set<PullEnd> | undefined
  // Calls without replies form a list through the calls themselves, so that a link without calls costs nothing: with
  // thousands of nodes there are millions of links.
  #firstCall: PendingCall | undefined

  constructor (far: SimHost, state: 'dialing' | 'open') {
    this.id = far.self.id
    this.far = far
    this.state = state
  }

  send (packet: Packet): void {
    if (this.state === 'open') {
      if (packet.call !== undefined) packet.call.sent = true
      packet.network.send(packet)
    } else if (this.state === 'dialing') {
      this.waiting ??= []
      this.waiting.push(packet)
    }
  }

  open (): void {
    this.state = 'open'
    const waiting = this.waiting ?? nothing
    this.waiting = undefined
    for (const packet of waiting) if (packet.call?.settled !== true) this.send(packet)
  }

  addCall (call: PendingCall): void {
    const first = this.#firstCall
    call.next = first
    if (first !== undefined) first.previous = call
    this.#firstCall = call
  }

  removeCall (call: PendingCall): void {
    if (call.previous === undefined) this.#firstCall = call.next
    else call.previous.next = call.next
    if (call.next !== undefined) call.next.previous = call.previous
    call.next = call.previous = undefined
  }

  addPull (pull: PullEnd): void {
    this.#pulls ??= new Set()
    this.#pulls.add(pull)
  }

  removePull (pull: PullEnd): void { this.#pulls?.delete(pull) }

  /** Ends all that waits, the newest call first; a call that was sent may have been carried out. */
  close (lost: () => Error, unsent: () => Error): void {
    this.state = 'closed'
    this.waiting = undefined
    for (let call = this.#firstCall; call !== undefined; call = this.#firstCall) call.reject(call.sent ? lost() : unsent())
    for (const pull of [...this.#pulls ?? []]) pull.lose(lost())
  }
}
