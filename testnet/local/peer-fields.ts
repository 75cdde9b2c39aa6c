// What /v1/peers tells of the ring, asked of the first peer that answers.

import type { PeerProcess } from './peer-process.ts'

export interface BoundFields { readonly collection?: string, readonly key: string, readonly hex: string }

export interface PeerFields {
  /** Which of the testnet's peers it is, from 1. */
  readonly number?: number | undefined
  readonly peerId: string
  readonly rpc: string | null
  readonly state: string
  readonly interval: { readonly low: BoundFields | null, readonly high: BoundFields | null }
  readonly spatial: ReadonlyArray<{ readonly collection: string, readonly bbox: readonly number[] }>
  readonly records: number
  readonly loadPerSecond: number
}

export interface RingFields {
  readonly peers: readonly PeerFields[]
  readonly complete: boolean
}

/** @returns undefined when no peer answers */
export async function ringOf (processes: readonly PeerProcess[]): Promise<RingFields | undefined> {
  for (const { rpc, exit } of processes) {
    if (exit !== undefined) continue
    try {
      const response = await fetch(`${rpc}/v1/peers`)
      const ring = await response.json() as RingFields
      if (response.ok) return { complete: ring.complete, peers: ring.peers.map(peer => ({ ...peer, number: processes.find(process => process.rpc === peer.rpc)?.init.number })) }
    } catch {}
  }
  return undefined
}
