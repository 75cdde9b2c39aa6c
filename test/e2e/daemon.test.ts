// One real daemon and its surroundings: a second one in its place, stops with open connections, a parent that is gone,
// and IPv6.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, get as httpGet, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readRpc } from '../../node/data-dir.ts'
import type { PeerProcess } from '../../testnet/local/peer-process.ts'
import { isAlive } from '../../testnet/local/running-file.ts'
import { waitFor } from '../../testnet/local/wait.ts'
import { build, root, slowMs } from './build.ts'
import { get, put } from './http.ts'
import { Ring, soonMs } from './ring.ts'
import { isobar, start, type Program } from './run-program.ts'

describe('a daemon', () => {
  let ring: Ring
  let folder: string
  const programs: Program[] = []

  before(build)

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'isobar-e2e-'))
    ring = await Ring.prepare(1)
  })

  afterEach(async function () {
    this.timeout(slowMs)
    for (const { child, ended } of programs.splice(0)) {
      child.kill('SIGKILL')
      await ended
    }
    await ring?.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  })

  /** The daemon that most of these are about. */
  const founder = async (): Promise<PeerProcess> => {
    const peer = ring.run(0, ['--new'])
    await peer.ready()
    return peer
  }
  const daemon = (...args: string[]): Program => {
    const program = start(process.execPath, ['dist/isobar.js', 'daemon', ...args])
    programs.push(program)
    return program
  }

  it('whose ports or folder are taken ends with one line that names them, and harms nobody', async function () {
    this.timeout(slowMs)
    const { rpc, init } = await founder()
    await put(rpc, 'before', 'the others came')
    const other = ['--p2p-listen', '127.0.0.1:0']
    const cases: Array<[args: string[], named: string]> = [
      [['--data-dir', join(folder, 'a'), '--rpc-listen', `127.0.0.1:${init.rpcPort}`, ...other], `127.0.0.1:${init.rpcPort}`],
      [['--data-dir', join(folder, 'b'), '--rpc-listen', '127.0.0.1:0', '--p2p-listen', `127.0.0.1:${init.p2pPort}`], String(init.p2pPort)],
      [['--data-dir', init.dataDir, '--rpc-listen', '127.0.0.1:0', ...other], init.dataDir]
    ]
    for (const [args, named] of cases) {
      const { code, stderr } = await daemon(...args, '--new', '--log-level', 'error').ended
      assert.notEqual(code, 0)
      assert.equal(stderr.trim().split('\n').length, 1, stderr)
      assert(stderr.includes(named), stderr)
      assert.doesNotMatch(stderr, /\bat .*:\d+:\d+/)
    }
    assert.equal(await get(rpc, 'before'), 'the others came')
    assert.equal(readRpc(init.dataDir)?.pid, ring.at(0).pid)
  })

  it('stops with 0 within 10 s of SIGTERM, with 20 idle connections and an answer that nobody reads', async function () {
    this.timeout(slowMs)
    const { rpc } = await founder()
    const lines = Array.from({ length: 4_000 }, (_, at) => JSON.stringify({ key: `long-${at}`, value: 'x'.repeat(4_000) }) + '\n')
    await (await fetch(`${rpc}/v1/objects:batch`, { method: 'POST', headers: { 'content-type': 'application/x-ndjson' }, body: lines.join('') })).text()
    const agent = new Agent({ keepAlive: true, maxSockets: 20 })
    await Promise.all(Array.from({ length: 20 }, async () => await new Promise(resolve => { httpGet(`${rpc}/healthz`, { agent }, response => { response.resume().once('end', resolve) }) })))
    const stream = request(`${rpc}/v1/range`, { headers: { accept: 'application/x-ndjson' } })
    stream.on('error', () => {})
    await new Promise(resolve => {
      stream.once('response', response => {
        response.on('error', () => {})
        response.once('readable', resolve)
      }).end()
    })
    const startMs = performance.now()
    const exit = await ring.at(0).stop(20_000)
    assert.deepEqual(exit, { code: 0, signal: null })
    assert(performance.now() - startMs < 10_000)
    stream.destroy()
    agent.destroy()
  })

  it('ends at once with 130 on a second signal', async function () {
    this.timeout(slowMs)
    const { rpc } = await founder()
    // A batch whose end never comes keeps the first stop waiting.
    const batch = request(`${rpc}/v1/objects:batch`, { method: 'POST', headers: { 'content-type': 'application/x-ndjson' } })
    batch.on('error', () => {})
    batch.write('{"key":"a","value":"b"}\n')
    await waitFor('line of the batch', async () => await get(rpc, 'a').then(() => true, () => undefined), { deadlineMs: soonMs })
    ring.at(0).expected = true
    ring.at(0).signal('SIGINT')
    await waitFor('word that it stops', async () => ring.at(0).logEnd().includes('stopping') ? true : undefined, { deadlineMs: soonMs })
    ring.at(0).signal('SIGINT')
    assert.deepEqual(await ring.at(0).exited, { code: 130, signal: null })
    batch.destroy()
  })

  it('with --exit-with-parent ends when its parent was killed', async function () {
    this.timeout(slowMs)
    const dataDir = join(folder, 'child')
    const script = 'require("node:child_process").spawn(process.execPath, process.argv.slice(1), { stdio: ["pipe", "ignore", "ignore"], detached: true })'
    const parent = spawn(process.execPath, ['-e', script, 'dist/isobar.js', 'daemon', '--exit-with-parent', '--new', '--data-dir', dataDir, '--rpc-listen', '127.0.0.1:0', '--p2p-listen', '127.0.0.1:0'], { cwd: root, stdio: 'ignore' })
    const pid = await waitFor('daemon of the parent', async () => readRpc(dataDir)?.pid, { deadlineMs: soonMs })
    parent.kill('SIGKILL')
    await waitFor('end of the daemon', async () => isAlive(pid) ? undefined : true, { deadlineMs: soonMs })
    assert.equal(readRpc(dataDir), undefined)
  })

  it('is joined over IPv6', async function () {
    this.timeout(slowMs)
    const [one, two] = [join(folder, 'one'), join(folder, 'two')]
    const first = daemon('--new', '--data-dir', one, '--rpc-listen', '[::1]:0', '--p2p-listen', '[::1]:0')
    const port = await waitFor('p2p address', async () => /\/ip6\/::1\/tcp\/(\d+)/.exec(first.output())?.[1], { deadlineMs: soonMs })
    daemon('--join', `[::1]:${port}`, '--data-dir', two, '--rpc-listen', '[::1]:0', '--p2p-listen', '[::1]:0')
    const rpc = await waitFor('second peer', async () => readRpc(two)?.rpc, { deadlineMs: soonMs })
    assert.match(rpc, /^http:\/\/\[::1\]:\d+$/)
    await waitFor('ring', async () => (await fetch(`${rpc}/readyz`)).ok ? true : undefined, { deadlineMs: soonMs })
    assert.equal((await isobar(['put', '--data-dir', two, 'six', 'over IPv6'])).code, 0)
    assert.equal((await isobar(['get', '--data-dir', one, 'six'])).stdout, 'over IPv6')
  })
})
