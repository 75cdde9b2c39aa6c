// put: store a record under its key. The key's owner gives the version and answers when the record is flushed; for an
// object that owner is the orderer of its id, which also brings it to its place (object.ts).

import type { Routing } from '../../overlay/routing/routing.ts'
import type { Host } from '../../overlay/host.ts'
import { indexOf } from '../../overlay/space/space.ts'
import { checkPoint } from '../../overlay/space/point.ts'
import { InvalidRequestError } from '../errors.ts'
import { putMethod } from '../messages.ts'
import type { PutMessage, PutReply } from '../messages.ts'
import type { PutAnswer, PutRequest } from '../storage-api.ts'
import type { Course } from './ask.ts'
import { checkContentType, checkKey, checkObjectText, checkRequestId, checkValue } from './check.ts'
import type { CollectionDefinition } from './collection.ts'
import { idKey, orderedKey, placeKey } from './key-layout.ts'
import type { OwnerComponents, OwnerInit } from './owner.ts'
import { writeOrdered } from './ordered.ts'
import type { State } from './record.ts'

export function handlePut (components: OwnerComponents, init: OwnerInit): void {
  const { routing, objects, onTouch } = components
  routing.handle(putMethod, ({ key }) => ({ key, below: false }), async (message, owned) => {
    onTouch(message.key, 'put')
    const { state, place } = message
    if (message.object) {
      return await objects.update<PutMessage, PutReply>({
        method: putMethod, message, owned, becomes: { state, place }, replyOf: ({ version, had }) => ({ version, created: !had, copies: owned.copies })
      })
    }
    const { version, had } = await writeOrdered(components, init, message, owned, state)
    return { version, created: !had, copies: owned.copies }
  })
}

/**
 * @throws InvalidRequestError, InvalidSpaceError; errors of Routing.ask; the owner's StoreFullError, BusyError,
 * UnfinishedError as RemoteError
 */
export async function put (asker: { host: Host, routing: Routing }, collection: CollectionDefinition, request: PutRequest, course: Course): Promise<PutAnswer> {
  const message = messageOf(collection, request)
  const { answer } = await asker.routing.ask({ key: message.key, below: false }, putMethod, message, course.ask({ repeatable: message.requestId !== undefined }))
  return { version: answer.version, copies: answer.copies, created: answer.created, ...course.cost() }
}

/** Check all fields before anything is asked of anybody. */
export function checkPut (collection: CollectionDefinition, request: PutRequest): State {
  checkKey(request.key, 'key')
  checkRequestId(request.requestId, 'requestId')
  const value = checkValue(request.value, 'value')
  const contentType = checkContentType(request.contentType, 'contentType')
  if (collection.kind === 'ordered') {
    if (request.point !== undefined) throw new InvalidRequestError('point', `collection ${collection.name} is ordered; only objects of spatial collections have a point`)
    if (request.text !== undefined) throw new InvalidRequestError('text', `collection ${collection.name} is ordered; only objects of spatial collections have a text`)
    return { value, contentType, point: undefined, text: undefined }
  }
  const point = request.point === undefined ? undefined : checkPoint(collection.space, request.point, 'point')
  return { value, contentType, point, text: checkObjectText(request.text, 'text') }
}

function messageOf (collection: CollectionDefinition, request: PutRequest): PutMessage {
  const state = checkPut(collection, request)
  const { name } = collection
  const object = collection.kind === 'spatial'
  const key = object ? idKey(name, request.key) : orderedKey(name, request.key)
  const place = object && state.point !== undefined ? placeKey(name, indexOf(collection.space, state.point), request.key) : undefined
  return { key, state, object, place, requestId: request.requestId, turn: undefined }
}
