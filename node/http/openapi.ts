// The API described for machines: OpenAPI 3.1, served at /openapi.json. One table of operations; the schemas describe
// and do not validate, because each route checks its own request with better words, and the hot paths stay bare.

import fastifySwagger from '@fastify/swagger'
import type { FastifyInstance, FastifySchema } from 'fastify'
import { version } from '../version.ts'

type Schema = Readonly<Record<string, unknown>>

interface Operation {
  readonly summary: string
  readonly tags: readonly string[]
  readonly query?: Readonly<Record<string, Schema>>
  readonly params?: Readonly<Record<string, Schema>>
  /** Content types of the body and what they hold. */
  readonly body?: Readonly<Record<string, Schema>>
  /** Content types of the answer. */
  readonly answer: Readonly<Record<string, Schema>>
}

const string: Schema = { type: 'string' }
const integer: Schema = { type: 'integer', minimum: 0 }
const boolean: Schema = { type: 'boolean' }
const anything: Schema = {}
const text = (description: string): Schema => ({ type: 'string', description })
const object = (properties: Readonly<Record<string, Schema>>): Schema => ({ type: 'object', properties })
const list = (items: Schema): Schema => ({ type: 'array', items })

const point: Schema = { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }], minItems: 2, maxItems: 2, description: 'longitude, latitude (RFC 7946), or x, y in a plane' }
const record = object({ key: string, value: { description: 'JSON as it was put, text as a string, else base64' }, encoding: { const: 'base64' }, contentType: string, version: string, point, text: string })
const missing = list(object({ from: string, to: { type: ['string', 'null'] }, peer: { type: ['string', 'null'] }, reason: string }))
const cost = { hops: integer, peers: integer, tookMs: { type: 'number' } }
const end = { complete: boolean, missing, ...cost, cursor: text('where to go on; absent when all was given') }
const page = object({ records: list(record), returned: integer, ...end })
const feature = object({ type: { const: 'Feature' }, id: string, geometry: anything, properties: anything })
const features = object({ type: { const: 'FeatureCollection' }, features: list(feature), numberReturned: integer, links: list(object({ rel: string, href: string, type: string })), ...end })
const lines = text('a JSON record a line; the last line is {"end": …}')
const collection = object({ name: string, kind: { enum: ['ordered', 'spatial'] }, space: object({ kind: { enum: ['lonlat', 'planar'] }, minX: { type: 'number' }, minY: { type: 'number' }, maxX: { type: 'number' }, maxY: { type: 'number' } }) })
const area = { bbox: list({ type: 'number' }), circle: list({ type: 'number' }), polygon: anything }

const diskState: Schema = { enum: ['ok', 'full', 'failing'] }
const disk = { ...object({ state: diskState, reason: { type: ['string', 'null'] }, freeBytes: integer, totalBytes: integer, reservedBytes: integer }), type: ['object', 'null'] }

const deadlineMs = { deadlineMs: { ...integer, description: 'time for the whole request' } }
const key = { key: text('the key, percent-encoded UTF-8; + is a space, %2B a plus'), collection: text('default kv; a put with a place: places') }
const paging = { limit: { ...integer, description: 'rows at most' }, cursor: text('from the answer before'), ...deadlineMs }
const json = (schema: Schema) => ({ 'application/json': schema })

