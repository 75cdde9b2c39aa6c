// What the store on disk adds to the conformance suite: its lock, its files after a crash, and a disk that fills up.

import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, symlink, truncate, readFile, writeFile, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLevelStore } from '../../node/level-store.ts'
import type { Logger } from '../../overlay/host.ts'
import { everything } from '../../overlay/interval.ts'
import type { Store } from '../../overlay/store.ts'
import { allRows, key, put, rowsOf, settled, shown } from '../conformance/store.ts'

interface Line {
  readonly level: keyof Logger
  readonly fields: object
}

function recorder (): { log: Logger, lines: Line[] } {
  const lines: Line[] = []
  const at = (level: keyof Logger) => (fields: object): void => { lines.push({ level, fields }) }
  return { lines, log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } }
}

describe('node/level-store', () => {
  let directory: string
  let opened: Store[]
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'isobar-level-'))
    opened = []
  })
  afterEach(async () => {
    await Promise.all(opened.map(async store => await store.close()))
    await rm(directory, { recursive: true, maxRetries: 10, retryDelay: 100 })
  })

  async function open (log?: Logger): Promise<Store> {
    const store = await openLevelStore(directory, { log })
    opened.push(store)
    return store
  }

  /** The name of the one file of this kind. */
  async function fileOf (kind: RegExp): Promise<string> {
    const names = (await readdir(directory)).filter(name => kind.test(name))
    assert.equal(names.length, 1)
    return join(directory, names[0]!)
  }

  it('finds after it was opened again what was flushed before', async () => {
    const before = await open()
    await before.batch([put(key(1), 1), put(key(2), 2), put(key(3), 3)])
    await before.clear({ low: key(2), high: key(3) })
    await before.close()
    assert.deepEqual(shown(await allRows(await open())), ['1=1', '3=3'])
  })

  it('refuses a directory that is open already, in one line with its name', async () => {
    const store = await open()
    await assert.rejects(openLevelStore(directory), (error: Error) => {
      assert.equal(error.name, 'StoreLockedError')
      assert.ok(error.message.includes(directory) && !error.message.includes('\n'))
      return true
    })
    await store.batch([put(key(1), 1)])
    await store.close()
    await (await open()).batch([put(key(1), 2)])
  })

  it('refuses a damaged store, in one line with the remedy', async () => {
    await (await open()).close()
    await writeFile(join(directory, 'CURRENT'), 'MANIFEST-999999\n')
    await assert.rejects(openLevelStore(directory), { name: 'StoreCorruptError', message: /^the store in .* is damaged .*move the directory away.*$/ })
  })

  it('does not take for empty a store that lost the file CURRENT', async () => {
    const store = await open()
    await store.batch([put(key(1), 1)])
    await store.close()
    await rm(join(directory, 'CURRENT'))
    await assert.rejects(openLevelStore(directory), { name: 'StoreCorruptError' })
  })

  it('finds all batches but the last when the last log is cut short', async () => {
    const before = await open()
    await before.batch([put(key(1), 1)])
    await before.batch([put(key(2), 2)])
    await before.close()
    const log = await fileOf(/\.log$/)
    await truncate(log, (await stat(log)).size - 1)
    assert.deepEqual(shown(await allRows(await open())), ['1=1'])
  })

  it('warns once when it dropped a part of the last log that cannot be read', async () => {
    const before = await open()
    await before.batch([put(key(1), 1)])
    await before.batch([put(key(2), 2)])
    await before.close()
    const log = await fileOf(/\.log$/)
    const bytes = await readFile(log)
    bytes[bytes.length - 1]! ^= 0xff
    await writeFile(log, bytes)
    const { log: logger, lines } = recorder()
    assert.deepEqual(shown(await allRows(await open(logger))), ['1=1'])
    assert.deepEqual(lines.map(line => line.level), ['warn'])
  })

  it('refuses batches as full while the disk is, reads on, and writes again when there is room', async () => {
    const { log, lines } = recorder()
    const store = await open(log)
    await store.batch([put(key(1), 1)])
    // The logs that LevelDB will begin next are a device that is always full.
    for (let number = 4; number < 10; number++) await symlink('/dev/full', join(directory, `00000${number}.log`))
    await store.batch([{ type: 'put', key: key(2), value: new Uint8Array(17 << 20) }])
    const refused = store.batch([put(key(3), 3)])
    assert.equal(await settled(refused), 'StoreFullError')
    assert.deepEqual(store.getSync(key(1)), key(1))
    assert.equal(store.getSync(key(3)), undefined)
    for (let number = 4; number < 10; number++) await rm(join(directory, `00000${number}.log`), { force: true })
    await store.batch([put(key(4), 4)])
    await store.close()
    const after = await open()
    assert.deepEqual((await allRows(after)).map(row => row.key[0]), [1, 2, 4])
    assert.deepEqual(lines.map(line => line.level), ['warn', 'info'])
  })

  it('waits with close for a reader, which sees all its rows', async () => {
    const store = await open()
    await store.batch(Array.from({ length: 200 }, (_, index) => put(key(index), index)))
    const snapshot = store.snapshot()
    const reading = rowsOf(snapshot, everything, { pageRows: 10 }).finally(() => { snapshot.close() })
    await Promise.all([store.close(), reading])
    assert.equal((await reading).length, 200)
  })

  it('makes many writers share few flushes, each row on disk when its batch resolves', async () => {
    const store = await open()
    await Promise.all(Array.from({ length: 500 }, async (_, index) => {
      await store.batch([put(key(index >> 8, index & 255), 1)])
      assert.deepEqual(store.getSync(key(index >> 8, index & 255)), key(1))
    }))
    assert.equal((await allRows(store)).length, 500)
  })
})
