// find: the objects inside an extent that have all or any of some words, in the order of the curve. The walk visits each
// owner whose keys overlap the extent's cover once (cover-walk.ts), and each owner pages through a snapshot of its own.
// An object that moves during the walk is told once where it is met twice, in its later state; where it steps back into
// the part already walked, the mark it leaves names it, and it is fetched by its id (docs/places.md, "A find while
// objects move"). Counts are the sum of what each owner had when it was asked: an object that moves meanwhile may be
// counted twice or not.

import { errorName } from '../../overlay/errors.ts'
import type { Host } from '../../overlay/host.ts'
import type { Key } from '../../overlay/interval.ts'
import { nextKey } from '../../overlay/interval.ts'
import type { AskOptions, Routing } from '../../overlay/routing/routing.ts'
import { prepare } from '../../overlay/space/cover.ts'
import type { PreparedExtent } from '../../overlay/space/cover.ts'
import { checkExtent } from '../../overlay/space/extent.ts'
import { InvalidRequestError } from '../errors.ts'
import { findMethod, getMethod } from '../messages.ts'
import type { FindMessage } from '../messages.ts'
import type { FindRequest, StoredRecord, Version } from '../storage-api.ts'
import { extentToWire } from '../wire/convert.ts'
import * as wire from '../wire/storage.ts'
import { matches, wordsOf } from '../words.ts'
import { ByteWriter } from './bytes.ts'
import { checkLimit, checkMatch, checkWords } from './check.ts'
import type { CollectionDefinition } from './collection.ts'
import { coverKeys } from './cover-walk.ts'
import { readCursor, writeCursor } from './cursor.ts'
import { collectionInterval, collectionPrefix, curveKey, idKey, idOf, keyName } from './key-layout.ts'
import type { Gap, Plan } from './owner-walk.ts'
import type { Limits, ReadInit } from './range.ts'
import { decodeHeld, storedRecord } from './record.ts'
import { rowBytes } from './row-frame.ts'
import { compareVersions } from './version.ts'

/** Rows of a message that only counts: no limit but the rows looked at. */
const countedMax = 2 ** 32 - 1
/** The most that a message can say, and far longer than marks live: all moves. */
const movedMsMax = 2 ** 32 - 1

export interface Found {
  readonly record: StoredRecord
  /** The object was told before, in an earlier state. */
  readonly again: boolean
}

export interface FindPlan extends Plan<Found> {
  /** Matches so far, for countOnly. */
  count (): number
}

/** @throws InvalidRequestError, InvalidSpaceError */
export function planFind (asker: { host: Host, routing: Routing }, collection: CollectionDefinition, request: FindRequest, limits: Limits, init: ReadInit): FindPlan {
  if (collection.kind !== 'spatial') throw new InvalidRequestError('collection', `${collection.name} is ordered and has no extent; ask range`)
  const { name, space } = collection
  const extent = checkExtent(space, request.extent, 'extent')
  const words = checkWords(request.words, 'words')
  const any = checkMatch(request.match, 'match') === 'any'
  const limit = Math.min(checkLimit(request.limit, 'limit'), limits.rowsMax)
  const countOnly = request.countOnly === true
  const prepared = prepare(space, extent)
  const cover = coverKeys(prepared, name, collectionPrefix(name).length)
  const query = new ByteWriter().text('find').text(name).bytes(wire.Extent.encode(extentToWire(extent))).text(JSON.stringify(words)).u8(any ? 1 : 0).finish()
  const from = request.cursor === undefined ? { key: curveKey(name, 0), sinceMs: Math.floor(asker.host.wallClock()) } : readCursor(query, request.cursor)
  const startMs = asker.host.now() - earlierMs(asker.host, from.sinceMs)
  const message = { collection: name, space, extent, words, any, countOnly }
  const page = new FoundPage({ ...asker, prepared, startMs }, message, { rows: limit, bytes: limits.bytesMax }, init)
  return {
    collection: name,
    interval: { low: curveKey(name, 0), high: collectionInterval(name).high! },
    reverse: false,
    start: cover.from(from.key),
    onward: at => cover.from(at),
    isFull: () => page.isFull,
    cursor: next => writeCursor(query, { key: next, sinceMs: from.sinceMs }),
    count: () => page.count,
    ask: async (at, options) => await page.ask(at, options)
  }
}

/** Ms since the first page. A clock that stands before it (a page may be asked of another peer) says nothing: tell all moves. */
function earlierMs (host: Host, sinceMs: number): number {
  const elapsedMs = Math.floor(host.wallClock()) - sinceMs
  return elapsedMs >= 0 ? elapsedMs : movedMsMax
}

