// What goes between simulated nodes. A request's packet turns round and carries the reply, so a call makes one object.
// The body is bytes where the world uses the wire codecs, else the message itself.

import type { Task } from './event-queue.ts'
import type { Network } from './network.ts'
import type { PendingCall } from './pending-call.ts'
import type { PullSession } from './pull-end.ts'
import type { SimHost } from './sim-host.ts'

/** Kinds from `request` on may be lost; those before stand for what the operating system sees through. */
export const packetKinds = {
  dial: 0, accept: 1, refuse: 2, closed: 3, request: 4, reply: 5, failure: 6, notice: 7, row: 8, end: 9, credit: 10, stop: 11
} as const

export type PacketKind = typeof packetKinds[keyof typeof packetKinds]

/** An error as it goes over the wire. */
export interface Failure {
  readonly name: string
  readonly message: string
  readonly definite: boolean
}

export class Packet implements Task {
  /** Of kind row, end: its place in the order of rows. Of kind credit: rows more. */
  number = 0
  call: PendingCall | undefined = undefined
  session: PullSession | undefined = undefined
  readonly network: Network
  kind: PacketKind
  from: SimHost
  to: SimHost
  readonly method: string
  body: unknown

  constructor (network: Network, kind: PacketKind, from: SimHost, to: SimHost, method: string, body: unknown) {
    this.network = network
    this.kind = kind
    this.from = from
    this.to = to
    this.method = method
    this.body = body
  }

  run (): void { this.network.deliver(this) }

  /** Sends this packet back to where it came from, as another kind. */
  answer (kind: PacketKind, body: unknown): void {
    const from = this.to
    this.to = this.from
    this.from = from
    this.kind = kind
    this.body = body
    this.network.send(this)
  }

  copy (): Packet {
    return new Packet(this.network, this.kind, this.from, this.to, this.method, this.body)
  }

  /** What the operating system of a dead process answers; undefined where it says nothing. */
  refusal (): Packet | undefined {
    if (this.kind === packetKinds.refuse || this.kind === packetKinds.closed) return undefined
    const kind = this.kind === packetKinds.dial ? packetKinds.refuse : packetKinds.closed
    return new Packet(this.network, kind, this.to, this.from, '', undefined)
  }
}
