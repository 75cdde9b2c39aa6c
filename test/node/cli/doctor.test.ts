// `isobar doctor` over folders that are well and not, and over daemons that are well and not: one line a check, and an
// exit code.

import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLevelStore } from '../../../node/level-store.ts'
import type { StoreHealth } from '../../../node/disk-store.ts'
import type { PeerRow } from '../../../node/node-view.ts'
import { everything } from '../../../overlay/interval.ts'
import { key, put } from '../../conformance/store.ts'
import { startServer, stopServers } from '../http/start.ts'
import { run } from './run.ts'

interface Check { readonly check: string, readonly verdict: string, readonly text: string, readonly remedy?: string }

/** The peer of the fake node. */
const peerId = '12D3KooWFake'
const dayMs = 86_400_000

describe('isobar doctor', () => {
  let dataDir: string
  const servers: Server[] = []

  beforeEach(() => { dataDir = mkdtempSync(join(tmpdir(), 'isobar-doctor-')) })

  afterEach(async () => {
    await stopServers()
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      await new Promise(resolve => { server.close(resolve) })
    }
    rmSync(dataDir, { recursive: true, force: true })
  })

  /** @returns the finding of each check, by its name */
  async function doctor (args: readonly string[] = ['--data-dir', dataDir], env: Readonly<Record<string, string>> = {}): Promise<{ code: number, checks: Map<string, Check> }> {
    const { code, stdout, stderr } = await run(['doctor', ...args, '--json'], { env })
    assert.equal(stderr, '')
    const { ok, checks } = JSON.parse(stdout) as { ok: boolean, checks: Check[] }
    assert.equal(ok, code === 0)
    assert.equal(ok, checks.every(({ verdict }) => verdict !== 'problem'))
    for (const { text, remedy, verdict } of checks) {
      assert(!`${text}${remedy}`.includes('\n'))
      if (verdict !== 'ok') assert(remedy !== undefined && remedy !== '', text)
    }
    return { code, checks: new Map(checks.map(check => [check.check, check])) }
  }

  /** What stands in the line of one check, and the exit code. */
  async function found (check: string, args?: readonly string[], env?: Readonly<Record<string, string>>): Promise<string> {
    const { code, checks } = await doctor(args, env)
    const { verdict, text, remedy } = checks.get(check)!
    return `${code} ${verdict}: ${text}${remedy === undefined ? '' : `; ${remedy}`}`
  }

  async function makeStore (): Promise<string> {
    const directory = join(dataDir, 'store')
    for (const row of [1, 2]) {
      const store = await openLevelStore(directory)
      await store.batch([put(key(row), row)])
      await store.close()
    }
    return directory
  }

  function writeRpc (rpc: string, peer = peerId): void {
    writeFileSync(join(dataDir, 'rpc.json'), JSON.stringify({ rpc, peerId: peer, pid: process.pid }))
  }

  it('has a line a check, and ends with 0, for a folder that is well and has no daemon', async () => {
    assert.equal((await run(['init', '--data-dir', dataDir])).code, 0)
    await makeStore()
    const { code, stdout, stderr } = await run(['doctor', '--data-dir', dataDir])
    assert.deepEqual([code, stderr], [0, ''])
    const lines = stdout.trimEnd().split('\n')
    const peer = /12D3KooW\w+/.exec(stdout)?.[0]
    assert.match(lines[2]!, /^(?:ok|warning) +disk {6}[\d.]+ \w+ of [\d.]+ \w+ are free/)
    assert.match(lines[5]!, /^(?:ok|warning) +files /)
    lines.splice(5, 1)
    lines.splice(2, 1)
    const size = statSync(join(dataDir, 'store', readdirSync(join(dataDir, 'store')).find(name => name.endsWith('.ldb'))!)).size
    assert.deepEqual(lines, [
      `ok       settings  ${dataDir}/config.toml can be read`,
      `ok       folder    ${dataDir}`,
      `ok       identity  ${peer}`,
      `ok       store     not in use, whole: 1 tables of ${size} bytes are as their checksums say`,
      'ok       daemon    not running'
    ])
  })

  it('says the same as JSON', async () => {
    const { code, checks } = await doctor()
    assert.equal(code, 0)
    assert.deepEqual([...checks.keys()], ['settings', 'folder', 'disk', 'identity', 'store', 'files', 'daemon'])
    assert.deepEqual(checks.get('identity'), { check: 'identity', verdict: 'ok', text: 'none yet; the first start makes one' })
    assert.deepEqual(checks.get('store'), { check: 'store', verdict: 'ok', text: 'none yet; the first start makes one' })
  })

  it('names what is wrong with the settings', async () => {
    writeFileSync(join(dataDir, 'config.toml'), 'log-levl = "info"\n')
    assert.match(await found('settings'), /^1 problem: .*config\.toml: unknown key log-levl; did you mean log-level\?/)
    writeFileSync(join(dataDir, 'config.toml'), 'log-level = \n')
    assert.match(await found('settings'), /^1 problem: .*config\.toml:1:\d+: .*; expected TOML/)
    rmSync(join(dataDir, 'config.toml'))
    assert.match(await found('settings', undefined, { ISOBAR_DATA_DIRR: 'x' }), /^0 warning: ISOBAR_DATA_DIRR in the environment is no setting; did you mean ISOBAR_DATA_DIR\?; mend or unset it$/)
    assert.match(await found('settings', ['--data-dir', dataDir, '--rpc-token-file', '/nonexistent/token']), /^1 problem: .*cannot be read \(ENOENT\); make one/)
  })

  it('names a folder that is not there, or is none, or that others may write into', async () => {
    assert.match(await found('folder', ['--data-dir', join(dataDir, 'none')]), /^1 problem: there is no data directory .*none; name another with --data-dir/)
    writeFileSync(join(dataDir, 'file'), '')
    assert.match(await found('folder', ['--data-dir', join(dataDir, 'file')]), /^1 problem: .*file is no folder/)
    chmodSync(dataDir, 0o777)
    assert.match(await found('folder'), /^0 warning: others of this machine may write into .* \(mode 777\); chmod go-w /)
  })

  it('names an identity that others can read, that cannot be read, or is missing beside data', async () => {
    await run(['init', '--data-dir', dataDir])
    const file = join(dataDir, 'identity.key')
    chmodSync(file, 0o644)
    assert.match(await found('identity'), new RegExp(`^0 warning: 12D3KooW\\w+; others can read ${file} \\(mode 644\\); chmod 600 ${file}$`))
    assert.equal(statSync(file).mode & 0o777, 0o644)
    writeFileSync(file, 'garbled')
    assert.match(await found('identity'), /^1 problem: .*identity\.key holds no private key that can be read; delete it; the next start makes a new one$/)
    await makeStore()
    assert.match(await found('identity'), /^1 problem: .*; put it back from a backup, or delete it to go on with the same data as a new peer$/)
    rmSync(file)
    assert.match(await found('identity'), /^0 warning: .*identity\.key is missing beside the data; put it back from a backup/)
  })

  it('names the file of a store that is damaged, and leaves it as it is', async () => {
    const directory = await makeStore()
    const table = readdirSync(directory).find(name => name.endsWith('.ldb'))!
    const bytes = readFileSync(join(directory, table))
    bytes[20]! ^= 1
    writeFileSync(join(directory, table), bytes)
    assert.equal(await found('store'), `1 problem: ${directory} is damaged: ${table}: the block at byte 0 does not fit its checksum; move that folder away and start again; this peer then joins as a new one with an empty store`)
    assert.deepEqual(readFileSync(join(directory, table)), bytes)
    rmSync(join(directory, 'CURRENT'))
    assert.match(await found('store'), /^1 problem: .* is damaged: the file CURRENT is missing; move that folder away/)
    assert(!readdirSync(directory).includes('CURRENT'))
  })

  const row = (init: Partial<PeerRow>): PeerRow => ({ memberId: 'm', peerId, addresses: [], rpc: undefined, interval: everything, spatial: [], chain: 'c', epoch: 1, records: 0, loadPerSecond: 0, state: 'serving', rttMs: undefined, ...init })

  it('says of a daemon that is well that it serves, by its folder or by its address', async () => {
    const { url, node } = await startServer()
    node.peersAnswer = { peers: [row({}), row({ peerId: 'b', rttMs: 3.14 })], complete: true }
    writeRpc(url)
    for (const args of [['--data-dir', dataDir], ['--rpc', url, '--data-dir', join(dataDir, 'none')]]) {
      const { code, checks } = await doctor(args)
      assert.equal(code, 0)
      assert.equal(checks.get('daemon')?.text, `${url} is serving, version 0.1.0`)
      assert.equal(checks.get('peers')?.text, 'all 2 of the ring answer, the slowest in 3.1 ms')
      assert.equal(checks.get('clock')?.text, 'no other daemon can be asked from here')
    }
    node.peersAnswer = { peers: [row({})], complete: true }
    assert.equal(await found('peers'), '0 ok: the only one of its ring')
  })

  it('names a daemon that joins, whose disk is full, whose peers are missing, that is another, or that is none', async () => {
    let disk: StoreHealth = { state: 'ok', reason: undefined, space: undefined }
    const { url, node } = await startServer({ disk: async () => disk })
    node.peersAnswer = { peers: [row({})], complete: true }
    writeRpc(url)
    node.nodeState = 'joining'
    assert.equal(await found('daemon'), `0 warning: ${url} is joining; wait, or see its log`)
    node.nodeState = 'serving'
    disk = { state: 'full', reason: 'the disk of /x is full: free some space', space: undefined }
    assert.equal(await found('daemon'), `1 problem: ${url} is serving, but its disk is full: the disk of /x is full: free some space; other peers go on`)
    disk = { ...disk, state: 'ok' }
    node.peersAnswer = { peers: [row({}), row({ peerId: 'lost', state: 'unreachable' })], complete: false }
    assert.equal(await found('peers'), '1 problem: for some keys no peer answers: lost; start those that are missing; `isobar ranges` tells which keys')
    writeRpc(url, 'somebody else')
    assert.equal(await found('daemon'), `1 problem: at ${url} (from ${dataDir}/rpc.json) answers another peer, ${peerId}; name the right one with --rpc`)
    const none = await serve({ hello: 'world' })
    assert.equal(await found('daemon', ['--rpc', none]), `1 problem: what answers at ${none} (from --rpc) is no isobar that can be understood; look which program has that port`)
  })

  it('names a daemon that wants a token, and shows it that of the settings', async () => {
    const token = 'a-token-of-some-length-0123456789'
    const { url, node } = await startServer({ token })
    node.peersAnswer = { peers: [row({})], complete: true }
    writeRpc(url)
    assert.equal(await found('daemon'), `1 problem: ${url} wants a token; give --rpc-token-file`)
    writeFileSync(join(dataDir, 'token'), token, { mode: 0o600 })
    writeFileSync(join(dataDir, 'config.toml'), `rpc-token-file = "${dataDir}/token"\n`)
    assert.equal(await found('daemon'), `0 ok: ${url} is serving, version 0.1.0`)
  })

  it('tells a daemon that was killed from an address where nobody is', async () => {
    const server = await serve({})
    await close()
    writeRpc(server)
    assert.equal(await found('daemon'), `0 warning: not running; rpc.json is left of process ${process.pid}, which was killed; start it again, which writes the file anew`)
    assert.equal(await found('daemon', ['--rpc', server]), `1 problem: nothing answers at ${server} (from --rpc, ECONNREFUSED); start one with \`isobar daemon\`, or name another address`)
    assert.match(await found('daemon', ['--rpc', 'x']), /^1 problem: --rpc: "x" is no address/)
  })

  for (const [title, aheadMs, expected] of [
    ['agrees', 0, '0 ok: 1 other daemon was compared, none differs by more than 2 s'],
    ['is a day ahead', dayMs, '1 problem: 1 other daemon was compared, one is 86400 s ahead of this one; set the clocks, best by NTP; the later of two writes wins by its clock'],
    ['is a day behind', -dayMs, '1 problem: 1 other daemon was compared, one is 86400 s behind this one; set the clocks, best by NTP; the later of two writes wins by its clock'],
    ['is ten seconds ahead', 10_000, '0 warning: 1 other daemon was compared, one is 10 s ahead of this one; set the clocks, best by NTP; the later of two writes wins by its clock']
  ] as const) {
    it(`compares clocks with those of peers that can be asked: one ${title}`, async () => {
      const { url, node } = await startServer()
      const other = await serve({ peerId: 'b' }, aheadMs)
      node.peersAnswer = { peers: [row({}), row({ peerId: 'b', rpc: other, rttMs: 1 }), row({ peerId: 'c', rpc: other, rttMs: 1 })], complete: true }
      writeRpc(url)
      // HTTP tells whole seconds, so one more or less may show.
      assert.equal((await found('clock')).replace(/\b(?:86399|86401|9|11) s/, text => `${aheadMs === 10_000 ? 10 : 86400} s${text.slice(text.length)}`), expected)
    })
  }

  it('is in the help, with examples', async () => {
    assert.match((await run(['--help'])).stdout, /\n {2}doctor \[options\] /)
    const { code, stdout } = await run(['doctor', '--help'])
    assert.equal(code, 0)
    assert.match(stdout, /--json .*\n/)
    assert.match(stdout, /\nExamples:\n {2}\$ isobar doctor\n/)
    assert.equal((await run(['doctor', '--jsn'])).code, 2)
  })

  /** A server that answers everything with body, and whose clock is ahead. */
  async function serve (body: object, aheadMs = 0): Promise<string> {
    const server = createServer((_request, response) => {
      response.setHeader('date', new Date(Date.now() + aheadMs).toUTCString())
      response.end(JSON.stringify(body))
    })
    servers.push(server)
    await new Promise<void>(resolve => { server.listen(0, '127.0.0.1', resolve) })
    return `http://127.0.0.1:${(server.address() as { port: number }).port}`
  }

  async function close (): Promise<void> {
    const server = servers.pop()!
    await new Promise(resolve => { server.close(resolve) })
  }
})
