// POST /v1/objects:batch: NDJSON in, a result a line out, in the order of the lines. Some lines are carried out at once;
// those of one key one after the other. A line that fails does not end the batch: its result has status, code, field.
// The last result is {"end": {"lines", "failed", "tookMs"}}. Results wait in memory up to a bound for clients that
// send all before they read; then the batch is read no further until they do.

import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { VerbOptions } from '../../storage/storage-api.ts'
import { isWellFormed, keyOfText } from '../key-text.ts'
import type { Job } from './gate.ts'
import { orderedDefault, spatialDefault } from './init.ts'
import { linesOf, type Line } from './lines.ts'
import { contentOfFields, objectOf, parseBody, refuseUnknown } from './object-body.ts'
import { describe } from './openapi.ts'
import { badField, Problem, problemOf } from './problem.ts'
import { readQuery } from './query.ts'
import { mediaType, versionText } from './row-text.ts'
import type { Surface } from './surface.ts'

const ndjsonTypes = ['application/x-ndjson', 'application/ndjson', 'application/jsonl']
const lineSample = '{"op": "put", "key": "van-7", "value": {"seats": 3}, "point": [13.4, 52.5], "text": "bakery van"}'
const lineFields = ['op', 'key', 'collection', 'value', 'contentType', 'encoding', 'point', 'text', 'version', 'requestId']

interface Result {
  readonly line: number
  readonly key?: string
  readonly status: number
}

export function batchRoutes (app: FastifyInstance, surface: Surface): void {
  app.register(async scope => {
    scope.removeAllContentTypeParsers()
    // The body is read line by line, so Fastify's bound for whole bodies does not apply.
    // Other types come through too, to be refused with better words.
    scope.addContentTypeParser('*', (_request, payload, done) => { done(null, payload) })
    scope.post('/v1/objects::batch', { ...describe('batch'), bodyLimit: Number.MAX_SAFE_INTEGER }, async (request, reply) => await batch(surface, request, reply))
  })
}

async function batch (surface: Surface, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const query = readQuery(request, ['collection', 'deadlineMs'])
  if (!ndjsonTypes.includes(mediaType(request.headers['content-type']))) {
    throw new Problem(415, 'content-type', `a batch is Content-Type: application/x-ndjson, a JSON object a line such as ${lineSample}`)
  }
  surface.mustServe()
  const job = await surface.gate.enter(reply, surface.deadlineOf(query))
  const results = resultsOf(surface, request.body as AsyncIterable<Buffer>, query['collection'], job)
  reply.header('content-type', 'application/x-ndjson; charset=utf-8')
  // For a client that left before the first line was read.
  reply.raw.once('close', () => { job.end() })
  return reply.send(Readable.from(results, { objectMode: false, highWaterMark: surface.limits.batchResultBytesMax }))
}

async function * resultsOf (surface: Surface, body: AsyncIterable<Buffer>, collection: string | undefined, job: Job): AsyncGenerator<string> {
  const startedAt = performance.now()
  const lines = linesOf(body, surface.limits.bodyBytesMax)
  const running: Array<Promise<Result>> = []
  /** Last line of each key that still runs. */
  const last = new Map<string, Promise<Result>>()
  let count = 0
  let failed = 0
  const taken = (result: Result): string => {
    if (result.status >= 400) failed++
    return JSON.stringify(result) + '\n'
  }
  try {
    for await (const line of lines) {
      if (job.signal?.aborted === true) return
      count++
      running.push(begin(surface, line, collection, job, last))
      if (running.length >= surface.limits.batchLinesMax) yield taken(await running.shift()!)
    }
    while (running.length > 0) yield taken(await running.shift()!)
    yield JSON.stringify({ end: { lines: count, failed, tookMs: Math.round(performance.now() - startedAt) } }) + '\n'
  } finally {
    job.end()
  }
}

/** Never rejects: what goes wrong is the line's result. */
async function begin (surface: Surface, line: Line, collection: string | undefined, options: VerbOptions, last: Map<string, Promise<Result>>): Promise<Result> {
  let key: string | undefined
  try {
    if (line.content === 'too long') throw new Problem(413, 'line-too-long', `the line is longer than ${surface.limits.bodyBytesMax} bytes (bodyBytesMax); put it by itself`)
    const fields = objectOf(parseBody(line.content), `expected ${lineSample}`)
    refuseUnknown(fields, lineFields, lineSample)
    key = textField(fields, 'key')
    if (key === undefined || key === '') throw badField('key', 'is missing')
    const name = textField(fields, 'collection') ?? collection ?? (fields['point'] !== undefined && fields['point'] !== null ? spatialDefault : orderedDefault)
    const slot = `${name}\0${key}`
    const before = last.get(slot)
    const mine = before === undefined ? carryOut(surface, name, key, fields, options) : before.then(async () => await carryOut(surface, name, key as string, fields, options))
    const settled = mine.catch((error: unknown) => problemResult(error)).then(result => ({ line: line.number, key: key as string, ...result }))
    last.set(slot, settled)
    const result = await settled
    if (last.get(slot) === settled) last.delete(slot)
    return result
  } catch (error) {
    return { line: line.number, ...(key === undefined ? {} : { key }), ...problemResult(error) }
  }
}

async function carryOut (surface: Surface, collection: string, key: string, fields: Record<string, unknown>, options: VerbOptions): Promise<{ status: number }> {
  const { storage } = surface.node
  const { op = 'put' } = fields
  const requestId = textField(fields, 'requestId')
  if (op === 'delete') {
    const { deleted } = await storage.delete({ collection, key: keyOfText(key), requestId }, options)
    return { status: 200, deleted } as { status: number }
  }
  if (op !== 'put') throw badField('op', 'must be "put" or "delete"')
  const definition = await surface.definitionOf(collection, options)
  const { created, version } = await storage.put({ collection, key: keyOfText(key), ...contentOfFields(definition, fields), requestId }, options)
  return { status: created ? 201 : 200, version: versionText(version), created } as { status: number }
}

function problemResult (error: unknown): { status: number } {
  const { title: _title, type: _type, ...body } = problemOf(error).body()
  return body as { status: number }
}

function textField (fields: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw badField(name, `must be a string, got ${typeof value}`)
  if (!isWellFormed(value)) throw badField(name, 'holds half a surrogate pair, which has no UTF-8 form')
  return value
}
