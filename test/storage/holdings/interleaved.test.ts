// A copy that is brought in line while both ends hear of writes in any order. A history of writes is drawn; each reaches
// the source and the learner after a delay of its own, or one of them never, until the source promises. The learner's
// store is watched, batch by batch: before the tail no row goes back to an older version and none is deleted but by the
// history; what both have flushed stays; after the tail both stores are equal.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { toString } from 'uint8arrays/to-string'
import type { Operation } from '../../../overlay/store.ts'
import { MemoryStore } from '../../../storage/memory-store.ts'
import { decodeHeld } from '../../../storage/records/record.ts'
import { contentsOf, Holders, keyOf, rowOf, shown } from './holders.ts'
import type { Holder } from './holders.ts'

/** Versions are given by place in the history, above those of the start. */
const firstVersion = 10
const keysCount = 16
/** Every other key has a long value, so that there are several stretches of at most 64 KiB. */
const filler = 'v'.repeat(24 << 10)

type Kind = 'put' | 'close' | 'purge'
interface Event {
  readonly key: number
  /** `close` writes other bytes with the version that is there, `purge` deletes the row. */
  readonly kind: Kind
  readonly atMs: number
  /** Undefined: it does not arrive. */
  readonly sourceMs: number | undefined
  readonly learnerMs: number | undefined
}

const delay = fc.option(fc.integer({ min: 0, max: 30 }), { nil: undefined, freq: 6 })
const event: fc.Arbitrary<Event> = fc.record({
  key: fc.nat(keysCount - 1),
  kind: fc.constantFrom<Kind>('put', 'put', 'put', 'close', 'purge'),
  atMs: fc.integer({ min: 0, max: 80 }),
  sourceMs: delay,
  learnerMs: delay
})
/** Version by key; absent where undefined. */
const start = fc.array(fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined, freq: 4 }), { minLength: keysCount, maxLength: keysCount })
const scene = fc.record({
  seed: fc.nat(1000),
  shared: start,
  own: fc.dictionary(fc.nat(keysCount - 1).map(String), fc.integer({ min: 1, max: 5 }), { maxKeys: 3 }),
  events: fc.array(event, { maxLength: 40 }),
  flushMs: fc.integer({ min: 0, max: 8 }),
  isOwner: fc.boolean()
})

function textOf (key: number, what: string): string {
  return what + (key % 2 === 0 ? filler : '')
}

function operations (versions: ReadonlyArray<number | undefined>): Operation[] {
  return versions.flatMap((ms, key) => ms === undefined ? [] : [{ type: 'put' as const, key: keyOf(key), value: rowOf(ms, textOf(key, 'start')) }])
}

/** A learner's store that knows what was given to it, in order, and does not take what it must not. */
class WatchedStore extends MemoryStore {
  isTail = false
  readonly #given = new Map<string, Uint8Array>()
  /** Keys of the operations that come from the history. */
  readonly purging = new Set<string>()

  override async batch (operations: readonly Operation[]): Promise<void> {
    for (const operation of operations) this.#watch(operation)
    await super.batch(operations)
  }

  #watch (operation: Operation): void {
    const name = toString(operation.key)
    const before = this.#given.get(name)
    if (operation.type === 'delete') {
      assert(this.isTail || this.purging.has(name), `${name} was deleted before the tail`)
      this.#given.delete(name)
      return
    }
    if (before !== undefined && !this.isTail) {
      const [old, fresh] = [decodeHeld(before), decodeHeld(operation.value)]
      assert(fresh.version.ms >= old.version.ms, `${name} went from version ${old.version.ms} to ${fresh.version.ms} before the tail`)
      const isClosed = [old, fresh].map(({ state }) => toString(state!.value).startsWith('closed'))
      assert(fresh.version.ms > old.version.ms || !isClosed[0] || isClosed[1], `${name} was opened again`)
    }
    this.#given.set(name, operation.value)
  }
}

