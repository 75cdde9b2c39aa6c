// Storage: the verbs of records as one facade, and what ownership asks for as another. Verbs find the owner of a key by
// routing, from any node; the handlers behind them answer for keys that this node owns. Here the parts are put together;
// each verb has its file under records/, holdings have theirs under holdings/.

import { TimeoutError } from '../overlay/errors.ts'
import type { Copies } from '../overlay/copies.ts'
import type { Holdings } from '../overlay/holdings.ts'
import type { Host } from '../overlay/host.ts'
import type { Key } from '../overlay/interval.ts'
import type { Routing } from '../overlay/routing/routing.ts'
import type { Store } from '../overlay/store.ts'
import type { Counts } from './holdings/census.ts'
import { HeldParts } from './holdings/holdings.ts'
import type { StorageInit } from './init.ts'
import { MemoryStore } from './memory-store.ts'
import { Intents } from './intent.ts'
import { storageMetrics } from './metrics.ts'
import { Rate } from './rate.ts'
import { Course } from './records/ask.ts'
import { builtInCollections, decodeDefinition } from './records/collection.ts'
import type { CollectionDefinition } from './records/collection.ts'
import { Collections } from './records/collections.ts'
import { deleteRecord, handleDelete } from './records/delete.ts'
import { handleFind } from './records/find-part.ts'
import { latestOf, planFind } from './records/find.ts'
import type { FindPlan } from './records/find.ts'
import { get, handleGet } from './records/get.ts'
import { definitionsName } from './records/key-layout.ts'
import { Objects } from './records/object.ts'
import { OwnerWalk } from './records/owner-walk.ts'
import type { Plan } from './records/owner-walk.ts'
import { markVersion, Places } from './records/place.ts'
import { handlePut, put } from './records/put.ts'
import { handleRange, planRange } from './records/range.ts'
import type { Limits } from './records/range.ts'
import { rowStream } from './records/row-stream.ts'
import { hasOpen, kindOf } from './records/record.ts'
import { Turns } from './turns.ts'
import type { CountAnswer, DeleteAnswer, FindRequest, GetAnswer, PageAnswer, PutAnswer, PutRequest, RangeRequest, RowStream, StorageVerbs, StoredRecord, VerbOptions, Version } from './storage-api.ts'

export interface StorageComponents {
  readonly host: Host
  /** Keys of the key line, and nothing else. */
  readonly store: Store
  readonly routing: Routing
  /** Absent: this node keeps all rows alone. */
  readonly copies?: Copies | undefined
  /** For what is noted beside the records; absent: forgotten at a restart. */
  readonly notes?: Store | undefined
}

export class Storage implements StorageVerbs {
  /** Told of each request that this node answers as owner; cost 1 is one request. */
  onTouch: (key: Key, cost: number) => void = () => {}

  readonly #components: StorageComponents
  readonly #init: StorageInit
  readonly #collections: Collections
  readonly #objects: Objects
  readonly #places: Places
  readonly #intents: Intents
  readonly #parts: HeldParts
  readonly #rate: Rate

