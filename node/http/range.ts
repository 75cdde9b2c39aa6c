// GET /v1/range?gte=|gt=&lte=|lt=&prefix=&limit=&reverse=&keysOnly=&cursor=: the records of an ordered collection from one
// key to another, in order. An empty bound is an open end. As JSON it is a page; as NDJSON it has no limit but its own.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { compareKeys, type Key } from '../../overlay/interval.ts'
import type { RangeRequest } from '../../storage/storage-api.ts'
import { keyOfText } from '../key-text.ts'
import { orderedDefault, type HttpLimits } from './init.ts'
import { negotiate } from './negotiate.ts'
import { describe } from './openapi.ts'
import { badField } from './problem.ts'
import { flag, readQuery, wholeNumber, type Query } from './query.ts'
import { jsonForm, jsonType, ndjsonForm, ndjsonType } from './row-forms.ts'
import type { Surface } from './surface.ts'

const parameters = ['collection', 'gte', 'gt', 'lte', 'lt', 'prefix', 'reverse', 'keysOnly', 'limit', 'cursor', 'deadlineMs']

export function rangeRoutes (app: FastifyInstance, surface: Surface): void {
  app.get('/v1/range', describe('range'), async (request, reply) => await range(surface, request, reply))
}

async function range (surface: Surface, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const query = readQuery(request, parameters)
  const form = negotiate(request.headers.accept, [jsonType, ndjsonType])
  const keysOnly = flag(query, 'keysOnly')
  const asked: RangeRequest = {
    collection: query['collection'] ?? orderedDefault,
    ...boundsOf(query),
    reverse: flag(query, 'reverse'),
    keysOnly,
    limit: limitOf(query['limit'], form, surface.limits),
    cursor: cursorOf(query['cursor'], surface.limits)
  }
  const shows = keysOnly ? 'keys' : 'records'
  return await surface.stream(reply, query, form === ndjsonType ? ndjsonForm(shows) : jsonForm(shows),
    options => surface.node.storage.rangeStream(asked, options))
}

/** Rows at most: streamed forms have no bound of their own, pages end at pageRowsMax with a cursor. */
export function limitOf (text: string | undefined, form: string, limits: HttpLimits): number {
  const limit = wholeNumber(text, 'limit', 0, Number.MAX_SAFE_INTEGER) ?? Number.MAX_SAFE_INTEGER
  return form.endsWith('ndjson') || form.endsWith('-seq') ? limit : Math.min(limit, limits.pageRowsMax)
}

export function cursorOf (text: string | undefined, limits: HttpLimits): string | undefined {
  if (text === undefined || text === '') return undefined
  if (text.length > limits.cursorLengthMax) throw badField('cursor', `is longer than ${limits.cursorLengthMax} characters; give it as the answer before had it`)
  return text
}

function boundsOf (query: Query): Pick<RangeRequest, 'gte' | 'gt' | 'lte' | 'lt' | 'prefix'> {
  const bound = (name: string): Key | undefined => {
    const text = query[name]
    return text === undefined || text === '' ? undefined : keyOfText(text)
  }
  const bounds = { gte: bound('gte'), gt: bound('gt'), lte: bound('lte'), lt: bound('lt'), prefix: bound('prefix') }
  if (bounds.gte !== undefined && bounds.gt !== undefined) throw badField('gt', 'gte is given too; give one of them')
  if (bounds.lte !== undefined && bounds.lt !== undefined) throw badField('lt', 'lte is given too; give one of them')
  const from = bounds.gte ?? bounds.gt
  const to = bounds.lte ?? bounds.lt
  if (from !== undefined && to !== undefined && compareKeys(from, to) > 0) {
    throw badField(bounds.lte === undefined ? 'lt' : 'lte', 'lies below the lower bound; keys are in byte order, and reverse=true turns the order of rows, not of bounds')
  }
  return bounds
}
