// Identity and data directory: the same peer after a restart, never silently another; files whole or not at all.

import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeAtomically } from '../../node/atomic-file.ts'
import { openDataDir, readRpc } from '../../node/data-dir.ts'
import { loadIdentity } from '../../node/identity.ts'

describe('identity', () => {
  let dir: string
  let lines: string[]
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'isobar-test-'))
    lines = []
  })
  afterEach(() => { rmSync(dir, { recursive: true }) })

  const keep = (_fields: object, text: string): void => { lines.push(text) }
  const log = { debug: keep, info: keep, warn: keep, error: keep }
  const load = async (dataPresent = false) => await loadIdentity({ file: join(dir, 'identity.key'), dataPresent, log })

  it('is made once, said so, readable by its owner alone, and stays', async () => {
    const first = await load()
    assert.equal(first.created, true)
    assert.match(first.peerId, /^12D3KooW/)
    assert.deepEqual(lines, ['new identity'])
    assert.equal(statSync(join(dir, 'identity.key')).mode & 0o777, 0o600)
    const second = await load(true)
    assert.deepEqual([second.peerId, second.created], [first.peerId, false])
    assert.deepEqual(readdirSync(dir), ['identity.key'])
  })

  it('is made anew beside data only if there was none, and then logged', async () => {
    assert.equal((await load(true)).created, true)
    assert.deepEqual(lines, ['new identity'])
  })

  it('that is empty or garbled beside data is refused with the remedy, and left as it is', async () => {
    await load()
    const whole = readFileSync(join(dir, 'identity.key'))
    for (const bytes of [Buffer.alloc(0), whole.subarray(0, 20), Buffer.alloc(68), Buffer.from('-----BEGIN PRIVATE KEY-----')]) {
      writeFileSync(join(dir, 'identity.key'), bytes)
      await assert.rejects(load(true), { name: 'IdentityError', message: /backup, or delete it/ })
      assert.deepEqual(readFileSync(join(dir, 'identity.key')), bytes)
    }
  })

  it('that is garbled where there is no data is replaced, and that is logged', async () => {
    writeFileSync(join(dir, 'identity.key'), '')
    assert.equal((await load(false)).created, true)
    assert.deepEqual(lines, ['new identity'])
  })

  it('that others could read is closed to them', async () => {
    await load()
    chmodSync(join(dir, 'identity.key'), 0o644)
    await load()
    assert.equal(statSync(join(dir, 'identity.key')).mode & 0o777, 0o600)
    assert.equal(lines.length, 2)
  })
})

describe('a data directory', () => {
  let dir: string
  beforeEach(() => { dir = mkdtempSync(join(tmpdir(), 'isobar-test-')) })
  afterEach(() => { rmSync(dir, { recursive: true }) })

  it('tells how its daemon is called, until that stops', async () => {
    const opened = await openDataDir({ path: join(dir, 'a', 'b'), inMemory: false })
    assert.equal(opened.dataPresent, false)
    assert.equal(readRpc(opened.path), undefined)
    await opened.writeRpc({ rpc: 'http://127.0.0.1:7700', peerId: 'p' })
    assert.deepEqual(readRpc(opened.path), { rpc: 'http://127.0.0.1:7700', peerId: 'p', pid: process.pid })
    await opened.close()
    assert.equal(existsSync(opened.rpcFile), false)
    assert.equal(existsSync(opened.path), true)
  })

  it('leaves the rpc.json of another process alone, and ignores a torn one', async () => {
    const opened = await openDataDir({ path: dir, inMemory: false })
    writeFileSync(opened.rpcFile, JSON.stringify({ rpc: 'http://127.0.0.1:1', peerId: 'p', pid: process.pid + 1 }))
    await opened.close()
    assert.equal(existsSync(opened.rpcFile), true)
    writeFileSync(opened.rpcFile, '{"rpc":"http:')
    assert.equal(readRpc(dir), undefined)
  })

  it('of an in-memory node is temporary', async () => {
    const opened = await openDataDir({ path: dir, inMemory: true })
    assert.notEqual(opened.path, dir)
    assert.equal(existsSync(opened.path), true)
    await opened.close()
    assert.equal(existsSync(opened.path), false)
  })

  it('knows whether there is data, and says in one line when it cannot be made', async () => {
    mkdirSync(join(dir, 'store'))
    writeFileSync(join(dir, 'store', 'CURRENT'), '')
    assert.equal((await openDataDir({ path: dir, inMemory: false })).dataPresent, true)
    writeFileSync(join(dir, 'file'), '')
    await assert.rejects(openDataDir({ path: join(dir, 'file', 'x'), inMemory: false }), { name: 'DataDirError', message: /ENOTDIR.*--data-dir/ })
  })
})

describe('a file written atomically', () => {
  it('replaces the old one whole, and leaves nothing when it cannot', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'isobar-test-'))
    await writeAtomically(join(dir, 'a'), 'one', 0o600)
    await writeAtomically(join(dir, 'a'), 'two', 0o600)
    assert.equal(readFileSync(join(dir, 'a'), 'utf8'), 'two')
    mkdirSync(join(dir, 'folder'))
    await assert.rejects(writeAtomically(join(dir, 'folder'), 'x', 0o600))
    assert.deepEqual(readdirSync(dir).sort(), ['a', 'folder'])
    rmSync(dir, { recursive: true })
  })
})
