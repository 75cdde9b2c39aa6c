// What the surface (HTTP, CLI) sees of a running node: its verbs and its state. node/node.ts implements it; tests of
// the surface may put a smaller one in its place.

import type { Interval } from '../overlay/interval.ts'
import type { StorageVerbs } from '../storage/storage-api.ts'

export type NodeState = 'starting' | 'joining' | 'serving' | 'leaving' | 'stopping' | 'stopped'

/** One spatial collection's part of an interval. */
export interface SpatialPart {
  readonly collection: string
  /** Smallest box that holds the part: west, south, east, north. */
  readonly bbox: readonly [number, number, number, number]
  /** Of the collection's whole space, 0..1. */
  readonly share: number
}

/** One owner in key order, as `peers` and `ranges` list it. */
export interface PeerRow {
  readonly memberId: string
  readonly peerId: string
  readonly addresses: readonly string[]
  /** Base URL of its HTTP API, where it told one. */
  readonly rpc: string | undefined
  readonly interval: Interval
  readonly spatial: readonly SpatialPart[]
  readonly chain: string
  readonly epoch: number
  /** Live records held as owner (place entries and id records of one object count once). */
  readonly records: number
  /** Requests a second, averaged over about ten seconds. */
  readonly loadPerSecond: number
  /** `unreachable`: known from others, but it does not answer; records and load are 0 then. */
  readonly state: NodeState | 'unreachable'
  readonly rttMs: number | undefined
}

export interface PeersAnswer {
  readonly peers: readonly PeerRow[]
  /** False when some part of the key line has no owner that answers. */
  readonly complete: boolean
}

export interface NodeStatus {
  readonly version: string
  readonly memberId: string
  readonly peerId: string
  readonly addresses: readonly string[]
  readonly state: NodeState
  /** Pieces owned, in key order. */
  readonly pieces: ReadonlyArray<{ readonly interval: Interval, readonly chain: string, readonly epoch: number, readonly members: readonly string[] }>
  readonly spatial: readonly SpatialPart[]
  readonly records: number
  readonly loadPerSecond: number
  readonly uptimeMs: number
  /** Contacts at level 0 and the number of levels linked. */
  readonly left: string | undefined
  readonly right: string | undefined
  readonly levels: number
  readonly atlasEntries: number
  /** Bounds that users meet, by name, e.g. valueBytesMax, bodyBytesMax. */
  readonly limits: Readonly<Record<string, number>>
}

export interface NodeView {
  readonly storage: StorageVerbs
  state (): NodeState
  status (): Promise<NodeStatus>
  peers (options: { deadlineMs: number, signal?: AbortSignal | undefined }): Promise<PeersAnswer>
  /** Meet the ring that address (a multiaddr or host:port) belongs to. Only before this node serves. @throws JoinError */
  join (address: string): Promise<void>
  /** Hand all over, then stop serving. @throws LeaveError when it could not within deadlineMs; the node then still serves. */
  leave (options: { deadlineMs: number }): Promise<void>
}
