// Carries out a plan of faults on a cluster, each at its time, and at the end heals whatever still lasts: nodes that are down
// start with what their disks hold, paused ones go on, cuts close. What a node is in no state for does not happen and is not
// counted.

import type { Register } from '../../../overlay/ownership/register.ts'
import type { Cluster, SimNode } from '../cluster.ts'
import type { NetworkInit } from '../network.ts'
import { mayLoseDisk } from './spare-disks.ts'
import type { Fault, FaultKind } from './fault.ts'

type Of<Kind extends FaultKind> = Extract<Fault, { kind: Kind }>

export interface FaultsInit {
  /** Of the members of one claim, so many may lose their disks for good. */
  readonly disksLostMax: number
  /** Told of a node that could not start, which no fault excuses. */
  readonly onFailure: (error: unknown) => void
  readonly onFault?: (fault: Fault, what: 'happens' | 'cannot happen now') => void
}

/** Guess: as a script that asks again. */
const leaveAgainMs = 1000

export class Faults {
  readonly #cluster: Cluster
  readonly #init: FaultsInit
  readonly #calm: NetworkInit
  readonly #storms = new Set<Of<'network'>>()
  readonly #slow = new Set<Of<'slow disk'>>()
  readonly #ends = new Set<() => void>()
  readonly #down = new Set<string>()
  /** Members whose disks are lost. */
  readonly #lost = new Set<string>()
  #isOver = false
  /** Faults that happened. */
  readonly counts: Partial<Record<FaultKind | 'disk lost' | 'leave refused', number>> = {}
  restarts = 0

  constructor (cluster: Cluster, init: FaultsInit) {
    this.#cluster = cluster
    this.#init = init
    this.#calm = cluster.world.network.conditions
  }

  /** Times of the plan count from now. */
  schedule (plan: readonly Fault[]): void {
    for (const fault of plan) this.#after(fault.atMs, () => { if (!this.#isOver) this.#begin(fault) })
  }

  /** From now on nothing goes wrong any more. */
  heal (): void {
    this.#isOver = true
    for (const end of [...this.#ends]) end()
  }

  #begin (fault: Fault): void {
    const happens = this.#carryOut(fault)
    if (happens) this.#count(fault.kind)
    this.#init.onFault?.(fault, happens ? 'happens' : 'cannot happen now')
  }

  /** False where it cannot happen now. */
  #carryOut (fault: Fault): boolean {
    const { world } = this.#cluster
    if ('node' in fault && fault.kind !== 'join' && fault.kind !== 'slow disk' && !this.#cluster.nodes.has(fault.node)) return false
    switch (fault.kind) {
      case 'crash': this.#crash(fault); return true
      case 'stop': this.#cluster.stop(fault.node); this.#restartLater(fault.node, fault.downMs); return true
      case 'pause': return this.#pause(fault.node, fault.forMs, () => { world.pause(fault.node) })
      case 'suspend': return this.#pause(fault.node, fault.forMs, () => { world.suspend(fault.node) })
      case 'partition': this.#lasting(fault.forMs, world.partition(fault.from, fault.to, fault)); return true
      case 'network': this.#during(this.#storms, fault, () => { this.#blow() }); return true
      case 'slow disk': this.#during(this.#slow, fault, () => { this.#pace(fault.node) }); return true
      case 'join': return this.#join(fault.node)
      case 'leave': return this.#leave(fault)
      case 'clock': world.jumpWallClock(fault.node, fault.byMs); return true
    }
  }

  #crash ({ node, disk, downMs, writtenShare }: Of<'crash'>): void {
    const { isStarted, overlay } = this.#cluster.get(node)
    const isLost = disk === 'lost' && isStarted && mayLoseDisk(this.#registers(), this.#lost, overlay.memberId, this.#init.disksLostMax)
    this.#cluster.kill(node, { writtenShare })
    if (isLost) {
      this.#lost.add(overlay.memberId)
      this.#cluster.loseDisk(node)
      this.#count('disk lost')
    }
    this.#restartLater(node, downMs)
  }

  /** Of all stores that are not lost. */
  #registers (): Register[] {
    return this.#cluster.stores().filter(({ overlay }) => !this.#lost.has(overlay.memberId)).flatMap(({ ownership }) => ownership?.registers.entries() ?? []).map(({ value }) => value)
  }

  #restartLater (name: string, downMs: number): void {
    this.#down.add(name)
    this.#lasting(downMs, () => {
      this.#down.delete(name)
      this.restarts++
      this.#start(name)
    })
  }

  #start (name: string): void {
    const bootstrap = [...this.#cluster.nodes.keys(), ...this.#down]
    this.#cluster.start(name, { bootstrap }).catch(this.#init.onFailure)
  }

  #pause (name: string, forMs: number, stop: () => void): boolean {
    if (this.#cluster.world.isPaused(name)) return false
    stop()
    this.#lasting(forMs, () => { this.#cluster.world.resume(name) })
    return true
  }

  #join (name: string): boolean {
    if (this.#cluster.nodes.has(name) || this.#down.has(name)) return false
    this.#start(name)
    return true
  }

  #leave ({ node, deadlineMs }: Of<'leave'>): boolean {
    const others = [...this.#cluster.nodes.values()].filter(({ name, overlay }) => name !== node && overlay.state === 'serving')
    const leaver = this.#cluster.get(node)
    if (leaver.overlay.state !== 'serving' || others.length === 0 || this.#cluster.world.isPaused(node)) return false
    this.#leaveNow(leaver, deadlineMs)
    return true
  }

  /** Where it is refused, or not done in time, the node stays; with nothing left to serve it is told again. */
  #leaveNow (leaver: SimNode, deadlineMs: number): void {
    this.#cluster.leave(leaver.name, deadlineMs).catch(() => {
      this.#count('leave refused')
      this.#after(leaveAgainMs, () => {
        if (this.#cluster.nodes.get(leaver.name) === leaver && leaver.overlay.state === 'leaving') this.#leaveNow(leaver, deadlineMs)
      })
    })
  }

  /** The worst of each that blows now. */
  #blow (): void {
    const { network } = this.#cluster.world
    const all: NetworkInit[] = [this.#calm, ...this.#storms]
    network.conditions = {
      latencyMs: all.at(-1)!.latencyMs,
      lossShare: Math.max(...all.map(({ lossShare }) => lossShare)),
      duplicateShare: Math.max(...all.map(({ duplicateShare }) => duplicateShare))
    }
  }

  #pace (name: string): void {
    const pace = this.#cluster.paceOf(name)
    pace.flushMs = Math.max(this.#cluster.flushMs, ...[...this.#slow].filter(({ node }) => node === name).map(({ flushMs }) => flushMs))
  }

  #during<Lasting extends Fault & { readonly forMs: number }> (active: Set<Lasting>, fault: Lasting, update: () => void): void {
    active.add(fault)
    update()
    this.#lasting(fault.forMs, () => {
      active.delete(fault)
      update()
    })
  }

  /** Calls end once: after ms, or when all is healed. */
  #lasting (ms: number, end: () => void): void {
    const once = (): void => { if (this.#ends.delete(once)) end() }
    this.#ends.add(once)
    this.#after(ms, once)
  }

  #after (ms: number, run: () => void): void {
    this.#cluster.world.clock.schedule(ms, { run })
  }

  #count (kind: keyof Faults['counts']): void {
    this.counts[kind] = (this.counts[kind] ?? 0) + 1
  }
}
