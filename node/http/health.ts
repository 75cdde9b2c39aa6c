// Life signs: /healthz says that the process answers, /readyz that it serves (also while its disk is full, which it adds,
// for reads go on, and so does what it passes on to others), /metrics what it counted (Prometheus text),
// /version what it is. They pass by the gate, so they answer while everything else waits.

import type { FastifyInstance } from 'fastify'
import type { Registry } from 'prom-client'
import type { Metrics } from '../../overlay/host.ts'
import type { StoreHealth } from '../disk-store.ts'
import type { NodeView } from '../node-view.ts'
import { version } from '../version.ts'
import type { Gate } from './gate.ts'
import { describe } from './openapi.ts'
import { Problem } from './problem.ts'

export interface HealthInit {
  readonly node: NodeView
  readonly registry: Registry
  readonly metrics: Metrics
  readonly gate: Gate
  /** Has a stop begun? */
  readonly closing: () => boolean
  readonly disk: (() => Promise<StoreHealth>) | undefined
}

export function healthRoutes (app: FastifyInstance, { node, registry, metrics, gate, closing, disk }: HealthInit): void {
  app.get('/healthz', describe('healthz'), async () => ({ alive: true }))
  app.get('/readyz', describe('readyz'), async () => {
    const state = closing() ? 'stopping' : node.state()
    if (state !== 'serving') throw new Problem(503, 'not-serving', `this peer is ${state}`, { retryAfterS: 1, extra: { state } })
    const health = await disk?.()
    return { state, ...(health === undefined ? {} : { disk: health.state }), ...(health?.reason === undefined ? {} : { reason: health.reason }) }
  })
  app.get('/metrics', describe('metrics'), async (_request, reply) => {
    metrics.gauge('http_requests_running', gate.runningCount)
    metrics.gauge('http_requests_waiting', gate.waitingCount)
    const space = (await disk?.())?.space
    if (space !== undefined) metrics.gauge('disk_free_bytes', space.freeBytes)
    const page = await registry.metrics()
    return await reply.header('content-type', registry.contentType).send(page)
  })
  app.get('/version', describe('version'), async () => ({ name: 'isobar', version, node: process.version }))
}
