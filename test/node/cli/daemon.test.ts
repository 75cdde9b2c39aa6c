// `isobar daemon` and signals, and `isobar testnet` as a child: with programs put in their place.

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadSettings } from '../../../node/config/load.ts'
import { runDaemon, type RunningDaemon } from '../../../node/cli/daemon.ts'
import { runChild } from '../../../node/cli/testnet.ts'
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
