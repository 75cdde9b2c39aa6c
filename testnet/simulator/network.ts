// The network between simulated nodes: each packet takes its own time, so packets overtake each other, and may be lost;
// notices may come twice. Cuts part groups of nodes in one or both directions. A dead node (its process ended) answers
// by a refusal, as an operating system does for a closed port; a silent one (its machine lost power) and one that sleeps
// (its lid is closed) answer nothing.
// Bandwidth is not modeled, and a connection outlives any cut: what is sent into a cut is gone, which is harsher than
// TCP's resending. Every delivery goes into the digest.

import type { VirtualClock } from './clock.ts'
import type { Digest } from './digest.ts'
import type { Packet } from './packet.ts'
import { packetKinds } from './packet.ts'
import type { Random } from './random.ts'

/** One way delay: uniform between two values, or log-normal around a median with `sigma` of the logarithm. */
export type Latency = { readonly min: number, readonly max: number } | { readonly median: number, readonly sigma: number }

export interface NetworkInit {
  readonly latencyMs: Latency
  /** Share of requests, replies, notices and rows that are lost, 0 to 1. */
  readonly lossShare: number
  /** Share of notices that come twice. */
  readonly duplicateShare: number
}

export interface NetworkComponents {
  readonly clock: VirtualClock
  readonly digest: Digest
}

interface Cut {
  readonly from: ReadonlySet<string>
  readonly to: ReadonlySet<string>
}

export function drawLatency (latency: Latency, random: Random): number {
  if ('min' in latency) return latency.min + (latency.max - latency.min) * random.next()
  // Box and Muller's transform, 1958; 1 - u keeps the logarithm's argument above 0.
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
  return latency.median * Math.exp(latency.sigma * normal)
}

export class Network {
  readonly #clock: VirtualClock
  readonly #digest: Digest
  /** May be replaced during a run. */
  conditions: NetworkInit
  readonly #cuts = new Set<Cut>()
  readonly #methodHashes = new Map<string, number>()
  /** Packets delivered since the start. */
  delivered = 0

  constructor ({ clock, digest }: NetworkComponents, init: NetworkInit) {
    this.#clock = clock
    this.#digest = digest
    this.conditions = init
  }

  /** Nothing gets from one group to the other until the returned function is called. */
  cut (from: ReadonlySet<string>, to: ReadonlySet<string>): () => void {
    const cut = { from, to }
    this.#cuts.add(cut)
    return () => { this.#cuts.delete(cut) }
  }

  send (packet: Packet): void {
    const { from, to } = packet
    if (from === to) { this.#clock.schedule(0, packet); return }
    if (from.state === 'silent' || this.#isCut(from.self.id, to.self.id)) return
    const { latencyMs, lossShare, duplicateShare } = this.conditions
    const random = from.networkRandom
    if (packet.kind >= packetKinds.request && lossShare > 0 && random.next() < lossShare) return
    this.#clock.schedule(drawLatency(latencyMs, random), packet)
    if (packet.kind === packetKinds.notice && duplicateShare > 0 && random.next() < duplicateShare) {
      this.#clock.schedule(drawLatency(latencyMs, random), packet.copy())
    }
  }

  deliver (packet: Packet): void {
    const { to } = packet
    if (to.state === 'up') {
      if (to.asleep) return
      if (to.paused) { to.hold(packet); return }
      this.delivered++
      this.#note(packet)
      to.receive(packet)
    } else if (to.state === 'dead') {
      const answer = packet.refusal()
      if (answer !== undefined) this.send(answer)
    }
  }

  #isCut (from: string, to: string): boolean {
    if (this.#cuts.size === 0) return false
    for (const cut of this.#cuts) if (cut.from.has(from) && cut.to.has(to)) return true
    return false
  }

  #note (packet: Packet): void {
    const digest = this.#digest
    digest.number(this.#clock.now())
    digest.word(packet.from.index)
    digest.word(packet.to.index)
    digest.word(packet.kind)
    digest.word(this.#hashOf(packet.method))
    if (packet.body instanceof Uint8Array) digest.bytes(packet.body)
  }

  #hashOf (method: string): number {
    let hash = this.#methodHashes.get(method)
    if (hash === undefined) {
      hash = 0
      for (let i = 0; i < method.length; i++) hash = (Math.imul(hash, 31) + method.charCodeAt(i)) | 0
      this.#methodHashes.set(method, hash)
    }
    return hash
  }
}
