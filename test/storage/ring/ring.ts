// A simulated ring of whole nodes for tests of storage: prepared boundaries, loaders, and a random stream of its own.

import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import type { Key } from '../../../overlay/interval.ts'
import type { Extent } from '../../../overlay/space/extent.ts'
import type { Point } from '../../../overlay/space/point.ts'
import { curveKey, orderedKey } from '../../../storage/records/key-layout.ts'
import type { FindRequest, PageAnswer, RangeRequest } from '../../../storage/storage-api.ts'
import { Cluster, type ClusterInit, type SimNode } from '../../../testnet/simulator/cluster.ts'
import { prepareRing } from '../../../testnet/simulator/prepared-ring.ts'
import { Random } from '../../../testnet/simulator/random.ts'

export const deadline = { deadlineMs: 20_000 }
export const world: Extent = { kind: 'box', west: -180, south: -90, east: 180, north: 90 }

export class Ring {
  readonly cluster: Cluster
  readonly random: Random

  constructor (init: ClusterInit) {
    this.cluster = new Cluster({ latencyMs: { median: 5, sigma: 0.4 }, ...init, overlay: { copies: 1, ...init.overlay } })
    this.random = new Random(init.seed, 'test')
  }

  /** A ring whose nodes begin at these keys; the first begins at the lowest. */
  static async at (boundaries: readonly Key[], init: ClusterInit): Promise<Ring> {
    const ring = new Ring(init)
    const links = new Random(init.seed, 'links')
    for (const { name, store } of await ring.settle(prepareRing(boundaries, () => links.next()))) await ring.settle(ring.cluster.start(name, { store }))
    return ring
  }

  /** A ring that grew by joins, without a record. */
  static async joined (count: number, init: ClusterInit): Promise<Ring> {
    const ring = new Ring(init)
    await ring.settle(ring.cluster.join('n0', { founding: 'now' }))
    for (let index = 1; index < count; index++) await ring.settle(ring.cluster.join(`n${index}`, { bootstrap: ['n0'] }))
    return ring
  }

  get nodes (): SimNode[] {
    return [...this.cluster.nodes.values()]
  }

  async settle<T> (promise: Promise<T>): Promise<T> {
    return await this.cluster.settle(promise)
  }

  async pass (ms: number): Promise<void> {
    await this.cluster.run({ untilMs: this.cluster.world.now() + ms })
  }

  integer (below: number): number {
    return this.random.uint32() % below
  }

  pick<T> (items: readonly T[]): T {
    return items[this.integer(items.length)]!
  }

  /** A node that serves and is not among those that are about to go. */
  asker (going: ReadonlySet<string> = new Set()): SimNode {
    return this.pick(this.nodes.filter(({ name, overlay }) => overlay.state === 'serving' && !going.has(name)))
  }

  async putKey (key: string, value = `v${key}`, asker = this.asker()): Promise<void> {
    await asker.node.storage.put({ collection: 'kv', key: fromString(key), value: fromString(value), requestId: `${key} ${value}` }, deadline)
  }

  async putObject (id: string, point: Point | undefined, text?: string, asker = this.asker()): Promise<void> {
    await asker.node.storage.put({ collection: 'places', key: fromString(id), value: fromString(id), point, text }, deadline)
  }

  /** In groups, so that no node is told more at once than it takes. */
  async load<T> (items: readonly T[], put: (item: T, index: number) => Promise<void>): Promise<void> {
    const groupSize = 200
    for (let start = 0; start < items.length; start += groupSize) {
      await this.settle(Promise.all(items.slice(start, start + groupSize).map(async (item, index) => { await put(item, start + index) })))
    }
  }
}

export function range (more: Partial<RangeRequest> = {}): RangeRequest {
  return { collection: 'kv', limit: 10_000, ...more }
}

export function find (extent: Extent, more: Partial<FindRequest> = {}): FindRequest {
  return { collection: 'places', extent, words: [], match: 'all', limit: 10_000, ...more }
}

export function box (west: number, south: number, east: number, north: number): Extent {
  return { kind: 'box', west, south, east, north }
}

export function names ({ records }: PageAnswer): string[] {
  return records.map(({ key }) => toString(key))
}

/** Keys that part the keys 0000 to 9999 of kv evenly. */
export function kvBoundaries (nodes: number): Key[] {
  return Array.from({ length: nodes - 1 }, (_, index) => orderedKey('kv', fromString(Math.floor((index + 1) * 10_000 / nodes).toString().padStart(4, '0'))))
}

/** Keys that part the curve of places evenly; everything below it belongs to the first node. */
export function placeBoundaries (nodes: number): Key[] {
  return Array.from({ length: nodes - 1 }, (_, index) => curveKey('places', Math.floor((index + 1) * 2 ** 52 / nodes)))
}
