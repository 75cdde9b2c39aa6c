// get: read one record from its owner; an object is read from its id record, which holds its state. Only what is flushed
// is read, so an answer never shows what a crash could take back.

import type { Host } from '../../overlay/host.ts'
import type { Key } from '../../overlay/interval.ts'
import type { Routing } from '../../overlay/routing/routing.ts'
import { getMethod } from '../messages.ts'
import type { GetAnswer } from '../storage-api.ts'
import type { Course } from './ask.ts'
import { checkKey } from './check.ts'
import type { CollectionDefinition } from './collection.ts'
import { idKey, orderedKey } from './key-layout.ts'
import type { OwnerComponents } from './owner.ts'
import { decodeHeld, isLive, storedRecord } from './record.ts'

export function handleGet ({ routing, store, onTouch }: OwnerComponents): void {
  routing.handle(getMethod, ({ key }) => ({ key, below: false }), ({ key }) => {
    onTouch(key, 'get')
    const row = store.getSync(key)
    return { row: row !== undefined && isLive(row) ? row : undefined }
  })
}

/** @throws InvalidRequestError; errors of Routing.ask */
export async function get (asker: { host: Host, routing: Routing }, collection: CollectionDefinition, given: Key, course: Course): Promise<GetAnswer> {
  const key = checkKey(given, 'key')
  const stored = collection.kind === 'spatial' ? idKey(collection.name, key) : orderedKey(collection.name, key)
  const { answer } = await asker.routing.ask({ key: stored, below: false }, getMethod, { key: stored }, course.ask({ repeatable: true }))
  return { record: answer.row === undefined ? undefined : storedRecord(key, decodeHeld(answer.row)), ...course.cost() }
}
