// What each Store must do, whatever lies under it: run by test/conformance/store.test.ts on each of them.
// The model is a sorted array that is searched from end to end.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { compareKeys, everything, holdsKey } from '../../overlay/interval.ts'
import type { Interval, Key } from '../../overlay/interval.ts'
import type { Operation, Row, RowsOptions, Snapshot, Store } from '../../overlay/store.ts'

export interface StoreSetup {
  /** An empty store. */
  open (): Promise<Store>
  /** Called when a test is done with what it opened. */
  dispose (): Promise<void>
  /** Histories of the property test. */
  readonly runs: number
}

export function key (...bytes: number[]): Key {
  return Uint8Array.from(bytes)
}

export function put (k: Key, ...value: number[]): Operation {
  return { type: 'put', key: k, value: Uint8Array.from(value) }
}

export function del (k: Key): Operation {
  return { type: 'delete', key: k }
}

export async function rowsOf (snapshot: Snapshot, interval: Interval = everything, options: RowsOptions = { pageRows: 1000 }): Promise<Row[]> {
  const rows: Row[] = []
  for await (const page of snapshot.pages(interval, options)) {
    assert.ok(page.length >= 1 && page.length <= options.pageRows, `a page of ${page.length} rows`)
    rows.push(...page)
  }
  return rows
}

/** All rows as of now. */
export async function allRows (store: Store): Promise<Row[]> {
  const snapshot = store.snapshot()
  try {
    return await rowsOf(snapshot)
  } finally {
    snapshot.close()
  }
}

/** Rows in readable form, for comparing. */
export function shown (rows: readonly Row[]): string[] {
  return rows.map(row => `${[...row.key].join('.')}=${[...row.value].join('.')}`)
}

/** How promise settles: 'done', or the name of its error. */
export async function settled (promise: Promise<unknown>): Promise<string> {
  return await promise.then(() => 'done', (error: Error) => error.name)
}

/** Keys of few letters, so that they meet; with the empty key, and bytes next to the ends. */
const keys: fc.Arbitrary<Key> = fc.array(fc.constantFrom(0, 1, 127, 128, 254, 255), { maxLength: 3 }).map(bytes => Uint8Array.from(bytes))
const values: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 9, arbitrary: fc.uint8Array({ maxLength: 12 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1000, max: 9000 }).map(length => new Uint8Array(length).fill(length)) }
)
const intervals: fc.Arbitrary<Interval> = fc.record({ low: keys, high: fc.option(keys, { nil: undefined }) })
const operations: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constant('put' as const), key: keys, value: values }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('delete' as const), key: keys }) }
)

type Step =
  | { do: 'batch', operations: Operation[] }
  | { do: 'fill', low: number, rowsCount: number }
  | { do: 'clear', interval: Interval }
  | { do: 'snapshot' }
  | { do: 'read', which: number, interval: Interval, options: RowsOptions }
  | { do: 'get', key: Key }

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('batch' as const), operations: fc.array(operations, { maxLength: 12 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fill' as const), low: fc.nat(200), rowsCount: fc.nat(300) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const), interval: intervals }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('snapshot' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('read' as const),
      which: fc.nat(9),
      interval: intervals,
      options: fc.record({ reverse: fc.boolean(), pageRows: fc.integer({ min: 1, max: 40 }) })
    })
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('get' as const), key: keys }) }
)

/** Rows with keys of two bytes from low.0 on, in order. */
function fill (low: number, rowsCount: number): Operation[] {
  return Array.from({ length: rowsCount }, (_, index) => put(key(low + (index >> 7), index & 127), index & 255, rowsCount & 255))
}

function applied (model: readonly Row[], given: readonly Operation[]): Row[] {
  let rows = [...model]
  for (const operation of given) {
    rows = rows.filter(row => compareKeys(row.key, operation.key) !== 0)
    if (operation.type === 'put') rows.push({ key: operation.key, value: operation.value })
  }
  return rows.sort((a, b) => compareKeys(a.key, b.key))
}

async function checkHistory (store: Store, history: readonly Step[]): Promise<void> {
  let model: Row[] = []
  const snapshots: Array<{ snapshot: Snapshot, model: Row[] }> = []
  const flushes: Array<Promise<void>> = []
  const flush = async (): Promise<void> => { await Promise.all(flushes.splice(0)) }
  for (const step of history) {
    if (step.do === 'batch' || step.do === 'fill') {
      const given = step.do === 'batch' ? step.operations : fill(step.low, step.rowsCount)
      flushes.push(store.batch(given))
      model = applied(model, given)
    } else if (step.do === 'clear') {
      flushes.push(store.clear(step.interval))
      model = model.filter(row => !holdsKey(step.interval, row.key))
    } else if (step.do === 'snapshot') {
      await flush()
      snapshots.push({ snapshot: store.snapshot(), model })
    } else if (step.do === 'get') {
      await flush()
      assert.deepEqual(store.getSync(step.key), model.find(row => compareKeys(row.key, step.key) === 0)?.value)
    } else if (snapshots.length > 0) {
      const taken = snapshots[step.which % snapshots.length]!
      const expected = taken.model.filter(row => holdsKey(step.interval, row.key))
      if (step.options.reverse === true) expected.reverse()
      assert.deepEqual(shown(await rowsOf(taken.snapshot, step.interval, step.options)), shown(expected))
    }
  }
  await flush()
  assert.deepEqual(shown(await allRows(store)), shown(model))
  for (const { snapshot } of snapshots) snapshot.close()
}

