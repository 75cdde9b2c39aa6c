// Settings: which source wins, what is refused and how it is said, and what `config show` gives back.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isLoopback, parseHostPort, toMultiaddr } from '../../../node/config/listen.ts'
import { loadSettings } from '../../../node/config/load.ts'
import { nearest } from '../../../node/config/nearest.ts'
import { defaultDataDir, keyOf, settingNames, variableOf } from '../../../node/config/settings.ts'
import { showSettings, templateFile } from '../../../node/config/show.ts'
import { readToken } from '../../../node/config/token.ts'
import type { Environment } from '../../../node/config/setting.ts'
import type { Flags } from '../../../node/config/load.ts'

describe('settings', () => {
  let dir: string
  beforeEach(() => { dir = mkdtempSync(join(tmpdir(), 'isobar-test-')) })
  afterEach(() => { rmSync(dir, { recursive: true }) })

  const file = (text: string, name = 'config.toml'): string => {
    writeFileSync(join(dir, name), text)
    return join(dir, name)
  }
  const load = (flags: Flags = {}, env: Environment = {}, configFile?: string) => loadSettings({ flags: { dataDir: dir, ...flags }, env, configFile })
  const refusal = (run: () => unknown): string => {
    try {
      run()
    } catch (error) {
      assert.equal((error as Error).name, 'ConfigError')
      assert.equal((error as Error).message.includes('\n'), false)
      return (error as Error).message
    }
    throw new Error('was not refused')
  }

  it('come from flags before the environment before the file before the default, each with its origin', () => {
    const path = file('log-level = "warn"\nrequests-max = 2\nrpc-listen = "127.0.0.1:1"\n')
    const { settings, origins } = load({ logLevel: 'error' }, { ISOBAR_LOG_LEVEL: 'debug', ISOBAR_REQUESTS_MAX: '3' })
    assert.deepEqual([settings.logLevel, settings.requestsMax, settings.rpcListen, settings.logFormat], ['error', 3, '127.0.0.1:1', 'text'])
    assert.deepEqual([origins.logLevel, origins.requestsMax, origins.rpcListen, origins.logFormat], [
      { source: 'flag', detail: '--log-level' }, { source: 'environment', detail: 'ISOBAR_REQUESTS_MAX' }, { source: 'file', detail: path }, { source: 'default', detail: '' }])
  })

  it('take lists and switches from every source', () => {
    file('join = ["127.0.0.1:5"]\nin-memory = true\n')
    assert.deepEqual(load().settings.join, ['/ip4/127.0.0.1/tcp/5'])
    assert.equal(load().settings.inMemory, true)
    assert.equal(load({}, { ISOBAR_IN_MEMORY: 'false' }).settings.inMemory, false)
    assert.deepEqual(load({}, { ISOBAR_JOIN: '[::1]:6, a.example:7' }).settings.join, ['/ip6/::1/tcp/6', '/dns/a.example/tcp/7'])
    assert.deepEqual(load({ join: ['/ip4/10.0.0.1/tcp/8/p2p/12D3', ':9'] }).settings.join, ['/ip4/10.0.0.1/tcp/8/p2p/12D3', '/ip4/127.0.0.1/tcp/9'])
  })

  it('name the nearest key for one that nobody knows', () => {
    file('log-levl = "warn"\n')
    assert.match(refusal(load), /unknown key log-levl; did you mean log-level\?/)
    file('dataDir = "x"\n')
    assert.match(refusal(load), /did you mean data-dir\?/)
    assert.deepEqual(load({}, { ISOBAR_REQUESTS_MX: '1', ISOBAR_RPC: 'x', OTHER: 'y' }, file('', 'b.toml')).warnings, ['ISOBAR_REQUESTS_MX in the environment is no setting; did you mean ISOBAR_REQUESTS_MAX?'])
  })

  it('are refused in one line that says what was expected', () => {
    file('')
    const cases: Array<[Flags, Environment, RegExp]> = [
      [{ requestsMax: '0' }, {}, /^--requests-max: "0" is not a whole number from 1 to 100000$/],
      [{ requestsMax: '1.5' }, {}, /whole number/], [{ requestsMax: '' }, {}, /whole number/], [{}, { ISOBAR_REQUESTS_MAX: 'two' }, /^ISOBAR_REQUESTS_MAX: /],
      [{ logLevel: 'loud' }, {}, /one of debug, info, warn, error, silent/],
      [{ rpcListen: '7700' }, {}, /host:port/], [{ rpcListen: '127.0.0.1:70000' }, {}, /65535/], [{ rpcListen: '[::g]:1' }, {}, /host:port/],
      [{ p2pListen: ['/udp/1'] }, {}, /\/ip4\/127\.0\.0\.1\/tcp\/7701/], [{}, { ISOBAR_IN_MEMORY: 'yes' }, /neither true nor false/],
      [{ new: true, join: ['127.0.0.1:1'] }, {}, /exclude each other/], [{ pidFile: ' ' }, {}, /got nothing/]
    ]
    for (const [flags, env, expected] of cases) assert.match(refusal(() => load(flags, env)), expected)
    for (const toml of ['requests-max = "2"', 'requests-max = 2.5', 'join = "a:1"', 'join = [1]', 'in-memory = "true"', 'log-level = 3']) {
      file(toml)
      assert.match(refusal(load), /config\.toml: /, toml)
    }
    file('requests-max = \n')
    assert.match(refusal(load), /config\.toml:1:\d+: .*expected TOML/)
    assert.match(refusal(() => load({}, {}, join(dir, 'none.toml'))), /none\.toml: cannot be read \(ENOENT\)/)
  })

  it('keep the HTTP API on loopback unless there is a token', () => {
    for (const rpcListen of ['0.0.0.0:7700', '10.1.2.3:7700', '[::]:7700', 'a.example:7700']) assert.match(refusal(() => load({ rpcListen })), /--rpc-token-file/, rpcListen)
    for (const rpcListen of ['127.9.9.9:0', '[::1]:0', 'localhost:7700', ':7700']) assert.equal(load({ rpcListen }).settings.rpcListen, rpcListen)
    assert.equal(load({ rpcListen: '0.0.0.0:7700', rpcTokenFile: join(dir, 'token') }).settings.rpcListen, '0.0.0.0:7700')
  })

  it('come back the same from what config show prints and from the file that init writes', () => {
    const first = load({ requestsMax: '2', join: ['127.0.0.1:5'], pidFile: join(dir, 'pid') })
    file(showSettings(first, { origin: true }))
    assert.deepEqual(load().settings, first.settings)
    file(templateFile(first))
    assert.deepEqual(load().settings, first.settings)
    assert.match(showSettings(first, { origin: true }), /^requests-max = 2 {2}# flag --requests-max$/m)
    assert.match(showSettings(first, { origin: true }), /^log-level = "info" {2}# default$/m)
  })

  it('refuse a file in the data directory that leads to another', () => {
    file('data-dir = "/elsewhere"\n')
    assert.match(refusal(load), /data-dir cannot lead elsewhere/)
  })

  it('put data where XDG says, else below the home directory', () => {
    assert.equal(defaultDataDir({ XDG_DATA_HOME: '/x', HOME: '/h' }), '/x/isobar')
    assert.equal(defaultDataDir({ HOME: '/h' }), '/h/.local/share/isobar')
    assert.equal(defaultDataDir({ XDG_DATA_HOME: 'relative', HOME: '/h' }), '/h/.local/share/isobar')
  })

  it('have one spelling each for flag, file and environment', () => {
    assert.deepEqual([keyOf('requestDeadlineMs'), variableOf('requestDeadlineMs')], ['request-deadline-ms', 'ISOBAR_REQUEST_DEADLINE_MS'])
    assert.equal(new Set(settingNames.map(variableOf)).size, settingNames.length)
  })

  it('read a token of one long word only', () => {
    assert.equal(readToken(file('0123456789abcdef0123456789\n', 't')), '0123456789abcdef0123456789')
    for (const text of ['', 'short', 'two words of enough length here', 'ümlaut-0123456789-0123456789']) assert.match(refusal(() => readToken(file(text, 't'))), /openssl rand/)
    assert.match(refusal(() => readToken(join(dir, 'none'))), /ENOENT/)
  })
})

describe('addresses', () => {
  it('are host and port, IPv6 in brackets, loopback when there is no host', () => {
    assert.deepEqual(parseHostPort('[::1]:0', 'x'), { host: '::1', port: 0 })
    assert.deepEqual(parseHostPort(':7703', 'x'), { host: '127.0.0.1', port: 7703 })
    assert.deepEqual(parseHostPort('a.example:65535', 'x'), { host: 'a.example', port: 65_535 })
    for (const text of ['', 'a', 'a:', 'a:b', 'a:65536', '::1:5', '[::1]', 'http://a:1', 'a b:1']) assert.throws(() => parseHostPort(text, 'x'), { name: 'ConfigError' }, text)
    assert.equal(toMultiaddr('/dns4/a.example/tcp/1', 'x'), '/dns4/a.example/tcp/1')
    assert.deepEqual(['127.0.0.1', '127.255.0.1', '::1', 'localhost', '128.0.0.1', '::', '127.a.example'].map(isLoopback), [true, true, true, true, false, false, false])
  })
})

describe('the nearest name', () => {
  it('is the one with the fewest edits, if it is near at all', () => {
    assert.equal(nearest('kye', ['collection', 'key']), 'key')
    assert.equal(nearest('deadlinems', ['limit', 'deadlineMs']), 'deadlineMs')
    assert.equal(nearest('zzzzzz', ['key', 'limit']), undefined)
  })
})
