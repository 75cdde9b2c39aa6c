// Nodes of the daemon's own code in a simulated world: started, stopped, killed, left, restarted on their old disks or on
// empty ones, with the checkers after every event.

import { overlayDefaults, type OverlayInit } from '../../overlay/init.ts'
import type { Overlay } from '../../overlay/overlay.ts'
import type { Ownership } from '../../overlay/ownership/ownership.ts'
import { Node } from '../../node/node.ts'
import { storageDefaults } from '../../storage/init.ts'
import type { MemoryStore } from '../../storage/memory-store.ts'
import { OneServer } from './checkers/one-server.ts'
import { Tiling } from './checkers/tiling.ts'
import type { Checker } from './checkers/checker.ts'
import type { RunEnd, RunOptions } from './clock.ts'
import { SimDisk, type DiskPace } from './sim-disk.ts'
import { World, type WorldInit } from './world.ts'

/** Virtual time that `settle` gives a promise: whatever a node does has a deadline below that. */
const settleMsMax = 900_000

export interface SimNode {
  readonly name: string
  readonly node: Node
  readonly overlay: Overlay
  /** Undefined until the store is open. */
  readonly ownership: Ownership | undefined
  /** It has read its store and answers others. */
  isStarted: boolean
  /** Resolves when it is stopped, killed, or has left. */
  readonly ended: Promise<void>
}

export interface ClusterInit extends WorldInit {
  readonly overlay?: Partial<OverlayInit>
  readonly storage?: Partial<typeof storageDefaults>
  /** How long a flush takes. At once by default. */
  readonly flushMs?: number
}

export interface StartInit {
  readonly bootstrap?: readonly string[]
  readonly founding?: 'now' | 'after meeting'
  /** A prepared store; by default the node's former disk, or an empty one. */
  readonly store?: MemoryStore
}

export class Cluster {
  readonly world: World
  readonly nodes = new Map<string, SimNode>()
  readonly #disks = new Map<string, MemoryStore>()
  readonly #ends = new Map<string, () => void>()
  readonly #paces = new Map<string, DiskPace>()
  readonly #init: ClusterInit
  readonly #tiling = new Tiling()
  readonly #checkers: Checker[]

  /** @param more - checkers beside those of ownership */
  constructor (init: ClusterInit, more: readonly Checker[] = []) {
    this.#init = init
    this.world = new World(init)
    this.#checkers = [new OneServer(), this.#tiling, ...more]
  }

  /** Start a node; resolves when it has begun to answer, not when it serves. */
  async start (name: string, { bootstrap = [], founding = 'after meeting', store }: StartInit = {}): Promise<SimNode> {
    const former = this.#disks.get(name)
    const host = this.world.host(name, { bootstrap })
    const disk = store ?? new SimDisk(host, this.paceOf(name), former?.rows)
    this.#disks.set(name, disk)
    const node = new Node({ host, store: disk }, {
      overlay: { ...overlayDefaults, ...this.#init.overlay },
      storage: { ...storageDefaults, ...this.#init.storage },
      unicodeVersion: 'simulated',
      version: 'simulated',
      founding,
      limits: {}
    })
    const ended = new Promise<void>(resolve => { this.#ends.set(name, resolve) })
    const simulated: SimNode = { name, node, overlay: node.overlay, get ownership () { return node.overlay.ownership }, isStarted: false, ended }
    this.nodes.set(name, simulated)
    await node.start()
    simulated.isStarted = true
    return simulated
  }

  /** Resolves when the node serves. */
  async join (name: string, init: StartInit = {}): Promise<SimNode> {
    const started = await this.start(name, init)
    await started.overlay.whenServing()
    return started
  }

  get (name: string): SimNode {
    const node = this.nodes.get(name)
    if (node === undefined) throw new RangeError(`no node ${name} is up`)
    return node
  }

  /** How long a flush takes where nothing slows it. */
  get flushMs (): number { return this.#init.flushMs ?? 0 }

  /** Of the node of this name, now and after its next start. */
  paceOf (name: string): DiskPace {
    const pace = this.#paces.get(name) ?? { flushMs: this.flushMs }
    this.#paces.set(name, pace)
    return pace
  }

  /** A graceful stop: claims and disk stay for `start`. */
  stop (name: string): void {
    this.get(name).node.stop()
    this.kill(name, { writtenShare: 1 })
  }

  /** An end between two events: what was not flushed is gone but for a share of it, claims and disk stay for `start`. */
  kill (name: string, { writtenShare = 0 } = {}): void {
    const node = this.get(name)
    this.#end(name, writtenShare)
    this.#tiling.excuse(node)
  }

  /** What a node of this name will find on its disk. */
  keepDisk (name: string, disk: MemoryStore): void {
    this.#disks.set(name, disk)
  }

  /** The disk of a node that is down is gone for good: at its next start it is a new member. */
  loseDisk (name: string): void {
    if (this.nodes.has(name)) throw new RangeError(`${name} is up`)
    this.#disks.delete(name)
  }

  /** Hand all over and stop. From then on nobody may take this node for an owner. */
  async leave (name: string, deadlineMs: number): Promise<void> {
    const { node } = this.get(name)
    await node.leave({ deadlineMs })
    node.stop()
    this.#end(name, 1)
    this.#tiling.lookAgain()
  }

  /** Nodes that are up, and those that are down or gone, as they were when they ended. */
  stores (): SimNode[] {
    return this.#tiling.stores(this.nodes)
  }

  /** Run with the checkers after each event. */
  async run (options: RunOptions): Promise<RunEnd> {
    return await this.world.run({ ...options, until: () => { this.#check(); return options.until?.() ?? false } })
  }

  /** Run until promise settles, with the checkers after each event. */
  async settle<T> (promise: Promise<T>): Promise<T> {
    let settled = false
    const note = (): void => { settled = true }
    promise.then(note, note)
    await this.run({ until: () => settled, untilMs: this.world.now() + settleMsMax })
    if (!settled) throw new Error(`at ${this.world.now()} ms of virtual time the promise still waits`)
    return await promise
  }

  #end (name: string, writtenShare: number): void {
    this.nodes.delete(name)
    this.world.kill(name)
    const disk = this.#disks.get(name)
    if (disk instanceof SimDisk) disk.crash(writtenShare)
    this.#ends.get(name)?.()
  }

  #check (): void {
    for (const checker of this.#checkers) checker.check(this.nodes)
  }
}
