// A store whose files are damaged, in every way that a disk or a crash may do it: it is refused in one line with the remedy,
// each time, and left as it is, or it opens with all that was acknowledged; never an empty one in its place.

import assert from 'node:assert/strict'
import { appendFile, cp, mkdtemp, readFile, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { checkLevelFiles } from '../../node/level-files/check.ts'
import { crc32c, maskedCrc32c } from '../../node/level-files/crc32c.ts'
import { logRecords } from '../../node/level-files/log-records.ts'
import { openLevelStore } from '../../node/level-store.ts'
import { allRows, key, put, shown } from '../conformance/store.ts'

describe('CRC-32C', () => {
  it('gives the values of RFC 3720 appendix B.4, and LevelDB’s mask over them', () => {
    const ascending = Uint8Array.from({ length: 32 }, (_, at) => at)
    const given = [new Uint8Array(32), new Uint8Array(32).fill(0xff), ascending, ascending.toReversed(), Buffer.from('123456789')]
    assert.deepEqual(given.map(bytes => crc32c(bytes).toString(16)), ['8a9136aa', '62a8ab43', '46dd794e', '113fdb5c', 'e3069283'])
    // (crc >>> 15 | crc << 17) + 0xa282ead8, worked out by hand for 0xe3069283.
    assert.equal(maskedCrc32c(Buffer.from('123456789')).toString(16), 'c78ab0e5')
  })
})

describe('files of a store', () => {
  let directory: string
  beforeEach(async () => { directory = await mkdtemp(join(tmpdir(), 'isobar-files-')) })
  afterEach(async () => { await rm(directory, { recursive: true, maxRetries: 10, retryDelay: 100 }) })

  /** Rows 1 to 3 in two tables, and row 4 in the log. */
  async function make (): Promise<void> {
    for (const rows of [[1, 2], [3], [4]]) {
      const store = await openLevelStore(directory)
      // Each with much to damage, so that a table has several blocks.
      await store.batch(rows.flatMap(row => Array.from({ length: 40 }, (_, at) => put(key(row, at), row))))
      await store.batch(rows.map(row => ({ type: 'put', key: key(row), value: new Uint8Array(9_000).fill(row) })))
      await store.close()
    }
    const names = await readdir(directory)
    assert.deepEqual([names.filter(name => name.endsWith('.ldb')).length, names.filter(name => name.endsWith('.log')).length], [2, 1])
  }

  async function filesOf (kind: RegExp): Promise<string[]> {
    return (await readdir(directory)).filter(name => kind.test(name)).sort()
  }

  async function contents (): Promise<Map<string, string>> {
    const names = await filesOf(/^(?!LOG|LOCK)/)
    return new Map(await Promise.all(names.map(async name => [name, (await readFile(join(directory, name))).toString('base64')] as const)))
  }

  async function refusesTwice (): Promise<void> {
    const before = await contents()
    for (let time = 0; time < 2; time++) {
      await assert.rejects(openLevelStore(directory), (error: Error) => {
        assert.equal(error.name, 'StoreCorruptError')
        assert.match(error.message, /^the store in .* is damaged \(.*\): move the directory away and start again; this peer then joins as a new one with an empty store$/)
        assert(error.message.includes(directory))
        return true
      })
    }
    assert.deepEqual(await contents(), before)
  }

  it('are whole after any orderly stop', async () => {
    await make()
    const { tables, bytes, comparedBytes } = (await checkLevelFiles(directory, Infinity))!
    assert.deepEqual([tables, bytes === comparedBytes, bytes > 3 * 9_000], [2, true, true])
    assert.equal((await checkLevelFiles(directory, 0))!.comparedBytes, 0)
  })

  it('are none in an empty directory, one that is not there, and one whose first start was cut short', async () => {
    assert.equal(await checkLevelFiles(directory, Infinity), undefined)
    assert.equal(await checkLevelFiles(join(directory, 'gone'), Infinity), undefined)
    for (const name of ['LOCK', 'LOG', 'MANIFEST-000001', '000001.dbtmp']) await writeFile(join(directory, name), '')
    assert.equal(await checkLevelFiles(directory, Infinity), undefined)
    await (await openLevelStore(directory)).close()
  })

  for (const [title, damage] of [
    ['CURRENT is missing', async () => { await rm(join(directory, 'CURRENT')) }],
    ['CURRENT is empty', async () => { await truncate(join(directory, 'CURRENT')) }],
    ['CURRENT is not what it was', async () => { await writeFile(join(directory, 'CURRENT'), Buffer.alloc(16)) }],
    ['CURRENT names a MANIFEST that is not there', async () => { await writeFile(join(directory, 'CURRENT'), 'MANIFEST-999999\n') }],
    ['the MANIFEST is missing', async () => { await rm(join(directory, (await filesOf(/^MANIFEST/))[0]!)) }],
    ['the MANIFEST is empty', async () => { await truncate(join(directory, (await filesOf(/^MANIFEST/))[0]!)) }],
    ['the MANIFEST has a wrong byte', async () => { await flip((await filesOf(/^MANIFEST/))[0]!, 20) }],
    ['a table is missing', async () => { await rm(join(directory, (await filesOf(/ldb$/))[0]!)) }],
    ['a table is empty', async () => { await truncate(join(directory, (await filesOf(/ldb$/))[0]!)) }],
    ['a table has lost its last byte', async () => { await cut((await filesOf(/ldb$/))[1]!, 1) }],
    ['a table has become longer', async () => { await appendFile(join(directory, (await filesOf(/ldb$/))[1]!), 'x') }],
    ['a table has a wrong byte in its first block', async () => { await flip((await filesOf(/ldb$/))[0]!, 100) }],
    ['the log is missing', async () => { await rm(join(directory, (await filesOf(/log$/))[0]!)) }],
    ['all but the tables is gone', async () => { for (const name of await filesOf(/^(?!.*ldb$)/)) await rm(join(directory, name)) }],
    ['all but the MANIFEST is gone', async () => { for (const name of await filesOf(/^(?!MANIFEST)/)) await rm(join(directory, name)) }]
  ] as const) {
    it(`are refused where ${title}, again and again, and left as they are`, async () => {
      await make()
      await damage()
      await refusesTwice()
    })
  }

  async function flip (name: string, at: number): Promise<void> {
    const bytes = await readFile(join(directory, name))
    bytes[at]! ^= 0x10
    await writeFile(join(directory, name), bytes)
  }

  async function cut (name: string, count: number): Promise<void> {
    await truncate(join(directory, name), (await stat(join(directory, name))).size - count)
  }

  it('are refused whichever byte of a table is wrong, but for the few that mean nothing', async () => {
    await make()
    const [name] = await filesOf(/ldb$/)
    const { size } = await stat(join(directory, name!))
    // The footer is 48 bytes: two handles of at most 20 bytes each, padding, and the magic.
    const isPadding = (at: number): boolean => at >= size - 48 && at < size - 8
    await fc.assert(fc.asyncProperty(fc.nat(size - 1), async at => {
      if (isPadding(at)) return
      await flip(name!, at)
      await assert.rejects(checkLevelFiles(directory, Infinity), { name: 'DamagedBytesError' })
      await flip(name!, at)
    }), { numRuns: 300 })
  })

  it('open with all that was acknowledged wherever the last record of the log was cut', async () => {
    const store = await openLevelStore(directory)
    await store.batch([put(key(1), 1)])
    await store.batch([put(key(2), 2)])
    const [log] = await filesOf(/log$/)
    const before = (await stat(join(directory, log!))).size
    await store.batch([{ type: 'put', key: key(3), value: new Uint8Array(70_000) }])
    const after = (await stat(join(directory, log!))).size
    await store.close()
    const copy = await mkdtemp(join(tmpdir(), 'isobar-files-'))
    await fc.assert(fc.asyncProperty(fc.integer({ min: before, max: after - 1 }), async size => {
      await cp(directory, copy, { recursive: true })
      await truncate(join(copy, log!), size)
      const torn = await openLevelStore(copy)
      assert.deepEqual(shown(await allRows(torn)), ['1=1', '2=2'])
      await torn.close()
      await rm(copy, { recursive: true })
    }), { numRuns: 15, examples: [[before], [before + 1], [before + 6], [before + 7], [before + 32_768], [after - 7], [after - 1]] })
  })

  it('have records in whatever blocks they lie, whole ones only', () => {
    // A record of 3 bytes, and one of 40,000 that goes over the end of a block; after that a record that is cut short.
    const record = (type: number, data: Buffer): Buffer => {
      const head = Buffer.from([0, 0, 0, 0, data.length & 255, data.length >> 8, type])
      head.writeUInt32LE(maskedCrc32c(Buffer.concat([head.subarray(6), data])))
      return Buffer.concat([head, data])
    }
    const large = Buffer.alloc(40_000, 7)
    const firstBytes = 32_768 - (7 + 3) - 7
    const file = Buffer.concat([record(1, Buffer.from('abc')), record(2, large.subarray(0, firstBytes)), record(4, large.subarray(firstBytes)), record(1, Buffer.from('cut'))])
    const read = (bytes: Buffer): string[] => [...logRecords(bytes)].map(bytes => bytes.toString('latin1'))
    const whole = ['abc', large.toString('latin1')]
    assert.deepEqual(read(file), [...whole, 'cut'])
    for (const count of [1, 2, 3, 9]) assert.deepEqual(read(file.subarray(0, -count)), whole)
    assert.deepEqual(read(Buffer.concat([file.subarray(0, -10), Buffer.alloc(100)])), whole)
    file[8]! ^= 1
    assert.throws(() => read(file), { name: 'DamagedBytesError', message: 'the record at byte 0 does not fit its checksum' })
  })
})
