// POST /v1/admin/join and /v1/admin/leave: what changes the ring. Stop is not leave: only leave hands all over first.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { toMultiaddr } from '../config/listen.ts'
import { objectOf, parseBody, refuseUnknown } from './object-body.ts'
import { describe } from './openapi.ts'
import { badField, Problem } from './problem.ts'
import { readQuery } from './query.ts'
import { mediaType } from './row-text.ts'
import type { Surface } from './surface.ts'

/** Time to hand over when none is given. A guess. */
const leaveDeadlineMs = 30_000

/** @param onLeft - called when a leave has succeeded and its answer is sent: the process may end */
export function adminRoutes (app: FastifyInstance, surface: Surface, onLeft: () => void): void {
  app.post('/v1/admin/join', describe('join'), async request => {
    const { address } = fieldsOf(request, ['address'], '{"address": "127.0.0.1:7701"}')
    if (typeof address !== 'string') throw badField('address', 'must be a string: a multiaddr or host:port of any peer of the ring')
    const state = surface.node.state()
    if (state === 'serving') throw new Problem(409, 'already-serving', 'this peer serves a ring already; leave it first, or start with --join')
    await surface.node.join(toMultiaddr(address, 'address'))
    return { state: surface.node.state() }
  })
  app.post('/v1/admin/leave', describe('leave'), async (request, reply) => {
    const { deadlineMs = leaveDeadlineMs } = fieldsOf(request, ['deadlineMs'], '{"deadlineMs": 30000}')
    if (typeof deadlineMs !== 'number' || !Number.isSafeInteger(deadlineMs) || deadlineMs < 1 || deadlineMs > surface.limits.deadlineMsMax) {
      throw badField('deadlineMs', `must be a whole number from 1 to ${surface.limits.deadlineMsMax}`)
    }
    await surface.node.leave({ deadlineMs })
    reply.raw.once('close', onLeft)
    return { left: true }
  })
}

/** An empty body is an empty object. */
function fieldsOf (request: FastifyRequest, known: readonly string[], sample: string): Record<string, unknown> {
  readQuery(request, [])
  if (!Buffer.isBuffer(request.body) || request.body.length === 0) return {}
  if (mediaType(request.headers['content-type']) !== 'application/json') throw new Problem(415, 'content-type', 'expected Content-Type: application/json')
  const fields = objectOf(parseBody(request.body), `expected ${sample}`)
  refuseUnknown(fields, known, sample)
  return fields
}
