// What users of storage see: the verbs, their requests and answers. HTTP and CLI in node/ speak these; Storage in
// storage/storage.ts carries them out. Keys and values are bytes here; text forms belong to the surface.

import type { Key } from '../overlay/interval.ts'
import type { Extent } from '../overlay/space/extent.ts'
import type { Point } from '../overlay/space/point.ts'
import type { CollectionDefinition } from './records/collection.ts'

export interface VerbOptions {
  /** Milliseconds for the whole verb. */
  readonly deadlineMs: number
  readonly signal?: AbortSignal | undefined
}

/** A part of the answer that could not be had. Keys are those of the collection, without its name; undefined is the end. */
export interface Missing {
  readonly from: Key
  readonly to: Key | undefined
  /** Contact id of the silent owner, where known. */
  readonly peer: string | undefined
  readonly reason: string
}

/** What every answer carries. */
export interface Cost {
  /** Requests to other nodes. */
  readonly hops: number
  /** Nodes that answered as owners. */
  readonly peers: number
  readonly tookMs: number
}

export interface PutRequest {
  readonly collection: string
  readonly key: Key
  readonly value: Uint8Array
  readonly contentType?: string | undefined
  /** Spatial collections only: where the object is. Without one it is stored, but found by its id alone. */
  readonly point?: Point | undefined
  /** Spatial collections only: its words are taken from this text. */
  readonly text?: string | undefined
  /** A retry with the same id has the effect and the answer of the first try. */
  readonly requestId?: string | undefined
}

/** Text form `<ms>-<counter>-<member>`; later ones compare greater as [ms, counter, member]. */
export interface Version {
  /** ms since 1970 (u48). */
  readonly ms: number
  /** u32, even for records, odd for their expiry. */
  readonly counter: number
  readonly member: string
}

export interface StoredRecord {
  readonly key: Key
  readonly value: Uint8Array
  readonly contentType: string | undefined
  readonly version: Version
  readonly point: Point | undefined
  readonly text: string | undefined
}

export interface PutAnswer extends Cost {
  readonly version: Version
  /** Stores that have flushed it. */
  readonly copies: number
  /** True when no live record was there before. */
  readonly created: boolean
}

export interface GetAnswer extends Cost {
  /** Undefined: no such record. */
  readonly record: StoredRecord | undefined
}

export interface DeleteAnswer extends Cost {
  /** False when there was nothing to delete. */
  readonly deleted: boolean
}

/** A run of keys of an ordered collection. Bounds absent are open; gt and gte exclude each other, likewise lt and lte. */
export interface RangeRequest {
  readonly collection: string
  readonly gte?: Key | undefined
  readonly gt?: Key | undefined
  readonly lte?: Key | undefined
  readonly lt?: Key | undefined
  readonly prefix?: Key | undefined
  readonly reverse?: boolean | undefined
  readonly keysOnly?: boolean | undefined
  /** Rows at most. */
  readonly limit: number
  readonly cursor?: string | undefined
}

export interface FindRequest {
  readonly collection: string
  readonly extent: Extent
  /** Words as the user gave them; empty matches any object. */
  readonly words: readonly string[]
  readonly match: 'all' | 'any'
  readonly limit: number
  readonly cursor?: string | undefined
  /** Give the number of matches only. */
  readonly countOnly?: boolean | undefined
}

export interface ReadEnd extends Cost {
  /** False when some owner could not be reached; see missing. */
  readonly complete: boolean
  readonly missing: readonly Missing[]
  /** Where to go on when the limit cut the answer; bound to its query. */
  readonly cursor: string | undefined
}

export interface PageAnswer extends ReadEnd {
  readonly records: readonly StoredRecord[]
}

export interface CountAnswer extends ReadEnd {
  readonly count: number
}

/** A read whose rows come as they arrive: for NDJSON and for long answers. `end` is known when rows are over. */
export interface RowStream {
  readonly rows: AsyncIterable<StoredRecord>
  readonly end: Promise<ReadEnd>
}

export interface StorageVerbs {
  put (request: PutRequest, options: VerbOptions): Promise<PutAnswer>
  get (request: { collection: string, key: Key }, options: VerbOptions): Promise<GetAnswer>
  delete (request: { collection: string, key: Key, requestId?: string | undefined }, options: VerbOptions): Promise<DeleteAnswer>
  range (request: RangeRequest, options: VerbOptions): Promise<PageAnswer>
  rangeStream (request: RangeRequest, options: VerbOptions): RowStream
  find (request: FindRequest, options: VerbOptions): Promise<PageAnswer>
  findStream (request: FindRequest, options: VerbOptions): RowStream
  count (request: FindRequest, options: VerbOptions): Promise<CountAnswer>

  defineCollection (definition: CollectionDefinition, options: VerbOptions): Promise<CollectionDefinition>
  collection (name: string, options: VerbOptions): Promise<CollectionDefinition | undefined>
  collections (options: VerbOptions): Promise<CollectionDefinition[]>
}
