// A ring of two daemons, of which one has a small disk of its own that fills up: what was acknowledged stays and is read
// throughout, what is refused is not stored, and all goes on by itself when there is room.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readRpc } from '../../node/data-dir.ts'
import { isAlive } from '../../testnet/local/running-file.ts'
import { waitFor } from '../../testnet/local/wait.ts'
import { build, slowMs } from './build.ts'
import { get, json, metric, put, url } from './http.ts'
import { MountedDisk, whyNoMount } from './mounted.ts'
import { soonMs } from './ring.ts'
import { isobar, start, type Program } from './run-program.ts'

const why = whyNoMount()
if (why !== undefined) process.stdout.write(`tests of a full disk are left out, for no disk can be mounted here: ${why}\n`)

const diskMebibytes = 96
const mega = 1_000_000

function suite (): void {
  let disk: MountedDisk
  let folder: string
  let dataDir: string
  let program: Program
  let rpc: string
  let otherRpc: string
  const programs: Program[] = []

  function run (dataDir: string, ...args: string[]): Program {
    const program = start(process.execPath, ['dist/isobar.js', 'daemon', '--data-dir', dataDir, '--rpc-listen', '127.0.0.1:0', '--p2p-listen', '127.0.0.1:0', ...args])
    programs.push(program)
    return program
  }

  async function serving ({ child, output }: Program, dataDir: string): Promise<string> {
    return await waitFor('daemon that serves', async () => {
      assert.equal(child.exitCode, null, output())
      const file = readRpc(dataDir)
      if (file?.pid !== child.pid) return undefined
      return await fetch(`${file!.rpc}/readyz`).then(response => response.ok ? file!.rpc : undefined, () => undefined)
    }, { deadlineMs: soonMs })
  }

  before(async function () {
    this.timeout(slowMs)
    build()
    disk = new MountedDisk(diskMebibytes)
    folder = mkdtempSync(join(tmpdir(), 'isobar-e2e-'))
    dataDir = join(disk.path, 'one')
    program = run(dataDir, '--new')
    rpc = await serving(program, dataDir)
    const p2p = /p2p=(\S+)/.exec(program.output())![1]!
    otherRpc = await serving(run(join(folder, 'two'), '--join', p2p), join(folder, 'two'))
    // Keys of kv lie with the first peer, at the low end of the line.
    await put(otherRpc, 'before', 'it was full')
    for (let count = 0; count < 50; count++) await put(rpc, `large-${count}`, `${count} `.repeat(20_000))
  })

  after(async function () {
    this.timeout(slowMs)
    for (const { child, ended } of programs) {
      child.kill('SIGKILL')
      await ended
    }
    disk?.unmount()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  })

  const refused = async (by: string, key: string): Promise<void> => {
    const response = await fetch(url(by, '/v1/objects', { key }), { method: 'PUT', body: 'x'.repeat(10_000), headers: { 'content-type': 'text/plain' } })
    const problem = await response.json() as { code: string, detail: string, definite: boolean }
    assert.deepEqual([response.status, problem.code, problem.definite], [507, 'disk-full', true])
    assert.match(problem.detail, new RegExp(`^the disk of ${dataDir}/store is full.*free some space[^\n]*$`))
  }

  const readsAll = async (by: string): Promise<void> => {
    assert.equal(await get(by, 'before'), 'it was full')
    for (let count = 0; count < 50; count++) assert.equal(await get(by, `large-${count}`), `${count} `.repeat(20_000))
    const { records, complete } = await json<{ records: Array<{ key: string }>, complete: boolean }>(url(by, '/v1/range', { keysOnly: true, prefix: 'large-' }))
    assert.deepEqual([records.length, complete], [50, true])
  }

  for (const [title, leaveBytes] of [['is nearly full', 3 * mega], ['is full to the last byte', 0]] as const) {
    it(`refuses writes with 507 and the reason while its disk ${title}, stores none of them, and reads on`, async function () {
      this.timeout(slowMs)
      disk.fill(leaveBytes)
      // The look at the disk may be half a second old.
      await waitFor('word of the full disk', async () => (await json<{ disk: string }>(`${rpc}/readyz`)).disk === 'full' ? true : undefined, { deadlineMs: soonMs })
      for (const by of [rpc, otherRpc]) for (let count = 0; count < 20; count++) await refused(by, `refused-${count}`)
      const batch = await fetch(`${otherRpc}/v1/objects:batch`, { method: 'POST', headers: { 'content-type': 'application/x-ndjson' }, body: '{"key":"refused-a","value":1}\n{"key":"refused-b","value":2}\n' })
      const lines = (await batch.text()).trim().split('\n').map(line => JSON.parse(line) as { status?: number })
      assert.deepEqual(lines.slice(0, 2).map(line => line.status), [507, 507])
      for (const by of [rpc, otherRpc]) await readsAll(by)
      const { records } = await json<{ records: unknown[] }>(url(rpc, '/v1/range', { keysOnly: true, prefix: 'refused-' }))
      assert.deepEqual(records, [])
    })
  }

  it('says in /v1/status, in `isobar status` and `isobar doctor` and among its metrics that its disk is full', async function () {
    this.timeout(slowMs)
    const { disk: told } = await json<{ disk: { state: string, reason: string, freeBytes: number, totalBytes: number } }>(`${rpc}/v1/status`)
    assert.deepEqual([told.state, told.totalBytes, told.freeBytes < mega], ['full', diskMebibytes << 20, true])
    assert.match(told.reason, /is full/)
    assert((await metric(rpc, 'isobar_disk_free_bytes'))! < mega)
    const status = await isobar(['status', '--data-dir', dataDir, '-o', 'table'])
    assert.match(status.stdout, /^disk +full; .* of 101 MB free; the disk of .* is full.*free some space/m)
    const doctor = await isobar(['doctor', '--data-dir', dataDir])
    assert.equal(doctor.code, 1)
    assert.match(doctor.stdout, /^problem {2}disk {6}.* no records are taken; free some space there$/m)
    assert.match(doctor.stdout, /^problem {2}daemon {4}.* is serving, but its disk is full/m)
  })

  it('goes on by itself when there is room, as the same process, and has all that was acknowledged after a kill', async function () {
    this.timeout(slowMs)
    disk.empty()
    await waitFor('write that is taken', async () => await put(otherRpc, 'after', 'it was full').then(() => true, () => undefined), { deadlineMs: soonMs })
    await put(rpc, 'after that', 'too')
    assert.deepEqual(await json(`${rpc}/readyz`), { state: 'serving', disk: 'ok' })
    assert.equal(program.child.exitCode, null)
    assert(isAlive(program.child.pid!))
    program.child.kill('SIGKILL')
    await program.ended
    assert.equal(program.output().match(/the disk is full/g)?.length, 1, program.output())
    assert.doesNotMatch(program.output(), / ERROR /)
    program = run(dataDir)
    rpc = await serving(program, dataDir)
    assert.deepEqual([await get(rpc, 'after'), await get(rpc, 'after that')], ['it was full', 'too'])
    await readsAll(rpc)
    const { records } = await json<{ records: unknown[] }>(url(rpc, '/v1/range', { keysOnly: true, prefix: 'refused-' }))
    assert.deepEqual(records, [])
  })

  it('does not start on a disk that is full to the last byte, says so in one line, and starts when there is room', async function () {
    this.timeout(slowMs)
    program.child.kill('SIGKILL')
    await program.ended
    disk.fill(0)
    for (let time = 0; time < 3; time++) {
      const { code, stderr } = await run(dataDir, '--log-level', 'error').ended
      assert.equal(code, 1)
      assert.match(stderr, /^isobar: the disk of [^\n]* is full[^\n]*free some space[^\n]*\n$/)
    }
    disk.empty()
    program = run(dataDir)
    rpc = await serving(program, dataDir)
    await readsAll(rpc)
  })
}

if (why === undefined) describe('a daemon whose disk fills up', suite)