type Query = Omit<FindMessage, 'from' | 'rowsMax' | 'bytesMax' | 'movedMs'>

interface FindAsker {
  readonly host: Host
  readonly routing: Routing
  readonly prepared: PreparedExtent
  /** When the read began, by host.now(). */
  readonly startMs: number
}

/** What one answer holds so far. */
class FoundPage {
  count = 0
  readonly #asker: FindAsker
  readonly #query: Query
  readonly #init: ReadInit
  readonly #prefixBytes: number
  /** The version in which each object was told. Bounded: beyond, an object that moves may be told twice. */
  readonly #told = new Map<string, Version>()
  #rowsLeft: number
  #bytesLeft: number

  constructor (asker: FindAsker, query: Query, left: { rows: number, bytes: number }, init: ReadInit) {
    this.#asker = asker
    this.#query = query
    this.#init = init
    this.#prefixBytes = collectionPrefix(query.collection).length
    this.#rowsLeft = left.rows
    this.#bytesLeft = left.bytes
  }

  get isFull (): boolean {
    return !this.#query.countOnly && (this.#rowsLeft <= 0 || this.#bytesLeft <= 0)
  }

  async ask (at: Key, options: AskOptions): Promise<{ rows: Found[], next: Key, missing: Gap[] }> {
    const { messageRowsMax, messageBytesMax } = this.#init
    const rowsMax = this.#query.countOnly ? countedMax : Math.min(this.#rowsLeft, messageRowsMax)
    // What stepped back since the read began; the message itself may be under way for as long as it is asked.
    const movedMs = Math.min(Math.ceil(this.#asker.host.now() - this.#asker.startMs + options.deadlineMs), movedMsMax)
    const message = { ...this.#query, movedMs, from: at, rowsMax, bytesMax: Math.max(1, Math.min(this.#bytesLeft, messageBytesMax)) }
    const { answer } = await this.#asker.routing.ask({ key: at, below: false }, findMethod, message, options)
    this.count += answer.count
    const rows: Found[] = []
    const missing: Gap[] = []
    for (const id of answer.moved) await this.#fetch(id, options, rows, missing)
    for (const row of answer.rows) {
      if (this.isFull) return { rows, next: row.key, missing } // objects that moved took its place
      this.#bytesLeft -= rowBytes(row)
      this.#tell(storedRecord(idOf(row.key, this.#prefixBytes), decodeHeld(row.value!)), rows)
    }
    return { rows, next: answer.next, missing }
  }

  #tell (record: StoredRecord, rows: Found[]): void {
    const name = keyName(record.key)
    const before = this.#told.get(name)
    if (before !== undefined && compareVersions(before, record.version) >= 0) return
    if (before === undefined) this.#rowsLeft--
    if (before !== undefined || this.#told.size < this.#init.toldIdsMax) this.#told.set(name, record.version)
    rows.push({ record, again: before !== undefined })
  }

  /** An object that stepped into the part already walked: tell it as its id record has it now. */
  async #fetch (id: Key, options: AskOptions, rows: Found[], missing: Gap[]): Promise<void> {
    if (this.#told.has(keyName(id)) || this.isFull) return
    const { collection, words, any } = this.#query
    const key = idKey(collection, id)
    try {
      const { answer } = await this.#asker.routing.ask({ key, below: false }, getMethod, { key }, options)
      if (answer.row === undefined) return
      const record = storedRecord(id, decodeHeld(answer.row))
      const isInside = record.point !== undefined && this.#asker.prepared.holds(record.point)
      if (isInside && matches(record.text === undefined ? [] : wordsOf(record.text), words, any ? 'any' : 'all')) this.#tell(record, rows)
    } catch (error) {
      if (options.signal?.aborted === true) throw error
      missing.push({ interval: { low: key, high: nextKey(key) }, peer: undefined, reason: errorName(error) === 'TimeoutError' ? 'deadline' : 'unreachable' })
    }
  }
}

/** Where an object was told twice, only its later state stays. */
export function latestOf (rows: readonly Found[]): StoredRecord[] {
  if (!rows.some(({ again }) => again)) return rows.map(({ record }) => record)
  const latest = new Map<string, StoredRecord>()
  for (const { record } of rows) {
    latest.delete(keyName(record.key))
    latest.set(keyName(record.key), record)
  }
  return [...latest.values()]
}
