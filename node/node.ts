// One node, put together: overlay and storage over a host and a store, and what the surface sees of them. It imports no
// libp2p, LevelDB or Fastify, so the same node runs in the simulator; node/daemon.ts makes it on a real machine.

import type { Host } from '../overlay/host.ts'
import type { OverlayInit } from '../overlay/init.ts'
import { everything } from '../overlay/interval.ts'
import { JoinError } from '../overlay/join.ts'
import { Overlay } from '../overlay/overlay.ts'
import { prefixed } from '../overlay/prefixed-store.ts'
import { walk, type Step } from '../overlay/routing/walk.ts'
import type { Store } from '../overlay/store.ts'
import { Storage } from '../storage/storage.ts'
import type { StorageInit } from '../storage/init.ts'
import type { StorageVerbs } from '../storage/storage-api.ts'
import { fromString } from 'uint8arrays/from-string'
import { describeMethod, type DescribeReply } from './describe.ts'
import type { NodeState, NodeStatus, NodeView, PeerRow, PeersAnswer } from './node-view.ts'
import { spatialParts } from './spatial-parts.ts'

export interface NodeComponents {
  readonly host: Host
  readonly store: Store
  /** One more address for Host.discover, as a user writes it. Absent where nobody writes any. */
  readonly introduce?: ((address: string) => void) | undefined
}

export interface NodeInit {
  readonly overlay: OverlayInit
  readonly storage: Omit<StorageInit, 'memberId' | 'unicodeVersion'>
  /** Unicode version of this JavaScript engine. */
  readonly unicodeVersion: string
  /** Version of the program. */
  readonly version: string
  /** Found a ring now; otherwise join the one that listed addresses lead to. */
  readonly founding: 'now' | 'after meeting'
  /** Bounds that users meet, for status. */
  readonly limits: Readonly<Record<string, number>>
}

/** What keys of records begin with in the store; all other rows are the overlay's. */
export const recordsPrefix = fromString('r')

export class Node implements NodeView {
  readonly overlay: Overlay
  /** Base URL of the HTTP API, once it listens. */
  rpc: string | undefined
  readonly #components: NodeComponents
  readonly #init: NodeInit
  readonly #startMs: number
  #storage: Storage | undefined
  #stopped: NodeState | undefined

  constructor (components: NodeComponents, init: NodeInit) {
    this.#components = components
    this.#init = init
    this.#startMs = components.host.now()
    this.overlay = new Overlay(components, init.overlay)
  }

  get storage (): StorageVerbs {
    if (this.#storage === undefined) throw new Error('the node has not been opened')
    return this.#storage
  }

  /** Open the store; then answer others, and join or found a ring, or go on with what the store owns. */
  async start (): Promise<void> {
    const { host, store } = this.#components
    await this.overlay.open()
    const records = prefixed(store, recordsPrefix)
    const storage = new Storage({ host, store: records, routing: this.overlay.routing, copies: this.overlay.copies, notes: prefixed(store, fromString('h')) }, { ...this.#init.storage, memberId: this.overlay.memberId, unicodeVersion: this.#init.unicodeVersion })
    this.#storage = storage
    await storage.open()
    storage.start()
    this.overlay.routing.handle(describeMethod, ({ key }) => ({ key, below: false }), () => this.#describe())
    await this.overlay.start(storage.holdings, this.#init)
  }

  /** Keeps claims and records for the next start. The host and the store are stopped by who made them. */
  stop (): void {
    this.#stopped = 'stopping'
    this.#storage?.stop()
    this.overlay.stop()
  }

  state (): NodeState {
    return this.#stopped ?? this.overlay.state
  }

  async status (): Promise<NodeStatus> {
    const { host } = this.#components
    const { ownership, neighbors, atlas } = this.overlay
    const { left, right } = neighbors.at(0)
    return {
      version: this.#init.version,
      memberId: this.overlay.memberId,
      peerId: host.self.id,
      addresses: host.self.addresses,
      state: this.state(),
      pieces: ownership.ownedSegments().map(({ interval, value: { claim } }) => ({ interval, chain: claim.chain, epoch: claim.epoch, members: claim.members })),
      spatial: ownership.ownedRuns().flatMap(run => spatialParts(run)),
      records: this.#records(),
      loadPerSecond: this.#storage?.requestsPerSecond() ?? 0,
      uptimeMs: host.now() - this.#startMs,
      left: left?.view.owner.contact.id,
      right: right?.view.owner.contact.id,
      levels: neighbors.height,
      atlasEntries: atlas.size,
      limits: this.#init.limits
    }
  }

  /** Walk the whole line and let each owner describe itself. */
  async peers (options: { deadlineMs: number, signal?: AbortSignal | undefined }): Promise<PeersAnswer> {
    const { host } = this.#components
    const endMs = host.now() + options.deadlineMs
    let askedMs = 0
    const steps = walk(everything, 'up', async target => {
      askedMs = host.now()
      return await this.overlay.routing.ask(target, describeMethod, { key: target.key }, { deadlineMs: Math.max(1, endMs - askedMs), signal: options.signal, repeatable: true })
    })
    const peers: PeerRow[] = []
    let complete = true
    for await (const step of steps) {
      if (step.kind === 'missing') complete = false
      peers.push(step.kind === 'owner' ? this.#ownerRow(step, host.now() - askedMs) : silentRow(step))
    }
    return { peers, complete }
  }

  async join (address: string): Promise<void> {
    const { introduce } = this.#components
    if (this.overlay.state === 'serving') throw new JoinError('this peer is in a ring already; a new one with an empty data directory can join another')
    if (introduce === undefined) throw new JoinError('this peer takes no addresses')
    introduce(address)
  }

  async leave ({ deadlineMs }: { deadlineMs: number }): Promise<void> {
    await this.overlay.leave(deadlineMs)
    this.#components.host.log.info({ area: 'leave' }, 'handed everything over')
  }

  #describe (): DescribeReply {
    return { state: this.state(), rpc: this.rpc, records: this.#records(), loadPerSecond: this.#storage?.requestsPerSecond() ?? 0 }
  }

  #records (): number {
    const counts = this.#storage?.counts
    return counts === undefined ? 0 : counts.ordered + counts.objects
  }

  #ownerRow ({ asked: { answer, interval, owner }, covered }: Extract<Step<DescribeReply>, { kind: 'owner' }>, rttMs: number): PeerRow {
    const known = this.overlay.atlas.at({ key: covered.low, below: false })
    const own = this.overlay.ownership.run()
    const view = owner.id === this.overlay.memberId ? own : known
    return {
      memberId: owner.id,
      peerId: owner.contact.id,
      addresses: owner.contact.addresses,
      rpc: answer.rpc,
      interval,
      spatial: spatialParts(interval),
      chain: view?.chain ?? '',
      epoch: view?.epoch ?? 0,
      records: answer.records,
      loadPerSecond: answer.loadPerSecond,
      state: answer.state,
      rttMs: owner.id === this.overlay.memberId ? undefined : rttMs
    }
  }
}

/** Keys for which nobody answers, as a row. */
function silentRow ({ interval, error }: Extract<Step<unknown>, { kind: 'missing' }>): PeerRow {
  return {
    memberId: '',
    peerId: error.ownerId ?? '',
    addresses: [],
    rpc: undefined,
    interval,
    spatial: spatialParts(interval),
    chain: '',
    epoch: 0,
    records: 0,
    loadPerSecond: 0,
    state: 'unreachable',
    rttMs: undefined
  }
}
