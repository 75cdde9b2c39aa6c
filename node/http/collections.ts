// /v1/collections: which there are, what one is, and defining one. A definition does not change once it is made.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { checkSpace, lonLat } from '../../overlay/space/space.ts'
import type { CollectionDefinition } from '../../storage/records/collection.ts'
import { objectOf, parseBody, refuseUnknown } from './object-body.ts'
import { describe } from './openapi.ts'
import { badField, Problem } from './problem.ts'
import { readQuery } from './query.ts'
import { mediaType } from './row-text.ts'
import type { Surface } from './surface.ts'

interface Named { Params: { name: string } }

export function collectionRoutes (app: FastifyInstance, surface: Surface): void {
  app.get('/v1/collections', describe('listCollections'), async (request, reply) => {
    const query = readQuery(request, ['deadlineMs'])
    const collections = await surface.run(reply, query, async options => await surface.node.storage.collections(options))
    return { collections }
  })
  app.get<Named>('/v1/collections/:name', describe('getCollection'), async (request, reply) => {
    const query = readQuery(request, ['deadlineMs'])
    return await surface.run(reply, query, async options => await surface.definitionOf(request.params.name, options))
  })
  app.put<Named>('/v1/collections/:name', describe('putCollection'), async (request, reply) => await define(surface, request, reply))
}

async function define (surface: Surface, request: FastifyRequest<Named>, reply: FastifyReply): Promise<CollectionDefinition> {
  const query = readQuery(request, ['deadlineMs'])
  if (mediaType(request.headers['content-type']) !== 'application/json' || !Buffer.isBuffer(request.body)) {
    throw new Problem(415, 'content-type', 'a definition is Content-Type: application/json, e.g. {"kind": "ordered"} or {"kind": "spatial"}')
  }
  const fields = objectOf(parseBody(request.body), 'expected {"kind": "ordered"} or {"kind": "spatial"}')
  refuseUnknown(fields, ['name', 'kind', 'space'], '{"kind": "spatial"}')
  const { name } = request.params
  if (fields['name'] !== undefined && fields['name'] !== name) throw badField('name', 'differs from the one in the path')
  const definition = definitionOf(name, fields)
  return await surface.run(reply, query, async options => await surface.node.storage.defineCollection(definition, options))
}

function definitionOf (name: string, fields: Readonly<Record<string, unknown>>): CollectionDefinition {
  const { kind, space } = fields
  if (kind === 'ordered') {
    if (space !== undefined) throw badField('space', 'an ordered collection has none')
    return { name, kind }
  }
  if (kind === 'spatial') return { name, kind, space: space === undefined ? lonLat : checkSpace(space, 'space') }
  throw badField('kind', `${JSON.stringify(kind)} is neither "ordered" nor "spatial"`)
}
