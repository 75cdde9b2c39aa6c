// Holders of copies for tests of fills: simulated hosts with a store, a writer and both ends of fills, and no ownership
// around them. Rows are records of one byte string a key; what each node counts is kept by metric.

import { createHash } from 'node:crypto'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { everything } from '../../../overlay/interval.ts'
import type { Interval, Key } from '../../../overlay/interval.ts'
import type { FillRequest, Learner } from '../../../overlay/holdings.ts'
import type { Member } from '../../../overlay/member.ts'
import type { Operation, Store } from '../../../overlay/store.ts'
import { FullParts } from '../../../storage/holdings/full-parts.ts'
import { Fills } from '../../../storage/holdings/fill.ts'
import { Learners } from '../../../storage/holdings/learner.ts'
import { FillSources } from '../../../storage/holdings/source.ts'
import { Spans } from '../../../storage/holdings/spans.ts'
import { Writer } from '../../../storage/holdings/writer.ts'
import { storageDefaults } from '../../../storage/init.ts'
import { MemoryStore } from '../../../storage/memory-store.ts'
import { decodeHeld, encodeHeld } from '../../../storage/records/record.ts'
import type { FrameRow } from '../../../storage/records/row-frame.ts'
import { World } from '../../../testnet/simulator/world.ts'
import type { SimHost } from '../../../testnet/simulator/sim-host.ts'

export type HoldersInit = Partial<typeof storageDefaults>

const writerMember = 'a'.repeat(32)

/** A stored row: text at version ms. */
export function rowOf (ms: number, text = `at ${ms}`): Uint8Array {
  return encodeHeld({ kind: 'ordered', version: { ms, counter: 0, member: writerMember }, state: { value: fromString(text), contentType: undefined, point: undefined, text: undefined }, requested: undefined })
}

export function keyOf (i: number): Key {
  return fromString(`${i}`.padStart(6, '0'))
}

/** Rows 0 to count - 1 at version 1. */
export function manyRows (count: number, text?: string): Operation[] {
  return Array.from({ length: count }, (_, i) => ({ type: 'put', key: keyOf(i), value: rowOf(1, text) }))
}

/** What the store has, readable: `<ms>` and the text by the key. */
export async function shown (store: Store, interval: Interval = everything): Promise<Record<string, string>> {
  const rows: Record<string, string> = {}
  const snapshot = store.snapshot()
  for await (const page of snapshot.pages(interval, { pageRows: 1000 })) {
    for (const { key, value } of page) {
      const { version, state } = decodeHeld(value)
      rows[toString(key)] = `${version.ms} ${state === undefined ? '' : toString(state.value)}`
    }
  }
  snapshot.close()
  return rows
}

/** All rows by key and hash, for comparing two stores whole. */
export async function contentsOf (store: Store): Promise<string> {
  const rows: string[] = []
  const snapshot = store.snapshot()
  for await (const page of snapshot.pages(everything, { pageRows: 1000 })) rows.push(...page.map(({ key, value }) => `${toString(key)} ${createHash('sha256').update(value).digest('hex').slice(0, 16)}`))
  snapshot.close()
  return rows.join('\n')
}

export class Holder {
  readonly host: SimHost
  readonly store: Store
  readonly writer: Writer
  readonly member: Member
  readonly sources: FillSources
  readonly learners: Learners
  readonly fills: Fills
  readonly owned = new Spans()
  /** Does it write for itself, or as a member for an owner elsewhere? */
  isOwner = false
  readonly letGo: Interval[] = []
  readonly madeRoom: Interval[] = []
  readonly counted: Map<string, number>

  constructor (host: SimHost, store: Store, counted: Map<string, number>, given: HoldersInit) {
    const init = { ...storageDefaults, memberId: host.self.id, ...given }
    this.host = host
    this.store = store
    this.counted = counted
    this.member = { id: host.self.id, contact: host.self }
    this.writer = new Writer({ store, onFlushed: () => {}, spread: () => undefined })
    this.sources = new FillSources({ host, store, writer: this.writer }, init)
    this.learners = new Learners({
      host,
      store,
      writer: this.writer,
      makeRoom: async interval => { this.madeRoom.push(interval) },
      letGo: interval => { this.letGo.push(interval) },
      owns: interval => this.owned.meets(interval),
      ownsAll: interval => this.owned.covers(interval),
      holds: interval => this.owned.meets(interval),
      holdsAll: interval => this.owned.covers(interval),
      full: new FullParts(new MemoryStore())
    }, init)
    this.fills = new Fills({ host }, init)
    this.sources.start()
    this.learners.start()
  }

  count (metric: string): number {
    return this.counted.get(metric) ?? 0
  }

  /** A write that this holder hears of. */
  async put (i: number, ms: number, text?: string): Promise<void> {
    await this.hear([{ key: keyOf(i), value: rowOf(ms, text) }])
  }

  async hear (rows: readonly FrameRow[]): Promise<void> {
    await (this.isOwner ? this.writer.write(rows) : this.writer.copy(rows))
  }
}

export class Holders {
  readonly world: World
  readonly all: Holder[] = []
  readonly #init: HoldersInit

  constructor (stores: ReadonlyArray<((host: SimHost) => Store) | undefined>, init: HoldersInit = {}, seed = 1) {
    const counts = new Map<string, Map<string, number>>()
    const countsOf = (name: string): Map<string, number> => counts.get(name) ?? counts.set(name, new Map()).get(name)!
    this.#init = init
    this.world = new World({
      seed,
      latencyMs: { min: 1, max: 5 },
      metrics: name => ({
        count: (metric, _labels, by = 1) => { countsOf(name).set(metric, (countsOf(name).get(metric) ?? 0) + by) },
        gauge: () => {},
        observe: () => {}
      })
    })
    stores.forEach((storeOf, index) => {
      const host = this.world.host(`node ${index}`)
      this.all.push(new Holder(host, storeOf?.(host) ?? new MemoryStore(), countsOf(`node ${index}`), this.#init))
    })
  }

  at (index: number): Holder {
    return this.all[index]!
  }

  async run<T> (promise: Promise<T>): Promise<T> {
    return await this.world.settle(promise)
  }

  async pass (ms: number): Promise<void> {
    await this.run(this.at(0).host.sleep(ms))
  }

  /** A fill from node 0 to node 1, which holds a copy. */
  request (change: Partial<FillRequest> = {}): FillRequest {
    return { session: 's', interval: everything, epoch: 1, source: this.at(0).member, learners: [this.holding(1)], ...change }
  }

  holding (index: number): Learner {
    return { ...this.at(index).member, holds: true }
  }

  async fill (request: FillRequest = this.request(), by = 0): Promise<void> {
    const { fills, host } = this.at(by)
    await this.run(fills.fill(request, host.deadline(60_000)))
  }

  async tail (request: FillRequest = this.request(), by = 0): Promise<void> {
    const { fills, host } = this.at(by)
    await this.run(fills.tail(request, host.deadline(60_000)))
  }
}