  constructor (components: StorageComponents, init: StorageInit) {
    const { host, routing } = components
    this.#components = components
    this.#init = init
    this.#rate = new Rate(() => host.now())
    this.#parts = new HeldParts({
      ...components,
      notes: components.notes ?? new MemoryStore(),
      collections: () => this.#collections.known(),
      onOwnedRow: (key, value) => this.#takeUp(key, value)
    }, init)
    const { writer } = this.#parts
    const owns = (key: Key): boolean => this.#parts.owns(key)
    const turns = new Turns(init.updatesWaitingMax, () => `${host.random()}`.slice(2))
    this.#collections = new Collections({ host, routing, writer }, init)
    this.#objects = new Objects({ host, writer, routing, turns, owns }, init)
    this.#intents = new Intents({ host, primary: this.#objects, turns }, init)
    this.#places = new Places({ host, writer, onTouch: this.#touched, owns }, init)
  }

  /** For ownership: how rows follow claims. */
  get holdings (): Holdings {
    return this.#parts
  }

  /** Live records held as owner, nearly. */
  get counts (): Counts {
    return this.#parts.counts
  }

  /** Requests answered as owner, over the last ten seconds. */
  requestsPerSecond (): number {
    return this.#rate.perSecond()
  }

  /** Read what was noted before a restart; before `start`. */
  async open (): Promise<void> {
    await this.#parts.open()
  }

  start (): void {
    const { routing } = this.#components
    const owner = {
      ...this.#components,
      writer: this.#parts.writer,
      objects: this.#objects,
      onTouch: this.#touched,
      onRead: this.#read,
      markAgeMs: (key: Key, version: Version) => this.#places.markAgeMs(key, version)
    }
    this.#parts.start()
    this.#collections.start()
    this.#objects.start(this.#intents)
    this.#places.start(routing)
    handlePut(owner, this.#init)
    handleDelete(owner, this.#init)
    handleGet(owner)
    handleRange(owner, this.#init)
    handleFind(owner, this.#init)
  }

  /** Stop what runs in the background. What is open is driven again after the next start. */
  stop (): void {
    this.#intents.stop()
    this.#places.stop()
    this.#parts.stop()
  }

  async put (request: PutRequest, options: VerbOptions): Promise<PutAnswer> {
    const course = this.#course(options)
    return await put(this.#components, await this.#collection(request.collection, options), request, course)
  }

  async get (request: { collection: string, key: Key }, options: VerbOptions): Promise<GetAnswer> {
    const course = this.#course(options)
    return await get(this.#components, await this.#collection(request.collection, options), request.key, course)
  }

  async delete (request: { collection: string, key: Key, requestId?: string | undefined }, options: VerbOptions): Promise<DeleteAnswer> {
    const course = this.#course(options)
    return await deleteRecord(this.#components, await this.#collection(request.collection, options), request, course)
  }

  async range (request: RangeRequest, options: VerbOptions): Promise<PageAnswer> {
    const course = this.#course(options)
    const plan = await this.#planRange(request, options, this.#pageLimits)
    const { rows, walk } = await this.#collect(plan, course)
    return { records: rows, ...walk.end() }
  }

  rangeStream (request: RangeRequest, options: VerbOptions): RowStream {
    const course = this.#course(options)
    return rowStream(async () => this.#walk(await this.#planRange(request, options, noLimits), course), rows => rows)
  }

  async find (request: FindRequest, options: VerbOptions): Promise<PageAnswer> {
    const course = this.#course(options)
    const plan = await this.#planFind({ ...request, countOnly: false }, options, this.#pageLimits)
    const { rows, walk } = await this.#collect(plan, course)
    return { records: latestOf(rows), ...walk.end() }
  }

  findStream (request: FindRequest, options: VerbOptions): RowStream {
    const course = this.#course(options)
    const plan = async (): Promise<FindPlan> => await this.#planFind({ ...request, countOnly: false }, options, noLimits)
    return rowStream(async () => this.#walk(await plan(), course), rows => rows.filter(({ again }) => !again).map(({ record }) => record))
  }

  /** The limit of the request does not matter. */
  async count (request: FindRequest, options: VerbOptions): Promise<CountAnswer> {
    const course = this.#course(options)
    const plan = await this.#planFind({ ...request, countOnly: true }, options, noLimits)
    const { walk } = await this.#collect(plan, course)
    return { count: plan.count(), ...walk.end() }
  }

  async defineCollection (definition: CollectionDefinition, options: VerbOptions): Promise<CollectionDefinition> {
    return await this.#collections.define(definition, options)
  }

  async collection (name: string, options: VerbOptions): Promise<CollectionDefinition | undefined> {
    return await this.#collections.lookup(name, options)
  }

  /** All there are, ascending by name. */
  async collections (options: VerbOptions): Promise<CollectionDefinition[]> {
    const course = this.#course(options)
    const request = { collection: definitionsName, limit: Number.MAX_SAFE_INTEGER }
    const { rows, walk } = await this.#collect(planRange(this.#components, { name: definitionsName, kind: 'ordered' }, request, noLimits, this.#init), course)
    if (!walk.end().complete) throw new TimeoutError('not all owners of definitions answered; try again')
    return [...builtInCollections, ...rows.map(({ value }) => decodeDefinition(value))].sort((a, b) => a.name < b.name ? -1 : 1)
  }

  readonly #touched = (key: Key, verb: string): void => {
    this.#rate.count()
    this.#components.host.metrics.count(storageMetrics.requests, { verb })
    this.onTouch(key, 1)
  }

  readonly #read = (verb: string, rows: number, scanned: number): void => {
    this.#components.host.metrics.count(storageMetrics.rows, { verb }, rows)
    this.#components.host.metrics.count(storageMetrics.scanned, { verb }, scanned)
  }

  get #pageLimits (): Limits {
    return { rowsMax: this.#init.pageRowsMax, bytesMax: this.#init.pageBytesMax }
  }

  #course (options: VerbOptions): Course {
    return new Course(this.#components.host, options)
  }

  async #collection (name: string, options: VerbOptions): Promise<CollectionDefinition> {
    return await this.#collections.mustLookup(name, options)
  }

  async #planRange (request: RangeRequest, options: VerbOptions, limits: Limits): Promise<Plan<StoredRecord>> {
    return planRange(this.#components, await this.#collection(request.collection, options), request, limits, this.#init)
  }

  async #planFind (request: FindRequest, options: VerbOptions, limits: Limits): Promise<FindPlan> {
    return planFind(this.#components, await this.#collection(request.collection, options), request, limits, this.#init)
  }

  #walk<Row> (plan: Plan<Row>, course: Course): OwnerWalk<Row> {
    return new OwnerWalk(plan, course, this.#init)
  }

  async #collect<Row> (plan: Plan<Row>, course: Course): Promise<{ rows: Row[], walk: OwnerWalk<Row> }> {
    const walk = this.#walk(plan, course)
    const rows: Row[] = []
    for await (const page of walk.pages()) rows.push(...page)
    return { rows, walk }
  }

  /** What is left to do for a row that came here with its interval. False when there is no room to remember it. */
  #takeUp (key: Key, value: Uint8Array): boolean {
    if (kindOf(value) === 'id') return !hasOpen(value) || this.#intents.driveLater(key)
    const version = markVersion(value)
    if (version !== undefined) this.#places.expireMark(key, version)
    return true
  }
}

/** For streams: the reader stops when it has enough. */
const noLimits: Limits = { rowsMax: Number.MAX_SAFE_INTEGER, bytesMax: Infinity }
