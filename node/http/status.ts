// /v1/status, /v1/peers, /v1/ranges: what this node is, and all owners in key order. Intervals are shown as users know
// keys: the collection, the key within, and the bytes in hex for exactness; an open end is null.

import type { FastifyInstance } from 'fastify'
import type { Interval, Key } from '../../overlay/interval.ts'
import { splitKey, textOfBound, viewOf } from '../key-text.ts'
import type { StoreHealth } from '../disk-store.ts'
import type { PeerRow } from '../node-view.ts'
import { describe } from './openapi.ts'
import { readQuery } from './query.ts'
import type { Surface } from './surface.ts'

/** @param disk - how the disk of the store is, where there is one */
export function statusRoutes (app: FastifyInstance, surface: Surface, disk: (() => Promise<StoreHealth>) | undefined): void {
  app.get('/v1/status', describe('status'), async request => {
    readQuery(request, [])
    const { pieces, left, right, limits, ...status } = await surface.node.status()
    const { bodyBytesMax, pageRowsMax, requestDeadlineMs, requestsMax, requestsQueuedMax } = surface.limits
    return {
      ...status,
      disk: diskFields(await disk?.()),
      left: left ?? null,
      right: right ?? null,
      pieces: pieces.map(({ interval, ...piece }) => ({ interval: intervalFields(interval), ...piece })),
      limits: { bodyBytesMax, pageRowsMax, requestDeadlineMs, requestsMax, requestsQueuedMax, ...limits }
    }
  })
  app.get('/v1/peers', describe('peers'), async (request, reply) => {
    const query = readQuery(request, ['deadlineMs'])
    const job = await surface.gate.enter(reply, surface.deadlineOf(query))
    try {
      const { peers, complete } = await surface.node.peers(job)
      return { peers: peers.map(peerFields), complete }
    } finally {
      job.end()
    }
  })
  app.get('/v1/ranges', describe('ranges'), async (request, reply) => {
    const query = readQuery(request, ['deadlineMs'])
    const job = await surface.gate.enter(reply, surface.deadlineOf(query))
    try {
      const { peers, complete } = await surface.node.peers(job)
      return { ranges: peers.map(rangeFields), complete }
    } finally {
      job.end()
    }
  })
}

function diskFields (health: StoreHealth | undefined): object | null {
  return health === undefined ? null : { state: health.state, reason: health.reason ?? null, ...health.space }
}

interface BoundFields {
  /** Undefined where the key line is not within any collection. */
  readonly collection?: string
  readonly key: string
  readonly hex: string
}

export function intervalFields ({ low, high }: Interval): { low: BoundFields | null, high: BoundFields | null } {
  return { low: low.length === 0 ? null : boundFields(low), high: high === undefined ? null : boundFields(high) }
}

function boundFields (bound: Key): BoundFields {
  const { collection, key } = splitKey(bound)
  return { ...(collection === undefined ? {} : { collection }), key: textOfBound(key), hex: viewOf(bound).toString('hex') }
}

function peerFields ({ interval, rpc, rttMs, ...peer }: PeerRow): object {
  return { ...peer, interval: intervalFields(interval), rpc: rpc ?? null, rttMs: rttMs ?? null }
}

function rangeFields ({ interval, peerId, rpc, spatial, chain, epoch, records, loadPerSecond, state }: PeerRow): object {
  return { interval: intervalFields(interval), peerId, rpc: rpc ?? null, state, records, loadPerSecond, spatial, chain, epoch }
}
