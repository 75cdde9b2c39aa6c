// One real daemon on a machine in trouble: its folder taken or left by a killed one, its files damaged, no files left to
// open; and `isobar doctor` looking at it.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readRpc } from '../../node/data-dir.ts'
import { waitFor } from '../../testnet/local/wait.ts'
import { build, slowMs } from './build.ts'
import { get, put } from './http.ts'
import { soonMs } from './ring.ts'
import { isobar, start, type Program } from './run-program.ts'

const openFiles = 192

describe('a daemon on a machine in trouble', () => {
  let dataDir: string
  const programs: Program[] = []

  before(build)
  beforeEach(() => { dataDir = mkdtempSync(join(tmpdir(), 'isobar-e2e-')) })

  afterEach(async function () {
    this.timeout(slowMs)
    for (const { child, ended } of programs.splice(0)) {
      child.kill('SIGKILL')
      await ended
    }
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  })

  const flags = (...args: string[]): string[] => ['dist/isobar.js', 'daemon', '--data-dir', dataDir, '--rpc-listen', '127.0.0.1:0', '--p2p-listen', '127.0.0.1:0', ...args]

  function run (command: string, args: readonly string[]): Program {
    const program = start(command, args)
    programs.push(program)
    return program
  }

  const daemon = (...args: string[]): Program => run(process.execPath, flags(...args))

  async function serving ({ child, output }: Program): Promise<string> {
    return await waitFor('daemon that serves', async () => {
      assert.equal(child.exitCode, null, output())
      const file = readRpc(dataDir)
      if (file?.pid !== child.pid) return undefined
      return await fetch(`${file!.rpc}/readyz`).then(response => response.ok ? file!.rpc : undefined, () => undefined)
    }, { deadlineMs: soonMs })
  }

  async function kill ({ child, ended }: Program): Promise<void> {
    child.kill('SIGKILL')
    await ended
  }

  /** It must end by itself. @returns its one line */
  async function refusal (program: Program): Promise<string> {
    const { code, stderr } = await program.ended
    assert.equal(code, 1, stderr)
    assert.equal(stderr.trim().split('\n').length, 1, stderr)
    assert.doesNotMatch(stderr, /\bat .*:\d+:\d+/)
    return stderr.trim()
  }

  it('has its folder to itself, and leaves it to the next the moment that it is killed', async function () {
    this.timeout(slowMs)
    let first = daemon('--new')
    let rpc = await serving(first)
    const { peerId } = readRpc(dataDir)!
    for (let time = 0; time < 3; time++) {
      assert.match(await refusal(daemon('--new', '--log-level', 'error')), new RegExp(`^isobar: the data directory ${dataDir}/store is in use by another process: stop that one`))
      await put(rpc, `key-${time}`, 'kept')
      await kill(first)
      first = daemon('--new')
      rpc = await serving(first)
      assert.equal(await get(rpc, `key-${time}`), 'kept')
      assert.equal(readRpc(dataDir)!.peerId, peerId)
    }
  })

  it('does not start with damaged files, says which and what to do, and never begins as an empty one', async function () {
    this.timeout(slowMs)
    const first = daemon('--new')
    const rpc = await serving(first)
    await put(rpc, 'a', 'kept')
    await kill(first)
    // The next start makes a table of what lies in the log.
    const second = daemon()
    await serving(second)
    await kill(second)
    const directory = join(dataDir, 'store')
    const table = join(directory, readdirSync(directory).find(name => name.endsWith('.ldb'))!)
    const current = join(directory, 'CURRENT')
    for (const [file, named] of [[table, /\d+\.ldb: the block at byte \d+ does not fit its checksum/], [current, /CURRENT: it names no MANIFEST/]] as const) {
      const bytes = readFileSync(file)
      writeFileSync(file, bytes.map((byte, at) => at === 10 ? byte ^ 0x40 : byte))
      for (let time = 0; time < 2; time++) {
        const line = await refusal(daemon('--log-level', 'error'))
        assert.match(line, new RegExp(`^isobar: the store in ${directory} is damaged \\(.*\\): move the directory away and start again`))
        assert.match(line, named)
      }
      const doctor = await isobar(['doctor', '--data-dir', dataDir])
      assert.equal(doctor.code, 1)
      assert.match(doctor.stdout, named)
      writeFileSync(file, bytes)
    }
    rmSync(current)
    for (let time = 0; time < 2; time++) assert.match(await refusal(daemon('--log-level', 'error')), /the file CURRENT is missing/)
    writeFileSync(current, readdirSync(directory).find(name => name.startsWith('MANIFEST'))! + '\n')
    assert.equal(await get(await serving(daemon()), 'a'), 'kept')
  })

  it('with few files to open turns connections away, says so once, and serves on when they are gone', async function () {
    this.timeout(slowMs)
    const program = run('sh', ['-c', `ulimit -n ${openFiles} && exec "$0" "$@"`, process.execPath, ...flags('--new')])
    const rpc = await serving(program)
    const { pid } = program.child
    await put(rpc, 'before', 'the crowd')
    const p2pPort = Number(/\/tcp\/(\d+)\/p2p/.exec(program.output())![1])
    for (const port of [Number(new URL(rpc).port), p2pPort, Number(new URL(rpc).port)]) {
      const sockets = Array.from({ length: 400 }, (): Socket => connect(port, '127.0.0.1').on('error', () => {}).resume())
      await Promise.all(sockets.map(async socket => { if (!socket.destroyed) await Promise.race([once(socket, 'connect'), once(socket, 'close')]) }))
      await waitFor('connections that are turned away', async () => sockets.filter(socket => socket.destroyed).length >= 200 ? true : undefined, { deadlineMs: soonMs })
      if (process.platform === 'linux') assert(readdirSync(`/proc/${pid}/fd`).length < openFiles)
      // The crowd at the other door leaves this one open.
      if (port === p2pPort) await put(rpc, 'during', 'the crowd')
      for (const socket of sockets) socket.destroy()
      await waitFor('answer after the crowd', async () => await put(rpc, 'after', 'the crowd').then(() => true, () => undefined), { deadlineMs: soonMs })
    }
    assert.equal(await get(rpc, 'before'), 'the crowd')
    assert.equal(program.child.exitCode, null)
    assert.equal(program.output().match(/ WARN +http +connections are turned away/g)?.length, 1, program.output())
    assert.equal(program.output().match(/ WARN +files /g)?.length, 1, program.output())
    assert.doesNotMatch(program.output(), / ERROR /)
  })

  it('is told by `isobar doctor` from one that hangs, one that was killed and one that was stopped', async function () {
    this.timeout(slowMs)
    const doctor = async (): Promise<[number | null, string]> => {
      const { code, stdout } = await isobar(['doctor', '--data-dir', dataDir, '--json'])
      const { checks } = JSON.parse(stdout) as { checks: Array<{ check: string, verdict: string, text: string }> }
      return [code, checks.filter(({ check }) => check === 'store' || check === 'daemon').map(({ verdict, text }) => `${verdict} ${text}`).join(' | ')]
    }
    const program = daemon('--new')
    const rpc = await serving(program)
    const { pid } = program.child
    assert.deepEqual(await doctor(), [0, `ok in use by process ${pid}; its files are looked at only while it is not | ok ${rpc} is serving, version 0.1.0`])
    program.child.kill('SIGSTOP')
    assert.deepEqual(await doctor(), [1, `ok in use by process ${pid}; its files are looked at only while it is not | problem nothing answers at ${rpc} (from ${dataDir}/rpc.json, no answer in 3 s), though a process has the store`])
    program.child.kill('SIGCONT')
    await put(rpc, 'a', 'still there')
    await kill(program)
    const [code, text] = await doctor()
    assert.equal(code, 0)
    assert.match(text, new RegExp(`^ok not in use, whole: .* \\| warning not running; rpc.json is left of process ${pid}, which was killed$`))
    const next = daemon()
    assert.equal(await get(await serving(next), 'a'), 'still there')
    next.child.kill('SIGTERM')
    await next.ended
    assert.match((await doctor())[1], /^ok not in use, whole: .* \| ok not running$/)
  })
})
