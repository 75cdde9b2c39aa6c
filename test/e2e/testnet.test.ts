// The local testnet as users start it, in a temporary folder of its own: right answers, and nothing left behind however
// it ends.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mustBeFree } from '../../testnet/local/ports.ts'
import { isAlive } from '../../testnet/local/running-file.ts'
import { waitFor } from '../../testnet/local/wait.ts'
import { build, slowMs } from './build.ts'
import { countIn } from './http.ts'
import { soonMs } from './ring.ts'
import { start, type Ended, type Program } from './run-program.ts'

const peers = 2
/** Below the range from which systems give ports to clients. */
const basePort = 21_700
const ports = [basePort, basePort + 1, basePort + 100, basePort + 101]
const where = ['--base-port', String(basePort)]
const flags = ['--peers', String(peers), ...where]

describe('the local testnet', () => {
  let folder: string
  let temporary: string
  const programs: Program[] = []

  before(build)

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'isobar-e2e-'))
    temporary = join(folder, 'tmp')
    mkdirSync(temporary)
  })

  afterEach(async function () {
    this.timeout(slowMs)
    for (const { child, ended } of programs.splice(0)) {
      child.kill('SIGKILL')
      await ended
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  })

  const run = (command: string, ...args: string[]): Program => {
    const program = start(command, args, { env: { TMPDIR: temporary } })
    programs.push(program)
    return program
  }
  const testnet = (...args: string[]): Program => run(process.execPath, 'dist/testnet.js', ...args)
  const saw = async (program: Program, text: string): Promise<void> => {
    await waitFor(`${JSON.stringify(text)} from the testnet`, async () => {
      assert.equal(program.child.exitCode, null, program.output())
      return program.output().includes(text) ? true : undefined
    }, { deadlineMs: soonMs })
  }
  /** Process ids of the testnet and its peers. */
  const pidsOf = (): number[] => {
    const { pid, peers } = JSON.parse(readFileSync(join(temporary, `isobar-testnet-${basePort}.json`), 'utf8')) as { pid: number, peers: number[] }
    return [pid, ...peers]
  }
  const nothingLeft = async (pids: readonly number[] = []): Promise<void> => {
    await waitFor('end of all processes', async () => pids.some(isAlive) ? undefined : true, { deadlineMs: soonMs })
    assert.deepEqual(readdirSync(temporary), [])
    await mustBeFree(ports, '--base-port')
  }
  const ended = async (program: Program, code: number): Promise<Ended> => {
    const result = await program.ended
    assert.equal(result.code, code, result.stdout + result.stderr)
    return result
  }

  it('started by `isobar testnet` gives commands that work as they are printed, and ends on SIGINT', async function () {
    this.timeout(slowMs)
    const program = run(process.execPath, 'dist/isobar.js', 'testnet', ...flags)
    await saw(program, 'Stop: Ctrl-C')
    const pids = pidsOf()
    const lines = program.output().split('\n').filter(line => /^ {2}\S.* # [\d,]+ /.test(line))
    assert.equal(lines.length, 2)
    for (const line of lines) {
      const [command = '', comment = ''] = line.split(' # ')
      const { stdout, stderr } = await run('sh', '-c', command).ended
      assert.equal(/^\{"count":(\d+)/.exec(stdout)?.[1] ?? stdout.trim(), comment.split(' ')[0], stdout + stderr)
    }
    program.child.kill('SIGINT')
    await ended(program, 0)
    await nothingLeft(pids)
  })

  it('started by npm leaves nothing when it is told to stop while it loads', async function () {
    this.timeout(slowMs)
    const program = run('npm', 'run', '--silent', 'testnet', '--', '--load', 'words', '--peers', '1', ...where)
    await saw(program, 'one ring after')
    const pids = pidsOf()
    program.child.kill('SIGTERM')
    await program.ended
    await nothingLeft(pids)
  })

  it('leaves no process when it is killed, and the next run clears up the rest', async function () {
    this.timeout(slowMs)
    const killed = testnet('--load', 'none', '--peers', '1', ...where)
    await saw(killed, 'Stop: Ctrl-C')
    const pids = pidsOf()
    killed.child.kill('SIGKILL')
    await waitFor('end of the peers', async () => pids.some(isAlive) ? undefined : true, { deadlineMs: soonMs })
    await ended(testnet('up', '--once', '--load', 'none', '--peers', '1', ...where), 0)
    await nothingLeft()
  })

  it('run once has the right answers and leaves only its folder, with which the next run goes on, without loading twice, and is steered from a second terminal', async function () {
    this.timeout(slowMs)
    const kept = ['--data-dir', join(folder, 'net'), ...flags]
    const { stdout } = await ended(testnet('up', '--once', ...kept), 0)
    assert.match(stdout, /1,707 earthquakes loaded/)
    assert.match(stdout, /\n {2}8, as it must be/)
    assert.match(stdout, /\n {2}122, as it must be/)
    await nothingLeft()
    const program = testnet(...kept)
    await saw(program, 'Stop: Ctrl-C')
    assert.match(program.output(), /1,707 earthquakes are there from an earlier run/)
    const pids = pidsOf()
    assert.match((await ended(testnet('up', ...flags), 1)).stderr, /a testnet runs on port 21700/)
    await ended(testnet('add', ...where), 0)
    assert.match((await ended(testnet('ps', ...where), 0)).stdout, /^3 /m)
    await ended(testnet('kill', '2', '-9', ...where), 0)
    await ended(testnet('start', '2', ...where), 0)
    await waitFor('all records', async () => await countIn(`http://127.0.0.1:${basePort + 2}`, '-180,-90,180,90').then(count => count === 1_707 ? true : undefined, () => undefined), { deadlineMs: soonMs })
    await ended(testnet('down', ...where), 0)
    await ended(program, 0)
    await nothingLeft(pids)
  })

  it('helps with an example for every command', async function () {
    this.timeout(slowMs)
    for (const command of [[], ['up'], ['ps'], ['add'], ['start'], ['kill'], ['down']]) {
      const { stdout } = await ended(run(process.execPath, 'dist/isobar.js', 'testnet', ...command, '--help'), 0)
      assert.match(stdout, /\nExamples?:\n {2}\$ isobar testnet/, command.join(' '))
    }
  })

  it('says in one line that a port is taken, or that a flag is wrong', async function () {
    this.timeout(slowMs)
    const server = createServer()
    await new Promise<void>(resolve => { server.listen(basePort + 1, '127.0.0.1', resolve) })
    try {
      const taken = await ended(testnet(...flags), 1)
      assert.match(taken.stderr, /^isobar testnet: port 21701 of 127\.0\.0\.1 is in use; choose another --base-port.*\n$/)
    } finally {
      await new Promise(resolve => { server.close(resolve) })
    }
    const wrong = await ended(testnet('--peers', 'many'), 2)
    assert.equal(wrong.stderr.trim().split('\n').length, 1)
    await nothingLeft()
  })
})
