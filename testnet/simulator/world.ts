// A simulated world: a clock, a network, nodes by name, and faults. Same seed and same code give the same deliveries in
// the same order, which `digest` proves. A simulation of thousands of nodes runs in one process; nothing in it may await
// real input or output.

import assert from 'node:assert/strict'
import type { Contact, Logger, Metrics } from '../../overlay/host.ts'
import { VirtualClock } from './clock.ts'
import type { RunEnd, RunOptions } from './clock.ts'
import { Digest } from './digest.ts'
import { Network } from './network.ts'
import type { Latency } from './network.ts'
import { SimHost } from './sim-host.ts'

/** 2026-01-01 00:00 UTC: what the nodes' wall clocks show at the start. */
const wallStartMs = 1_767_225_600_000
/** One way, between machines of one continent (guess). */
const defaultLatencyMs: Latency = { median: 20, sigma: 0.4 }

export interface WorldInit {
  readonly seed: number
  readonly latencyMs?: Latency
  /** Share of requests, replies, notices and rows that are lost. 0 by default. */
  readonly lossShare?: number
  /** Share of notices that come twice. 0 by default. */
  readonly duplicateShare?: number
  /** True by default: messages pass through their wire codecs. */
  readonly codecs?: boolean
  /** A log for each node. Silent by default. */
  readonly log?: (name: string) => Logger
  readonly metrics?: (name: string) => Metrics
}

export interface SimHostOptions {
  /** Names of nodes that discover gives. */
  readonly bootstrap?: readonly string[]
}

export interface PartitionOptions {
  /** `both` by default; `out`: nothing gets from the first group to the second, but back it does. */
  readonly direction?: 'both' | 'out'
}

const silence = (): void => {}
const silentLog: Logger = { debug: silence, info: silence, warn: silence, error: silence }
const noMetrics: Metrics = { count: silence, gauge: silence, observe: silence }

export class World {
  readonly seed: number
  readonly clock = new VirtualClock()
  readonly network: Network
  readonly #init: WorldInit
  readonly #digest = new Digest()
  readonly #hosts = new Map<string, SimHost>()
  #made = 0
  readonly #boots = new Map<string, number>()

  constructor (init: WorldInit) {
    this.#init = init
    this.seed = init.seed
    this.network = new Network({ clock: this.clock, digest: this.#digest }, {
      latencyMs: init.latencyMs ?? defaultLatencyMs,
      lossShare: init.lossShare ?? 0,
      duplicateShare: init.duplicateShare ?? 0
    })
  }

  /** Makes a node. A name may be used again once its former node was killed: the same contact, a new boot. */
  host (name: string, { bootstrap = [] }: SimHostOptions = {}): SimHost {
    const former = this.#hosts.get(name)
    assert(former?.state !== 'up', `${name} runs already`)
    if (former !== undefined) former.state = 'dead'
    const host = this.#make(name, bootstrap)
    this.#hosts.set(name, host)
    this.#boots.set(name, (this.#boots.get(name) ?? 0) + 1)
    return host
  }

  /** Ends a process: its connections close, and later dials are refused. */
  kill (name: string): void { this.#get(name).end('dead') }

  /** Ends a machine: nothing comes from it any more, no refusal either. */
  vanish (name: string): void { this.#get(name).end('silent') }

  /** Stops a node in its tracks, as SIGSTOP does: its clock goes on, and what is sent to it waits. */
  pause (name: string): void { this.#get(name).paused = true }

  /** Stops a node as a laptop's lid does: its clock goes on, and what is sent to it is lost. */
  suspend (name: string): void {
    const host = this.#get(name)
    host.paused = true
    host.asleep = true
  }

  isPaused (name: string): boolean { return this.#get(name).paused }

  /** Ends a pause or a sleep. */
  resume (name: string): void {
    const host = this.#get(name)
    host.paused = false
    host.asleep = false
    host.release()
  }

  /** Parts two groups of nodes; returns the healing. */
  partition (first: Iterable<string>, second: Iterable<string>, { direction = 'both' }: PartitionOptions = {}): () => void {
    const [from, to] = [new Set(first), new Set(second)]
    const out = this.network.cut(from, to)
    const back = direction === 'both' ? this.network.cut(to, from) : silence
    return () => { out(); back() }
  }

  /** Makes the wall clock of one node jump. */
  jumpWallClock (name: string, byMs: number): void { this.#get(name).wallOffsetMs += byMs }

  now (): number { return this.clock.now() }

  run (options: RunOptions): Promise<RunEnd> { return this.clock.run(options) }

  /** Runs until promise has settled, and gives what it gives. Throws where nothing is left that could settle it. */
  async settle<T> (promise: Promise<T>): Promise<T> {
    let settled = false
    const note = (): void => { settled = true }
    promise.then(note, note)
    const end = await this.clock.run({ until: () => settled })
    assert(end === 'until', `nothing is left to happen at ${this.now()} ms, and the promise still waits`)
    return await promise
  }

  /** 16 hexadecimal digits for all that was delivered so far, with time, ends, method and bytes. */
  digest (): string { return this.#digest.hex() }

  #make (name: string, bootstrap: readonly string[]): SimHost {
    const init = this.#init
    const contact = (id: string): Contact => ({ id, addresses: [`/memory/${id}`] })
    return new SimHost({
      clock: this.clock,
      network: this.network,
      log: init.log?.(name) ?? silentLog,
      metrics: init.metrics?.(name) ?? noMetrics,
      find: id => this.#find(id)
    }, {
      name,
      boot: this.#boots.get(name) ?? 0,
      seed: init.seed,
      index: this.#made++,
      wallStartMs,
      codecs: init.codecs ?? true,
      bootstrap: bootstrap.map(contact)
    })
  }

  #find (id: string): SimHost {
    const host = this.#hosts.get(id)
    if (host !== undefined) return host
    // Nobody was ever there: its machine refuses, as for a port without a listener.
    const nobody = this.#make(id, [])
    nobody.state = 'dead'
    this.#hosts.set(id, nobody)
    return nobody
  }

  #get (name: string): SimHost {
    const host = this.#hosts.get(name)
    assert(host !== undefined, `there is no node ${name}`)
    return host
  }
}
