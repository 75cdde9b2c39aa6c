// A store whose disk fills up: with a made-up look at the disk, and with logs that are a device which is always full.

import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DiskSpace, type Space } from '../../node/disk-space.ts'
import type { DiskStore } from '../../node/disk-store.ts'
import { openLevelStore } from '../../node/level-store.ts'
import type { Logger } from '../../overlay/host.ts'
import { everything } from '../../overlay/interval.ts'
import { allRows, key, put, rowsOf, settled, shown } from '../conformance/store.ts'
import { FakeTimers } from './fake-timers.ts'

const mebi = 1 << 20
/** Keys of records begin with it. */
const record = 0x72

describe('a store on a full disk', () => {
  let directory: string
  let store: DiskStore
  let space: Space
  let lines: string[]

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'isobar-full-'))
    space = { freeBytes: 1_000 * mebi, totalBytes: 2_000 * mebi, reservedBytes: 64 * mebi }
    lines = []
    await open()
  })

  afterEach(async () => {
    await store.close()
    await rm(directory, { recursive: true, maxRetries: 10, retryDelay: 100 })
  })

  async function open (): Promise<void> {
    const at = (level: string) => (_fields: object, text: string): void => { lines.push(`${level} ${text}`) }
    const log: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
    let now = 0
    store = await openLevelStore(directory, { log, isRecord: key => key[0] === record, space: new DiskSpace(directory, { look: async () => space, now: () => now++ * 1_000 }) })
  }

  const free = (freeBytes: number): void => { space = { ...space, freeBytes } }
  const name = async (promise: Promise<unknown>): Promise<string> => await settled(promise)

  it('takes no records, in one line with the numbers and the remedy, and stores nothing of them', async () => {
    await store.batch([put(key(record, 1), 1)])
    free(63 * mebi)
    const failure: Error = await store.batch([put(key(record, 2), 2)]).then(() => assert.fail('it was taken'), (error: Error) => error)
    assert.deepEqual([failure.name, (failure as Error & { definite: boolean }).definite], ['StoreFullError', true])
    assert.equal(failure.message, `the disk of ${directory} is full, 66 MB are free and 67 MB are kept so: nothing was written; free some space there, then writes go on by themselves`)
    assert.deepEqual(shown(await allRows(store)), ['114.1=1'])
    assert.deepEqual(store.getSync(key(record, 1)), key(1))
    free(64 * mebi)
    await store.close()
    await open()
    assert.deepEqual(shown(await allRows(store)), ['114.1=1'])
  })

  it('takes what gives room back, and what is no record, until a quarter of what is kept free is left', async () => {
    await store.batch([1, 2, 3].map(row => put(key(record, row), row)))
    free(16 * mebi)
    assert.equal(await name(store.batch([put(key(record, 9), 9)])), 'StoreFullError')
    await store.batch([{ type: 'delete', key: key(record, 1) }])
    await store.clear({ low: key(record, 2), high: key(record, 3) })
    await store.batch([put(key(1), 1), { type: 'delete', key: key(record, 9) }])
    assert.equal(await name(store.batch([put(key(2), 1), put(key(record, 4), 4)])), 'StoreFullError')
    assert.deepEqual(shown(await allRows(store)), ['1=1', '114.3=3'])
    free(16 * mebi - 1)
    assert.deepEqual(await Promise.all([store.batch([put(key(3), 1)]), store.batch([{ type: 'delete', key: key(1) }])].map(name)), ['StoreFullError', 'StoreFullError'])
    assert.equal(await name(store.clear(everything)), 'StoreFullError')
    assert.deepEqual(shown(await allRows(store)), ['1=1', '114.3=3'])
  })

  it('takes records again by itself when there is room, and says once each that it was full and is not', async () => {
    const timers = new FakeTimers()
    try {
      free(0)
      for (let count = 0; count < 10; count++) assert.equal(await name(store.batch([put(key(record, count), 1)])), 'StoreFullError')
      free(1_000 * mebi)
      assert.equal(await name(store.batch([put(key(record, 1), 1)])), 'StoreFullError')
      timers.tick(1_000)
      await new Promise(resolve => { setImmediate(resolve) })
      await store.batch([put(key(record, 1), 1)])
    } finally {
      timers.end()
    }
    assert.deepEqual(lines, ['warn the disk is full: no more records are taken, reads go on; free some space', 'info the disk has room again: records are taken'])
  })

  it('says how it is', async () => {
    assert.deepEqual(await store.health(), { state: 'ok', reason: undefined, space })
    free(1 * mebi)
    const { state, reason } = await store.health()
    assert.equal(state, 'full')
    assert.match(reason!, /^the disk of .* is full, 1\.0 MB are free and 67 MB are kept so: .*free some space/)
  })

  it('refuses writes when its directory is gone, in one line', async () => {
    const gone = await openLevelStore(join(directory, 'gone'))
    await rm(join(directory, 'gone'), { recursive: true })
    const failure: Error = await gone.batch([put(key(1), 1)]).then(() => assert.fail('it was taken'), (error: Error) => error)
    assert.match(failure.message, /^the store in .*gone failed: ENOENT/)
    await gone.close()
  })

  /** The logs that LevelDB will begin next are a device that is always full; row 2 is so large that it needs one. */
  async function fillLogs (): Promise<void> {
    for (let number = 4; number < 10; number++) await symlink('/dev/full', join(directory, `00000${number}.log`))
    await store.batch([{ type: 'put', key: key(2), value: new Uint8Array(17 << 20) }])
    assert.equal(await name(store.batch([put(key(3), 3)])), 'StoreFullError')
  }

  async function emptyLogs (): Promise<void> {
    for (let number = 4; number < 10; number++) await rm(join(directory, `00000${number}.log`), { force: true })
  }

  it('that filled up during a write goes on without an end to what is being read', async () => {
    await store.batch([put(key(1), 1)])
    const snapshot = store.snapshot()
    await fillLogs()
    const during = await store.health()
    assert.equal(during.state, 'full')
    assert.deepEqual(store.getSync(key(1)), key(1))
    await emptyLogs()
    await store.batch([put(key(4), 4)])
    assert.deepEqual(shown(await rowsOf(snapshot, everything, { pageRows: 10 })), ['1=1'])
    snapshot.close()
    assert.equal((await store.health()).state, 'ok')
    assert.deepEqual((await allRows(store)).map(row => row.key[0]), [1, 2, 4])
    // What was acknowledged is in tables or in the new log by now, and nothing is left of the damaged one.
    assert.deepEqual((await readdir(directory)).filter(name => name.endsWith('.log')).length, 1)
    await store.close()
    await open()
    assert.deepEqual((await allRows(store)).map(row => row.key[0]), [1, 2, 4])
    assert.deepEqual(lines, ['warn the store failed to write', 'info the store can write again'])
  })

  it('that filled up during a write mends itself though nobody writes', async () => {
    const timers = new FakeTimers()
    try {
      await fillLogs()
      await emptyLogs()
      timers.tick(2_000)
      while ((await store.health()).state !== 'ok') await new Promise(resolve => { setImmediate(resolve) })
    } finally {
      timers.end()
    }
    assert.deepEqual(lines, ['warn the store failed to write', 'info the store can write again'])
  })

  it('does not try to mend itself where the disk has no room for that, and reads on', async () => {
    await store.batch([put(key(1), 1)])
    await fillLogs()
    await emptyLogs()
    // Row 2 is 17 MiB, and stands in a log that becomes a table.
    space = { ...space, freeBytes: 18 * mebi, reservedBytes: 4 * mebi }
    assert.equal(await name(store.batch([put(key(4), 4)])), 'StoreFullError')
    assert.deepEqual(store.getSync(key(1)), key(1))
    space = { ...space, freeBytes: 40 * mebi }
    await store.batch([put(key(4), 4)])
    assert.deepEqual((await allRows(store)).map(row => row.key[0]), [1, 2, 4])
  })
})
