// GET and POST /v1/find: the objects of a spatial collection in a box, circle or polygon, by words if any are given.
// A box whose west exceeds its east crosses the antimeridian (RFC 7946 section 5.2). POST takes the same as JSON fields.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Extent } from '../../overlay/space/extent.ts'
import type { CollectionDefinition } from '../../storage/records/collection.ts'
import type { FindRequest } from '../../storage/storage-api.ts'
import { queryWords } from '../../storage/words.ts'
import { extentOfBody, extentOfQuery } from './extents.ts'
import { spatialDefault } from './init.ts'
import { negotiate } from './negotiate.ts'
import { objectOf, parseBody, refuseUnknown } from './object-body.ts'
import { describe } from './openapi.ts'
import { badField, Problem } from './problem.ts'
import { flag, readQuery, type Query } from './query.ts'
import { cursorOf, limitOf } from './range.ts'
import { endFields, geojsonForm, geojsonSeqForm, geojsonSeqType, geojsonType, jsonForm, jsonType, ndjsonForm, ndjsonType, type RowForm } from './row-forms.ts'
import { mediaType } from './row-text.ts'
import type { Surface } from './surface.ts'

/** What GET takes, and POST beside the polygon. */
const parameters = ['collection', 'words', 'match', 'limit', 'cursor', 'count', 'deadlineMs', 'bbox', 'circle']
const bodyFields = [...parameters, 'polygon']
const bodySample = '{"bbox": [165, 50, -165, 60], "words": ["alaska"]}'

/** What GET and POST have in common once they are read. */
interface Asked {
  /** collection, match, limit, cursor, count, deadlineMs as text, whatever the source. */
  readonly query: Query
  readonly words: readonly string[]
  extent (collection: CollectionDefinition & { kind: 'spatial' }): Extent
  readonly nextLink: ((cursor: string) => string) | undefined
}

export function findRoutes (app: FastifyInstance, surface: Surface): void {
  app.get('/v1/find', describe('find'), async (request, reply) => await find(surface, request, reply, askedByQuery(request)))
  app.post('/v1/find', describe('findPost'), async (request, reply) => await find(surface, request, reply, askedByBody(request)))
}

async function find (surface: Surface, request: FastifyRequest, reply: FastifyReply, asked: Asked): Promise<FastifyReply> {
  const { query, words } = asked
  const form = negotiate(request.headers.accept, [jsonType, ndjsonType, geojsonType, geojsonSeqType])
  const name = query['collection'] ?? spatialDefault
  queryWords(words, 'words')
  const limit = limitOf(query['limit'], form, surface.limits)
  const match = matchOf(query['match'])
  const countOnly = flag(query, 'count')
  const cursor = cursorOf(query['cursor'], surface.limits)
  const definition = await surface.definitionOf(name, { deadlineMs: surface.deadlineOf(query) })
  if (definition.kind !== 'spatial') throw badField('collection', `${JSON.stringify(name)} is an ordered collection; use /v1/range, or a spatial collection`)
  const wanted: FindRequest = { collection: name, extent: asked.extent(definition), words, match, limit, cursor, countOnly }
  if (!countOnly) return await surface.stream(reply, query, rowForm(form, asked), options => surface.node.storage.findStream(wanted, options))
  const answer = await surface.run(reply, query, async options => await surface.node.storage.count(wanted, options))
  return reply.send({ count: answer.count, ...endFields(answer) })
}

function rowForm (form: string, asked: Asked): RowForm {
  switch (form) {
    case ndjsonType: return ndjsonForm('records')
    case geojsonType: return geojsonForm(asked.nextLink)
    case geojsonSeqType: return geojsonSeqForm
    default: return jsonForm('records')
  }
}

function askedByQuery (request: FastifyRequest): Asked {
  const query = readQuery(request, parameters)
  const words = query['words']
  return {
    query,
    words: words === undefined ? [] : words.split(','),
    extent: ({ space }) => extentOfQuery(space, query),
    nextLink: cursor => {
      const rest = Object.entries(query).filter((pair): pair is [string, string] => pair[0] !== 'cursor' && pair[1] !== undefined)
      return `http://${request.host}/v1/find?${new URLSearchParams([...rest, ['cursor', cursor]]).toString()}`
    }
  }
}

function askedByBody (request: FastifyRequest): Asked {
  if (mediaType(request.headers['content-type']) !== jsonType || !Buffer.isBuffer(request.body)) {
    throw new Problem(415, 'content-type', `POST /v1/find takes Content-Type: application/json with an object such as ${bodySample}`)
  }
  readQuery(request, [])
  const fields = objectOf(parseBody(request.body), `expected ${bodySample}`)
  refuseUnknown(fields, bodyFields, bodySample)
  const { words = [] } = fields
  if (!Array.isArray(words) || words.some(word => typeof word !== 'string')) throw badField('words', 'must be a list of strings')
  return {
    query: textFields(fields),
    words: words as string[],
    extent: ({ space }) => extentOfBody(space, fields),
    nextLink: undefined
  }
}

const fieldKinds = { collection: 'string', match: 'string', cursor: 'string', limit: 'number', deadlineMs: 'number', count: 'boolean' }

/** The plain fields as the query would carry them, each of the kind that JSON has for it. */
function textFields (fields: Readonly<Record<string, unknown>>): Query {
  const texts: Record<string, string> = {}
  for (const [name, kind] of Object.entries(fieldKinds)) {
    const value = fields[name]
    if (value === undefined) continue
    const given = typeof value
    if (given !== kind) throw badField(name, `must be a ${kind}`)
    texts[name] = String(value)
  }
  return texts
}

function matchOf (text: string | undefined): 'all' | 'any' {
  if (text === undefined || text === 'all') return 'all'
  if (text === 'any') return 'any'
  throw badField('match', `${JSON.stringify(text)} is neither all nor any`)
}
