// range: the records of an ordered collection between two keys, in order, forwards or backwards. Exact while boundaries
// move: each owner checks its claim and takes its snapshot in one step, answers for its part, and the asker goes on where
// that part ended (docs/ownership.md, "Scans go on by key"). Every record that was there throughout is given once, in order.
// Not a snapshot of the whole: what is written during the walk may be in it or not.

import type { Host } from '../../overlay/host.ts'
import type { Interval, Key } from '../../overlay/interval.ts'
import { compareKeys, holdsKey, intersect, isEmpty, nextKey } from '../../overlay/interval.ts'
import type { Routing } from '../../overlay/routing/routing.ts'
import type { Snapshot } from '../../overlay/store.ts'
import { InvalidRequestError } from '../errors.ts'
import type { StorageInit } from '../init.ts'
import { rangeMethod } from '../messages.ts'
import type { RangeMessage, RangeReply } from '../messages.ts'
import type { RangeRequest, StoredRecord } from '../storage-api.ts'
import { ByteWriter } from './bytes.ts'
import { checkBounds, checkLimit } from './check.ts'
import type { CollectionDefinition } from './collection.ts'
import { readCursor, writeCursor } from './cursor.ts'
import { collectionInterval, collectionPrefix, orderedKey } from './key-layout.ts'
import type { OwnerComponents, OwnerInit } from './owner.ts'
import type { Plan } from './owner-walk.ts'
import { decodeHeld, isLive, storedRecord, withoutValue } from './record.ts'
import { rowBytes } from './row-frame.ts'
import type { FrameRow } from './row-frame.ts'

export function handleRange ({ routing, store, onTouch, onRead }: OwnerComponents, init: OwnerInit): void {
  routing.handle(rangeMethod, message => message.reverse ? { key: message.high, below: true } : { key: message.low, below: false }, (message, owned) => {
    const part = intersect(owned.interval, message)
    if (part === undefined) throw new RangeError('a range was asked of a node that owns none of it')
    onTouch(message.reverse ? message.high : message.low, 'range')
    const snapshot = store.snapshot()
    return readPart(snapshot, part, message, init, onRead).finally(() => { snapshot.close() })
  })
}

async function readPart (snapshot: Snapshot, part: Interval, message: RangeMessage, init: OwnerInit, onRead: OwnerComponents['onRead']): Promise<RangeReply> {
  const { reverse, keysOnly, rowsMax, bytesMax } = message
  const rows: FrameRow[] = []
  let bytes = 0
  let scanned = 0
  const pageRows = Math.max(1, Math.min(init.scanPageRows, rowsMax + 1))
  for await (const page of snapshot.pages(part, { reverse, pageRows })) {
    for (const { key, value } of page) {
      if (rows.length >= rowsMax || bytes >= bytesMax || scanned >= init.scannedRowsMax) {
        onRead('range', rows.length, scanned)
        return { rows, next: reverse ? nextKey(key) : key }
      }
      scanned++
      if (!isLive(value)) continue
      const row = { key, value: keysOnly ? withoutValue(value) : value }
      rows.push(row)
      bytes += rowBytes(row)
    }
  }
  onRead('range', rows.length, scanned)
  return { rows, next: reverse ? part.low : part.high! }
}

export type ReadInit = Pick<StorageInit, 'pageRowsMax' | 'pageBytesMax' | 'messageRowsMax' | 'messageBytesMax' | 'toldIdsMax' | 'askMsMin'>

/** Limits of one answer. */
export interface Limits { readonly rowsMax: number, readonly bytesMax: number }

/** @throws InvalidRequestError */
export function planRange (asker: { host: Host, routing: Routing }, collection: CollectionDefinition, request: RangeRequest, limits: Limits, init: ReadInit): Plan<StoredRecord> {
  if (collection.kind !== 'ordered') throw new InvalidRequestError('collection', `${collection.name} is spatial and has no range of keys; ask find with an extent`)
  const { name } = collection
  const bounds = checkBounds(request)
  const reverse = request.reverse === true
  const keysOnly = request.keysOnly === true
  const limit = Math.min(checkLimit(request.limit, 'limit'), limits.rowsMax)
  const whole = { low: orderedKey(name, bounds.low), high: bounds.high === undefined ? collectionInterval(name).high! : orderedKey(name, bounds.high) }
  const query = queryOf(name, whole, reverse)
  const cursor = request.cursor === undefined ? undefined : readCursor(query, request.cursor).key
  if (cursor !== undefined && !holdsKey(whole, cursor) && compareKeys(cursor, whole.high) !== 0) throw new InvalidRequestError('cursor', 'lies outside its range')
  const prefixBytes = collectionPrefix(name).length
  let rowsLeft = limit
  let bytesLeft = limits.bytesMax
  const onward = (at: Key): Key | undefined => (reverse ? compareKeys(at, whole.low) > 0 : compareKeys(at, whole.high) < 0) ? at : undefined
  return {
    collection: name,
    interval: whole,
    reverse,
    start: isEmpty(whole) ? undefined : onward(cursor ?? (reverse ? whole.high : whole.low)),
    onward,
    isFull: () => rowsLeft <= 0 || bytesLeft <= 0,
    cursor: next => writeCursor(query, { key: next, sinceMs: 0 }),
    async ask (at, options) {
      const left = reverse ? { low: whole.low, high: at } : { low: at, high: whole.high }
      const message = { ...left, reverse, keysOnly, rowsMax: Math.min(rowsLeft, init.messageRowsMax), bytesMax: Math.min(bytesLeft, init.messageBytesMax) }
      const { answer } = await asker.routing.ask({ key: at, below: reverse }, rangeMethod, message, options)
      rowsLeft -= answer.rows.length
      bytesLeft -= answer.rows.reduce((sum, row) => sum + rowBytes(row), 0)
      const rows = answer.rows.map(({ key, value }) => storedRecord(key.subarray(prefixBytes), decodeHeld(value!)))
      return { rows, next: answer.next, missing: [] }
    }
  }
}

function queryOf (name: string, whole: { low: Key, high: Key }, reverse: boolean): Uint8Array {
  return new ByteWriter().text('range').text(name).bytes(whole.low).bytes(whole.high).u8(reverse ? 1 : 0).finish()
}