const operations = {
  putObject: { summary: 'Store a value. The body is the value; JSON {value, point, text} and GeoJSON Features carry place and text in spatial collections', tags: ['objects'], query: { ...key, point: text('lon,lat'), text: text('its words are found by /v1/find'), ...deadlineMs }, body: { '*/*': anything, 'application/geo+json': feature }, answer: json(object({ version: string, created: boolean, copies: integer, ...cost })) },
  getObject: { summary: 'The value as it was put; with Accept the whole record as JSON or GeoJSON', tags: ['objects'], query: { ...key, ...deadlineMs }, answer: { '*/*': anything, 'application/json': record, 'application/geo+json': feature } },
  deleteObject: { summary: 'Delete an object; deleted is false when there was none', tags: ['objects'], query: { ...key, ...deadlineMs }, answer: json(object({ deleted: boolean, ...cost })) },
  batch: { summary: 'Many puts and deletes: a JSON object a line, a result a line in the same order; lines with one key are carried out in order', tags: ['objects'], query: { collection: text('for lines that name none'), ...deadlineMs }, body: { 'application/x-ndjson': object({ op: { enum: ['put', 'delete'] }, key: string, collection: string, value: anything, contentType: string, encoding: string, point, text: string, requestId: string }) }, answer: { 'application/x-ndjson': object({ line: integer, key: string, status: integer, version: string, created: boolean, deleted: boolean, code: string, field: string, detail: string }) } },
  range: { summary: 'Records of an ordered collection between two keys, in byte order', tags: ['reads'], query: { collection: string, gte: string, gt: string, lte: string, lt: string, prefix: string, reverse: boolean, keysOnly: boolean, ...paging }, answer: { 'application/json': page, 'application/x-ndjson': lines } },
  find: { summary: 'Objects of a spatial collection in an area, by words', tags: ['reads'], query: { collection: string, bbox: text('west,south,east,north; west > east crosses the antimeridian'), circle: text('lon,lat,meters'), words: text('with commas between'), match: { enum: ['all', 'any'] }, count: boolean, ...paging }, answer: { 'application/json': page, 'application/x-ndjson': lines, 'application/geo+json': features, 'application/geo+json-seq': text('a Feature a record; the last is an empty FeatureCollection with the end') } },
  findPost: { summary: 'The same with a body, and with polygons', tags: ['reads'], body: json(object({ collection: string, ...area, words: list(string), match: { enum: ['all', 'any'] }, count: boolean, limit: integer, cursor: string, deadlineMs: integer })), answer: { 'application/json': page, 'application/x-ndjson': lines, 'application/geo+json': features } },
  listCollections: { summary: 'All collections', tags: ['collections'], query: deadlineMs, answer: json(object({ collections: list(collection) })) },
  getCollection: { summary: 'One collection', tags: ['collections'], params: { name: string }, query: deadlineMs, answer: json(collection) },
  putCollection: { summary: 'Define a collection', tags: ['collections'], params: { name: string }, query: deadlineMs, body: json(collection), answer: json(collection) },
  status: { summary: 'This peer: state, pieces, load, limits', tags: ['ring'], answer: json(object({ state: string, peerId: string, version: string, records: integer, disk, limits: anything })) },
  peers: { summary: 'All owners in key order', tags: ['ring'], query: deadlineMs, answer: json(object({ peers: list(anything), complete: boolean })) },
  ranges: { summary: 'Who owns which keys, in key order', tags: ['ring'], query: deadlineMs, answer: json(object({ ranges: list(anything), complete: boolean })) },
  join: { summary: 'Meet the ring of another peer; only before this one serves', tags: ['admin'], body: json(object({ address: string })), answer: json(object({ state: string })) },
  leave: { summary: 'Hand all over, then stop', tags: ['admin'], body: json(object({ deadlineMs: integer })), answer: json(object({ left: boolean })) },
  healthz: { summary: 'The process answers', tags: ['health'], answer: json(object({ alive: boolean })) },
  readyz: { summary: 'This peer serves; 503 while it joins, leaves or stops. With a full disk it serves reads', tags: ['health'], answer: json(object({ state: string, disk: diskState, reason: string })) },
  metrics: { summary: 'Prometheus metrics', tags: ['health'], answer: { 'text/plain': string } },
  version: { summary: 'Name and version', tags: ['health'], answer: json(object({ name: string, version: string, node: string })) }
} satisfies Record<string, Operation>

const problem = object({ type: string, title: string, status: integer, code: string, detail: string, field: string, definite: boolean })

/** Route options that describe an operation. */
export function describe (name: keyof typeof operations): { schema: FastifySchema } {
  const operation: Operation = operations[name]
  const content = (types: Readonly<Record<string, Schema>>) => ({ content: Object.fromEntries(Object.entries(types).map(([type, schema]) => [type, { schema }])) })
  return {
    schema: {
      operationId: name,
      summary: operation.summary,
      tags: operation.tags,
      ...(operation.query === undefined ? {} : { querystring: { type: 'object', properties: operation.query } }),
      ...(operation.params === undefined ? {} : { params: { type: 'object', properties: operation.params } }),
      ...(operation.body === undefined ? {} : { body: content(operation.body) }),
      response: {
        200: { description: 'done', ...content(operation.answer) },
        default: { description: 'a problem (RFC 9457)', ...content({ 'application/problem+json': problem }) }
      }
    } as FastifySchema
  }
}

/** To be awaited before the routes are added. */
export async function serveOpenApi (app: FastifyInstance): Promise<void> {
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => data => JSON.stringify(data))
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'isobar', version, description: 'A peer of a ring that keeps ordered and spatial data. Any peer answers for all.', license: { name: 'MIT' } },
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'only where the daemon was started with --rpc-token-file' } } }
    }
  })
  app.get('/openapi.json', { schema: { hide: true } as FastifySchema }, async () => app.swagger())
}