/** How a member hears of a write: it takes what is newer than what it has. */
async function hear (holder: Holder, { key, kind }: Event, ms: number): Promise<void> {
  const name = keyOf(key)
  const latest = holder.writer.latest(name)
  const has = latest === undefined ? 0 : decodeHeld(latest).version.ms
  if (kind === 'put' && has < ms) await holder.hear([{ key: name, value: rowOf(ms, textOf(key, 'put')) }])
  if (kind === 'close' && has > 0) await holder.hear([{ key: name, value: rowOf(has, textOf(key, 'closed')) }])
  if (kind === 'purge' && latest !== undefined) {
    const { store } = holder
    if (store instanceof WatchedStore) store.purging.add(toString(name))
    const written = holder.hear([{ key: name, value: undefined }])
    if (store instanceof WatchedStore) store.purging.delete(toString(name))
    await written
  }
}

async function play ({ seed, shared, own, events, flushMs, isOwner }: { seed: number, shared: Array<number | undefined>, own: Record<string, number>, events: Event[], flushMs: number, isOwner: boolean }): Promise<void> {
  const learnerStore: WatchedStore = new WatchedStore(async () => { await holders.at(1).host.sleep(flushMs) })
  const sourceStore: MemoryStore = new MemoryStore(async () => { await holders.at(0).host.sleep(flushMs / 2) })
  const holders = new Holders([() => sourceStore, () => learnerStore, undefined], { frameBytesMax: 30 << 10, scanPageRows: 3, tailKeysMax: 2 }, seed)
  const [source, learner, caller] = [holders.at(0), holders.at(1), holders.at(2)]
  await holders.run(Promise.all([
    sourceStore.batch(operations(shared)),
    learnerStore.batch(operations(shared.map((version, key) => own[key] ?? version)))
  ]))
  source.isOwner = isOwner
  let hasPromised = false
  const heard: Array<Promise<void>> = []
  /** Newest version by key that was flushed at both while the source took writes; undefined once it was purged. */
  const acknowledged = new Map<number, number | undefined>()
  events.forEach((one, index) => {
    const ms = firstVersion + index
    const arrive = async (holder: Holder, delayMs: number | undefined): Promise<boolean> => {
      if (delayMs === undefined) return false
      await caller.host.sleep(one.atMs + delayMs)
      if (hasPromised) return false
      await hear(holder, one, ms)
      return true
    }
    const both = Promise.all([arrive(source, one.sourceMs), arrive(learner, one.learnerMs)])
    heard.push(both.then(flushed => {
      if (one.kind === 'put' && flushed.every(Boolean)) acknowledged.set(one.key, Math.max(ms, acknowledged.get(one.key) ?? 0))
    }))
  })
  await holders.pass(20)
  const request = holders.request({ source: source.member })
  await holders.fill(request, 2)
  hasPromised = true
  await holders.run(sourceStore.batch([])) // the promise
  learnerStore.isTail = true
  await holders.tail(request, 2)
  const equal = await contentsOf(sourceStore)
  assert.equal(await contentsOf(learnerStore), equal)
  await holders.run(Promise.all(heard))
  assert.equal(await contentsOf(learnerStore), equal, 'something was written after the tail')
  const end = await shown(learnerStore)
  const purged = new Set(events.filter(({ kind }) => kind === 'purge').map(({ key }) => key))
  for (const [key, ms] of acknowledged) {
    const row = end[toString(keyOf(key))]
    assert(purged.has(key) || Number(row?.split(' ')[0]) >= ms!, `key ${key} was acknowledged at version ${ms}, and is ${row?.slice(0, 20)}`)
  }
}

describe('a copy that is brought in line under writes', () => {
  it('never goes back before the tail, keeps what was acknowledged, and then is equal to its source', async () => {
    await fc.assert(fc.asyncProperty(scene, play), { numRuns: 150 })
  })
})
