// PUT, GET and DELETE of one object at /v1/objects?key=…&collection=…. The key stands in the query, so that "/", "%" and
// ".." are just characters. A GET gives the value as it was put; with Accept: application/json the whole record, with
// application/geo+json a Feature. This is the hot path: no validation or serializing by schema.

import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Cost, StoredRecord } from '../../storage/storage-api.ts'
import { viewOf } from '../key-text.ts'
import { orderedDefault, spatialDefault } from './init.ts'
import { negotiate } from './negotiate.ts'
import { contentOfBody, geojsonType } from './object-body.ts'
import { describe } from './openapi.ts'
import { Problem } from './problem.ts'
import { readQuery, requiredKey } from './query.ts'
import { shownMs } from './row-forms.ts'
import { featureText, mediaType, recordText, versionText } from './row-text.ts'
import type { Surface } from './surface.ts'
import type { TurnEnd } from './turn-end.ts'

const putParameters = ['key', 'collection', 'point', 'text', 'deadlineMs']
const parameters = ['key', 'collection', 'deadlineMs']
const anyType = 'application/octet-stream'
/** Values up to there are copied, to be sent together with their head and with other answers; a guess. */
const singleWriteBytesMax = 16 * 1024
/** Characters of a request id. A guess: a UUID has 36. */
const requestIdLengthMax = 128

export function objectRoutes (app: FastifyInstance, surface: Surface): void {
  app.put('/v1/objects', describe('putObject'), async (request, reply) => await put(surface, request, reply))
  app.get('/v1/objects', describe('getObject'), async (request, reply) => await get(surface, request, reply))
  app.delete('/v1/objects', describe('deleteObject'), async (request, reply) => await remove(surface, request, reply))
}

async function put (surface: Surface, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const query = readQuery(request, putParameters)
  const key = requiredKey(query, 'key')
  const contentType = request.headers['content-type']
  const located = query['point'] !== undefined || mediaType(contentType) === geojsonType
  const name = query['collection'] ?? (located ? spatialDefault : orderedDefault)
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  const answer = await surface.run(reply, query, async options => {
    const collection = await surface.definitionOf(name, options)
    const content = contentOfBody(collection, query, contentType, body)
    return await surface.node.storage.put({ collection: name, key, ...content, requestId: requestIdOf(request) }, options)
  })
  const version = versionText(answer.version)
  return reply.code(answer.created ? 201 : 200)
    .header('etag', `"${version}"`)
    .send({ version, created: answer.created, copies: answer.copies, ...costOf(answer) })
}

async function get (surface: Surface, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const query = readQuery(request, parameters)
  const key = requiredKey(query, 'key')
  const collection = query['collection'] ?? orderedDefault
  const { accept } = request.headers
  const form = accept === undefined || accept === '*/*' ? anyType : formOf(accept)
  const answer = await surface.run(reply, query, async options => await surface.node.storage.get({ collection, key }, options))
  const { record } = answer
  if (record === undefined) {
    throw new Problem(404, 'not-found', `no object ${JSON.stringify(query['key'])} in collection ${JSON.stringify(collection)}`, { extra: costOf(answer) })
  }
  reply.header('etag', `"${versionText(record.version)}"`)
  reply.header('x-isobar-hops', String(answer.hops))
  if (form === anyType) return sendValue(reply, record, surface.turnEnd)
  if (form === geojsonType) return reply.header('content-type', geojsonType).send(Buffer.from(featureText(record)))
  return reply.header('content-type', 'application/json; charset=utf-8')
    .send(recordText(record).slice(0, -1) + ',' + JSON.stringify({ complete: true, missing: [], ...costOf(answer) }).slice(1))
}

async function remove (surface: Surface, request: FastifyRequest, reply: FastifyReply): Promise<object> {
  const query = readQuery(request, parameters)
  const key = requiredKey(query, 'key')
  const collection = query['collection'] ?? orderedDefault
  const answer = await surface.run(reply, query, async options => await surface.node.storage.delete({ collection, key, requestId: requestIdOf(request) }, options))
  return { deleted: answer.deleted, ...costOf(answer) }
}

/** What Accept asks for; a client that can take the value as it is gets that. */
function formOf (accept: string): string {
  try {
    return negotiate(accept, [anyType, 'application/json', geojsonType])
  } catch {
    return anyType
  }
}

/** The value as it was put. It may be a page that somebody stored: it must not run as one of ours. */
function sendValue (reply: FastifyReply, record: StoredRecord, turnEnd: TurnEnd): FastifyReply {
  const contentType = record.contentType ?? anyType
  reply.header('content-type', contentType)
  reply.header('x-content-type-options', 'nosniff')
  if (/html|xml|svg|script/i.test(contentType)) reply.header('content-security-policy', 'sandbox')
  if (record.point !== undefined) reply.header('x-isobar-point', record.point.join(','))
  const { value } = record
  if (value.length > singleWriteBytesMax) return reply.send(viewOf(value))
  const { raw } = reply
  const text = viewOf(value).toString('latin1')
  raw.writeHead(200, { ...reply.getHeaders() as OutgoingHttpHeaders, 'content-length': value.length })
  reply.hijack()
  turnEnd.run(() => { raw.end(text, 'latin1') })
  return reply
}

export function costOf ({ hops, peers, tookMs }: Cost): Cost {
  return { hops, peers, tookMs: shownMs(tookMs) }
}

/** Idempotency-Key: a retry with the same one has the effect and the answer of the first try. */
function requestIdOf (request: FastifyRequest): string | undefined {
  const given = request.headers['idempotency-key']
  if (given === undefined) return undefined
  if (typeof given !== 'string' || given === '' || given.length > requestIdLengthMax) {
    throw new Problem(400, 'invalid-request', `Idempotency-Key: expected one value of 1 to ${requestIdLengthMax} characters`, { field: 'Idempotency-Key' })
  }
  return given
}
