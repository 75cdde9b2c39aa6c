// What the groups of routes share: the node, the bounds, the gate, and what is known of collections. No rule of its own.

import type { FastifyReply } from 'fastify'
import type { Logger, Metrics } from '../../overlay/host.ts'
import type { CollectionDefinition } from '../../storage/records/collection.ts'
import type { RowStream, VerbOptions } from '../../storage/storage-api.ts'
import { lonLat } from '../../overlay/space/space.ts'
import type { NodeView } from '../node-view.ts'
import type { Gate } from './gate.ts'
import { orderedDefault, spatialDefault, type HttpLimits } from './init.ts'
import { Problem } from './problem.ts'
import { wholeNumber, type Query } from './query.ts'
import type { RowForm } from './row-forms.ts'
import { sendRows } from './send-rows.ts'
import { TurnEnd } from './turn-end.ts'

/** Definitions remembered. They do not change, so those that are known stay right. A guess. */
const definitionsMax = 1_000

export interface SurfaceInit {
  readonly node: NodeView
  readonly limits: HttpLimits
  readonly gate: Gate
  readonly log: Logger
  readonly metrics: Metrics
}

export class Surface {
  readonly node: NodeView
  readonly limits: HttpLimits
  readonly gate: Gate
  readonly log: Logger
  readonly metrics: Metrics
  readonly turnEnd = new TurnEnd()
  readonly #definitions = new Map<string, CollectionDefinition>([
    [orderedDefault, { name: orderedDefault, kind: 'ordered' }],
    [spatialDefault, { name: spatialDefault, kind: 'spatial', space: lonLat }]
  ])

  constructor (init: SurfaceInit) {
    this.node = init.node
    this.limits = init.limits
    this.gate = init.gate
    this.log = init.log
    this.metrics = init.metrics
  }

  /** Carry out work behind the gate. */
  async run<T> (reply: FastifyReply, query: Query, work: (options: VerbOptions) => Promise<T>): Promise<T> {
    this.mustServe()
    const entered = this.gate.enter(reply, this.deadlineOf(query))
    const job = entered instanceof Promise ? await entered : entered
    try {
      return await work(job)
    } finally {
      job.end()
    }
  }

  /** Send the rows that `begin` starts, behind the gate. `begin` may throw what is wrong with the request. */
  async stream (reply: FastifyReply, query: Query, form: RowForm, begin: (options: VerbOptions) => RowStream): Promise<FastifyReply> {
    this.mustServe()
    const job = await this.gate.enter(reply, this.deadlineOf(query))
    let rows: RowStream
    try {
      rows = begin(job)
    } catch (error) {
      job.end()
      throw error
    }
    return await sendRows(reply, form, rows, job)
  }

  deadlineOf (query: Query): number {
    return wholeNumber(query['deadlineMs'], 'deadlineMs', 1, this.limits.deadlineMsMax) ?? this.limits.requestDeadlineMs
  }

  /** @throws Problem 404 for a collection that is not defined */
  async definitionOf (name: string, options: VerbOptions): Promise<CollectionDefinition> {
    const known = this.#definitions.get(name)
    if (known !== undefined) return known
    const found = await this.node.storage.collection(name, options)
    if (found === undefined) {
      throw new Problem(404, 'unknown-collection', `collection: ${JSON.stringify(name)} is not defined; PUT /v1/collections/${encodeURIComponent(name)} defines it`, { field: 'collection' })
    }
    if (this.#definitions.size < definitionsMax) this.#definitions.set(name, found)
    return found
  }

  /** @throws Problem 503 unless this node answers requests */
  mustServe (): void {
    const state = this.node.state()
    if (state === 'serving' || state === 'leaving') return
    throw new Problem(503, 'not-serving', `this peer is ${state}; wait for /readyz, or ask another peer`, { retryAfterS: 1, definite: true })
  }
}
