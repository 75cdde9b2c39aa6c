// `isobar daemon` and signals, and `isobar testnet` as a child: with programs put in their place.

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadSettings } from '../../../node/config/load.ts'
import { runDaemon, type RunningDaemon } from '../../../node/cli/daemon.ts'
import { runChild } from '../../../node/cli/testnet.ts'
import { csvRows } from '../../../node/cli/csv.ts'
import { jsonObjects } from '../../../node/cli/json-objects.ts'
import { createIo } from './run.ts'

const nextTurn = async (): Promise<void> => await new Promise(resolve => setImmediate(resolve))

describe('a daemon under signals', () => {
  const { settings } = loadSettings({ flags: { dataDir: '/nonexistent' }, env: {} })

  it('stops gracefully on the first and ends with 0', async () => {
    const io = createIo()
    let stops = 0
    const running = runDaemon(async () => ({ rpc: 'http://127.0.0.1:1', stop: async () => { stops++ } }), settings, {}, { io, code: 0 })
    await nextTurn()
    io.signal('SIGTERM')
    assert.equal(await running, 0)
    assert.deepEqual([stops, io.exits], [1, []])
  })

  it('ends at once with 130 on the second', async () => {
    const io = createIo()
    let finish!: () => void
    const running = runDaemon(async () => ({ rpc: '', stop: async () => { await new Promise<void>(resolve => { finish = resolve }) } }), settings, {}, { io, code: 0 })
    await nextTurn()
    io.signal('SIGINT')
    await nextTurn()
    assert.deepEqual(io.exits, [])
    io.signal('SIGINT')
    assert.deepEqual(io.exits, [130])
    finish()
    await running
  })

  it('stops after its start when it is told to during it', async () => {
    const io = createIo()
    let started!: (daemon: RunningDaemon) => void
    let stops = 0
    const running = runDaemon(async () => await new Promise(resolve => { started = resolve }), settings, {}, { io, code: 0 })
    io.signal('SIGTERM')
    started({ rpc: '', stop: async () => { stops++ } })
    assert.equal(await running, 0)
    assert.equal(stops, 1)
  })

  it('reads its settings again on SIGHUP and goes on', async () => {
    const io = createIo({ env: { ISOBAR_LOG_LEVEL: 'debug' } })
    const levels: string[] = []
    let leave!: () => void
    const running = runDaemon(async () => ({ rpc: '', stop: async () => {}, stopped: new Promise<void>(resolve => { leave = resolve }), reload: ({ logLevel }) => { levels.push(logLevel) } }), settings, {}, { io, code: 0 })
    await nextTurn()
    io.signal('SIGHUP')
    assert.deepEqual(levels, ['debug'])
    leave()
    assert.equal(await running, 0)
  })

  it('that cannot start fails with its own words', async () => {
    const io = createIo()
    await assert.rejects(runDaemon(async () => { throw new Error('the port is taken') }, settings, {}, { io, code: 0 }), /the port is taken/)
  })
})

describe('a child program', () => {
  it('gets the signals, and its exit code is ours', async () => {
    const io = createIo({ env: { PATH: process.env['PATH'] ?? '' } })
    assert.equal(await runChild(['-e', 'process.exit(7)'], io), 7)
    const dir = mkdtempSync(join(tmpdir(), 'isobar-test-'))
    const ready = join(dir, 'ready')
    const running = runChild(['-e', `process.on('SIGTERM', () => process.exit(9)); setInterval(() => {}, 1000); require('fs').writeFileSync(${JSON.stringify(ready)}, '')`], io)
    while (!existsSync(ready)) await new Promise(resolve => setTimeout(resolve, 5))
    io.signal('SIGTERM')
    assert.equal(await running, 9)
    rmSync(dir, { recursive: true })
  })
})

describe('files cut anywhere', () => {
  async function * cut (text: string, size: number): AsyncGenerator<string> {
    for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
  }
  const collect = async <T>(source: AsyncIterable<T>): Promise<T[]> => {
    const all: T[] = []
    for await (const one of source) all.push(one)
    return all
  }

  it('give the same JSON objects: lines, sequences, and Features of a collection', async () => {
    const objects = [{ a: 1, s: '}{"\\"' }, { b: [{ c: {} }], features: [1] }, {}]
    const lines = objects.map(object => JSON.stringify(object)).join('\n')
    const sequence = objects.map(object => `\x1e${JSON.stringify(object, null, 1)}\n`).join('')
    const collection = JSON.stringify({ type: 'FeatureCollection', meta: { features: 'no', x: [[{ y: 1 }]] }, features: objects, after: { z: [1] } }, null, 2)
    const list = JSON.stringify(objects)
    for (const size of [1, 2, 7, 10_000]) {
      for (const text of [lines, sequence, list]) {
        assert.deepEqual((await collect(jsonObjects(cut(text, size), 'top'))).map(one => JSON.parse(one)), objects, `${size} ${text.slice(0, 30)}`)
      }
      assert.deepEqual((await collect(jsonObjects(cut(collection, size), 'features'))).map(one => JSON.parse(one)), objects, String(size))
    }
    await assert.rejects(collect(jsonObjects(cut(lines.slice(0, -1), 5), 'top')), /cut off/)
  })

  it('give the same CSV rows, with quotes, commas and line breaks in cells', async () => {
    const text = '\ufeffa, b\r\n"x, ""y""\nz",1\r\n\r\n"",\n'
    for (const size of [1, 2, 3, 1_000]) assert.deepEqual(await collect(csvRows(cut(text, size))), [{ a: 'x, "y"\nz', b: '1' }, { a: '', b: '' }], String(size))
    await assert.rejects(collect(csvRows(cut('a,b\n1\n', 2))), /row 2 has 1 cells, the header 2/)
    await assert.rejects(collect(csvRows(cut('a\n"1\n', 2))), /within quotes/)
  })
})
