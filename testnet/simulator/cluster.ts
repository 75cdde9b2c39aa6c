// Nodes of the daemon's own code in a simulated world: started, stopped, left, restarted on their old disks, with the
// checkers after every event.

import { overlayDefaults, type OverlayInit } from '../../overlay/init.ts'
import type { Overlay } from '../../overlay/overlay.ts'
import type { Ownership } from '../../overlay/ownership/ownership.ts'
import { Node } from '../../node/node.ts'
import { storageDefaults } from '../../storage/init.ts'
import { MemoryStore } from '../../storage/memory-store.ts'
import { OneServer } from './checkers/one-server.ts'
import { Tiling } from './checkers/tiling.ts'
import type { Checker } from './checkers/checker.ts'
import type { RunOptions } from './clock.ts'
import { World, type WorldInit } from './world.ts'

/** Virtual time that `settle` gives a promise: whatever a node does has a deadline below that. */
const settleMsMax = 900_000

export interface SimNode {
  readonly name: string
  readonly node: Node
  readonly overlay: Overlay
  /** Undefined until the store is open. */
  ownership: Ownership | undefined
}

export interface ClusterInit extends WorldInit {
  readonly overlay?: Partial<OverlayInit>
  readonly storage?: Partial<typeof storageDefaults>
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
  readonly #init: ClusterInit
  readonly #tiling = new Tiling()
  readonly #checkers: Checker[] = [new OneServer(), this.#tiling]

  constructor (init: ClusterInit) {
    this.#init = init
    this.world = new World(init)
  }

  /** Start a node; resolves when it has begun to answer, not when it serves. */
  async start (name: string, { bootstrap = [], founding = 'after meeting', store }: StartInit = {}): Promise<SimNode> {
    const former = this.#disks.get(name)
    const disk = store ?? new MemoryStore(undefined, former?.rows)
    this.#disks.set(name, disk)
    const host = this.world.host(name, { bootstrap })
    const node = new Node({ host, store: disk }, {
      overlay: { ...overlayDefaults, ...this.#init.overlay },
      storage: { ...storageDefaults, ...this.#init.storage },
      unicodeVersion: 'simulated',
      version: 'simulated',
      founding,
      limits: {}
    })
    const simulated: SimNode = { name, node, overlay: node.overlay, ownership: undefined }
    this.nodes.set(name, simulated)
    await node.start()
    simulated.ownership = node.overlay.ownership
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

  /** A graceful stop: claims and disk stay for `start`. */
  stop (name: string): void {
    this.get(name).node.stop()
    this.kill(name)
  }

  /** An end between two events: what was not flushed is gone, claims and disk stay for `start`. */
  kill (name: string): void {
    const node = this.get(name)
    this.nodes.delete(name)
    this.world.kill(name)
    this.#tiling.excuse(node)
  }

  /** Hand all over and stop. From then on nobody may take this node for an owner. */
  async leave (name: string, deadlineMs: number): Promise<void> {
    await this.get(name).node.leave({ deadlineMs })
    this.get(name).node.stop()
    this.nodes.delete(name)
    this.world.kill(name)
    this.#tiling.lookAgain()
  }

  /** Run with the checkers after each event. */
  async run (options: RunOptions): Promise<void> {
    await this.world.run({ ...options, until: () => { this.#check(); return options.until?.() ?? false } })
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

  #check (): void {
    for (const checker of this.#checkers) checker.check(this.nodes)
  }
}
