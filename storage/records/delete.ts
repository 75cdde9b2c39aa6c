// delete: take a record away. Its owner leaves a tombstone of a new version; an object also leaves its place (object.ts).

import type { Host } from '../../overlay/host.ts'
import type { Key } from '../../overlay/interval.ts'
import type { Routing } from '../../overlay/routing/routing.ts'
import { deleteMethod } from '../messages.ts'
import type { DeleteMessage, DeleteReply } from '../messages.ts'
import type { DeleteAnswer } from '../storage-api.ts'
import type { Course } from './ask.ts'
import { checkKey, checkRequestId } from './check.ts'
import type { CollectionDefinition } from './collection.ts'
import { idKey, orderedKey } from './key-layout.ts'
import { writeOrdered } from './ordered.ts'
import type { OwnerComponents, OwnerInit } from './owner.ts'

export function handleDelete (components: OwnerComponents, init: OwnerInit): void {
  const { routing, objects, onTouch } = components
  routing.handle(deleteMethod, ({ key }) => ({ key, below: false }), async (message, owned) => {
    onTouch(message.key, 'delete')
    if (message.object) {
      return await objects.update<DeleteMessage, DeleteReply>({
        method: deleteMethod, message, owned, becomes: { state: undefined, place: undefined }, replyOf: ({ had }) => ({ deleted: had })
      })
    }
    const { had } = await writeOrdered(components, init, message, owned, undefined)
    return { deleted: had }
  })
}

/** Errors as put. */
export async function deleteRecord (
  asker: { host: Host, routing: Routing }, collection: CollectionDefinition,
  request: { key: Key, requestId?: string | undefined }, course: Course
): Promise<DeleteAnswer> {
  const key = checkKey(request.key, 'key')
  const requestId = checkRequestId(request.requestId, 'requestId')
  const object = collection.kind === 'spatial'
  const message: DeleteMessage = { key: object ? idKey(collection.name, key) : orderedKey(collection.name, key), object, requestId, turn: undefined }
  const { answer } = await asker.routing.ask({ key: message.key, below: false }, deleteMethod, message, course.ask({ repeatable: requestId !== undefined }))
  return { deleted: answer.deleted, ...course.cost() }
}