/** Defines the tests of the suite in the present describe. */
export function storeConformance (setup: StoreSetup): void {
  let store: Store
  beforeEach(async () => { store = await setup.open() })
  afterEach(async () => { await setup.dispose() })

  it('agrees with a sorted array over random histories, snapshots read later included', async () => {
    await fc.assert(fc.asyncProperty(fc.array(steps, { maxLength: 30 }), async history => {
      await store.clear(everything)
      await checkHistory(store, history)
    }), { numRuns: setup.runs })
  })

  it('has no value for a key that was never put, and keeps empty keys and empty values', async () => {
    assert.equal(store.getSync(key(1)), undefined)
    await store.batch([put(key()), put(key(0))])
    assert.deepEqual(shown(await allRows(store)), ['=', '0='])
    await store.clear({ low: key(), high: key(0) })
    assert.deepEqual(shown(await allRows(store)), ['0='])
  })

  it('does the operations of one batch in order, the last on a key winning', async () => {
    await store.batch([put(key(1), 1), put(key(2), 1), del(key(1)), put(key(2), 2), del(key(3)), put(key(3), 3)])
    assert.deepEqual(shown(await allRows(store)), ['2=2', '3=3'])
  })

  it('flushes batches and clears in the order in which they were given', async () => {
    const order: string[] = []
    const note = (name: string) => (): void => { order.push(name) }
    await Promise.all([
      store.batch([put(key(1), 1), put(key(2), 1)]).then(note('a')),
      store.batch([put(key(1), 2)]).then(note('b')),
      store.clear({ low: key(2), high: undefined }).then(note('c')),
      store.batch([put(key(3), 3)]).then(note('d')),
      store.clear({ low: key(3), high: key(3) }).then(note('e'))
    ])
    assert.deepEqual(order, ['a', 'b', 'c', 'd', 'e'])
    assert.deepEqual(shown(await allRows(store)), ['1=2', '3=3'])
  })

  it('reads a value of a batch at the latest when its promise resolves', async () => {
    for (let value = 0; value < 20; value++) {
      await store.batch([put(key(7), value)])
      assert.deepEqual(store.getSync(key(7)), key(value))
    }
  })

  it('gives bytes that the caller may change, as plain Uint8Arrays, and keeps none of what it was given', async () => {
    const given = { type: 'put' as const, key: key(1, 2), value: key(3, 4) }
    await store.batch([given])
    given.key.fill(9)
    given.value.fill(9)
    const value = store.getSync(key(1, 2))
    assert.deepEqual(value, key(3, 4))
    value!.fill(8)
    const [row] = await allRows(store)
    assert.deepEqual(row, { key: key(1, 2), value: key(3, 4) })
    row!.key.fill(8)
    row!.value.fill(8)
    assert.deepEqual(shown(await allRows(store)), ['1.2=3.4'])
  })

  it('shows a snapshot as it was while rows are changed, deleted and cleared', async () => {
    await store.batch(fill(10, 300))
    const snapshot = store.snapshot()
    const pages = snapshot.pages(everything, { pageRows: 100 })[Symbol.asyncIterator]()
    const first = await pages.next()
    await store.batch([...fill(10, 200).map(({ key }) => del(key)), put(key(10, 250), 1), put(key(12, 1), 1)])
    await store.clear(everything)
    const rows = [...first.value as Row[]]
    for (let next = await pages.next(); next.done !== true; next = await pages.next()) rows.push(...next.value)
    const model = applied([], fill(10, 300))
    assert.deepEqual(shown(rows), shown(model))
    assert.deepEqual(shown(await rowsOf(snapshot, everything, { pageRows: 7, reverse: true })), shown(model).reverse())
    assert.deepEqual(await allRows(store), [])
    snapshot.close()
  })

  it('refuses to read a snapshot that is closed', async () => {
    await store.batch([put(key(1), 1)])
    const snapshot = store.snapshot()
    snapshot.close()
    assert.equal(await settled(rowsOf(snapshot)), 'StoreError')
  })

  it('releases the cursor of an iteration that ends early, so that it closes afterwards', async () => {
    await store.batch(fill(0, 100))
    const snapshot = store.snapshot()
    const pages = snapshot.pages(everything, { pageRows: 3 })[Symbol.asyncIterator]()
    assert.equal((await pages.next()).value.length, 3)
    await pages.return?.()
    snapshot.pages(everything, { pageRows: 3 }) // never read
    snapshot.close()
    await store.close()
  })

  it('estimates no bytes for what is empty and some for what it flushed long ago', async () => {
    assert.equal(await store.approximateSize({ low: key(5), high: key(5) }), 0)
    assert.ok(await store.approximateSize(everything) >= 0)
  })

  it('flushes what was given before close, and refuses all later calls', async () => {
    const given = [store.batch([put(key(1), 1)]), store.clear({ low: key(0), high: key(1) }), store.batch([put(key(2), 2)])]
    const closing = store.close()
    assert.throws(() => store.getSync(key(1)), { name: 'StoreError' })
    assert.throws(() => store.snapshot(), { name: 'StoreError' })
    const refused = await Promise.all([
      settled(store.batch([put(key(3), 3)])), settled(store.clear(everything)), settled(store.approximateSize(everything))
    ])
    assert.deepEqual(refused, ['StoreError', 'StoreError', 'StoreError'])
    assert.deepEqual(await Promise.all(given.map(settled)), ['done', 'done', 'done'])
    await closing
    await store.close()
  })
}
