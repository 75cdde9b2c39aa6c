// The commands against a fake daemon: what they send, what they print in each form, and how they end.

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer, stopServers, type Started } from '../http/start.ts'
import { run, type Ran, type RunOptions } from './run.ts'

describe('the command line', () => {
  let dir: string
  let started: Started
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'isobar-test-'))
    started = await startServer()
  })
  afterEach(async () => {
    await stopServers()
    rmSync(dir, { recursive: true })
  })

  const isobar = async (args: readonly string[], options: RunOptions = {}): Promise<Ran> => await run(args, { ...options, env: { ISOBAR_RPC: started.url, ...options.env } })
  const stored = (collection: string): string[][] => (started.node.collections.get(collection) ?? []).map(record => [Buffer.from(record.key).toString(), Buffer.from(record.value).toString()])

  it('puts, gets and deletes keys byte for byte', async () => {
    for (const key of ['foo%foo', 'a/b', 'a//b', '%2F', '..', 'a b', 'a+b', 'a?b#c', 'ключ', '__proto__', 'é']) {
      assert.equal((await isobar(['put', key, `value of ${key}`])).code, 0, key)
      assert.deepEqual(await isobar(['get', key]), { code: 0, stdout: `value of ${key}`, stderr: '' })
      assert.deepEqual(stored('kv'), [[key, `value of ${key}`]])
      assert.match((await isobar(['range', key, key, '-o', 'ndjson'])).stdout, new RegExp(`^\\{"key":"${key.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}"`))
      assert.equal((await isobar(['del', key])).code, 0, key)
    }
    assert.equal((await isobar(['put', '--', '-k', '-v'])).code, 0)
    assert.deepEqual(stored('kv'), [['-k', '-v']])
  })

  it('takes values from stdin and guesses their type: JSON objects, text, bytes', async () => {
    await isobar(['put', 'a', '-'], { stdin: '{"n": 1}' })
    await isobar(['put', 'b'], { stdin: 'text' })
    await isobar(['put', 'c'], { stdin: Uint8Array.of(0xff, 0) })
    await isobar(['put', 'd', '{not json'])
    await isobar(['put', 'e', '[1]', '--type', 'text/x'])
    assert.deepEqual(started.node.collections.get('kv')?.map(record => record.contentType), ['application/json', 'text/plain; charset=utf-8', 'application/octet-stream', 'text/plain; charset=utf-8', 'text/x'])
  })

  it('puts objects on the map, also in the western and southern half', async () => {
    assert.equal((await isobar(['put', 'x', '{"a":1}', '--at', '-179.5,-10', '--text', 'Café'])).code, 0)
    assert.deepEqual(started.node.collections.get('places')?.map(({ point, text, value }) => [point, text, Buffer.from(value).toString()]), [[[-179.5, -10], 'Café', '{"a":1}']])
    const found = await isobar(['find', '--bbox', '-180,-20,-170,0', '--words', 'café'])
    assert.equal(found.code, 0)
    assert.equal(JSON.parse(found.stdout.split('\n')[0] ?? '').key, 'x')
    assert.equal((await isobar(['find', '--bbox', '-180,-20,-170,0', '--count'])).stdout, '1\n')
    const bad = await isobar(['put', 'x', 'v', '--at', '33.5,-112.2'])
    assert.equal(bad.code, 2)
    assert.match(bad.stderr, /^isobar: point\[1\]: latitude -112\.2 is outside/)
  })

  it('prints a table on a terminal only, and a summary in words', async () => {
    await isobar(['put', 'x', 'v', '--at', '178.3,51.9', '--text', 'Alaska'])
    const shown = await isobar(['find', '--bbox', '165,50,-165,60'], { tty: true, env: { NO_COLOR: '1' } })
    assert.equal(shown.stdout, 'KEY    LON   LAT  TEXT    VALUE\nx    178.3  51.9  Alaska  v\n1 result, 3 peers, 2 hops, 6 ms, complete\n')
    assert.ok((await isobar(['find', '--bbox', '165,50,-165,60'], { tty: true })).stdout.includes('\u001b[2m1 result'))
    const piped = (await isobar(['find', '--bbox', '165,50,-165,60'])).stdout.trim().split('\n').map(line => JSON.parse(line))
    assert.deepEqual([piped.length, piped[1].end.complete], [2, true])
    assert.equal(JSON.parse((await isobar(['find', '--bbox', '165,50,-165,60', '-o', 'geojson'])).stdout).features[0].id, 'x')
    assert.equal(JSON.parse((await isobar(['find', '--bbox', '165,50,-165,60', '-o', 'json'])).stdout).records[0].text, 'Alaska')
  })

  it('reads ranges in either direction, with and without their ends', async () => {
    for (const key of ['a', 'c', 'e', 'g']) await isobar(['put', key, key])
    const keys = async (...args: string[]): Promise<string> => (await isobar(['range', ...args, '--keys-only'])).stdout.split('\n').filter(line => line.startsWith('{"key"')).map(line => JSON.parse(line).key).join('')
    assert.equal(await keys('a', 'd', '--reverse'), 'ca')
    assert.equal(await keys('a', 'e', '--exclusive-end'), 'ac')
    assert.equal(await keys('a', 'e', '--exclusive-end', '--exclusive-start'), 'c')
    assert.equal(await keys('', 'c'), 'ac')
    assert.equal(await keys('e'), 'eg')
    assert.equal(await keys('--limit', '1'), 'a')
    assert.equal((await isobar(['range', 'e', 'a'])).code, 2)
    assert.equal((await isobar(['range', '--limit', '-1'])).code, 2)
  })

  it('ends with 5 and says what is missing when an answer is partial, in every form', async () => {
    started.node.readEnd = { complete: false, missing: [{ from: Buffer.from('k'), to: Buffer.from('q'), peer: 'p', reason: 'silent' }] }
    for (const form of ['json', 'ndjson', 'geojson', 'table']) {
      const ran = await isobar(['find', '--bbox', '0,0,1,1', '-o', form])
      assert.equal(ran.code, 5, form)
      assert.match(ran.stderr, /partial answer: \[k, q\) unavailable \(silent\)/)
    }
    assert.equal((await isobar(['range'])).code, 5)
    assert.equal((await isobar(['export'])).code, 5)
    assert.equal((await isobar(['find', '--bbox', '0,0,1,1', '--count'])).code, 5)
    started.node.peersAnswer = { peers: [], complete: false }
    assert.equal((await isobar(['peers'])).code, 5)
  })

  it('ends with 4 when there is nothing, and reminds of places', async () => {
    const missing = await isobar(['get', 'never'])
    assert.deepEqual([missing.code, missing.stdout], [4, ''])
    assert.match(missing.stderr, /^isobar: no object "never" in collection "kv"; objects put with --at are in --collection places\n$/)
    assert.equal((await isobar(['del', 'never'])).code, 4)
    assert.equal((await isobar(['get', 'x', '--collection', 'none'])).code, 4)
  })

  it('ends with 3 in one line when no daemon is there', async () => {
    const free = createServer()
    const port = await new Promise<number>(resolve => free.listen(0, '127.0.0.1', () => { resolve((free.address() as { port: number }).port) }))
    await new Promise(resolve => free.close(resolve))
    const ran = await isobar(['status', '--rpc', `:${port}`])
    assert.equal(ran.code, 3)
    assert.match(ran.stderr, new RegExp(`^isobar: no daemon answers at http://127\\.0\\.0\\.1:${port} .*isobar daemon.*\\n$`))
    assert.equal(ran.stderr.split('\n').length, 2)
  })

  it('ends with 2 and the nearest name for what it does not know', async () => {
    const cases: Array<[string[], RegExp]> = [
      [['fnid'], /unknown command 'fnid' \(Did you mean find\?\)/],
      [['find', '--bbx', '1'], /unknown option '--bbx' \(Did you mean --bbox\?\)/],
      [['daemon', '--log-levl', 'info'], /Did you mean --log-level\?/],
      [['daemon', '--requests-max', 'many'], /^isobar: --requests-max: "many" is not a whole number from 1 to 100000/],
      [['range', '-o', 'geojson'], /Allowed choices are table, json, ndjson/],
      [['find'], /--bbox/],
      [['get'], /missing required argument 'key'/],
      [['get', 'a', 'b'], /too many arguments/],
      [['leave', '--timeout', 'soon'], /--timeout: "soon"/],
      [['get', 'a', '--rpc', 'nowhere'], /--rpc: "nowhere" is no address/]
    ]
    for (const [args, expected] of cases) {
      const ran = await isobar(args)
      assert.equal(ran.code, 2, args.join(' '))
      assert.match(ran.stderr, expected)
      assert.equal(ran.stderr.trim().split('\n').length, 1, ran.stderr)
      assert.equal(ran.stdout, '')
    }
  })

  it('says in its help what -o gives when nothing is asked for', async () => {
    const cases: Array<[string, string]> = [
      ['find', 'a table on a terminal and ndjson in a pipe'], ['range', 'a table on a terminal and ndjson in a pipe'], ['put', 'a table on a terminal and json in a pipe'],
      ['status', 'a table on a terminal and json in a pipe'], ['peers', 'a table on a terminal and json in a pipe'], ['ranges', 'a table on a terminal and json in a pipe'],
      ['get', 'the value as it was put'], ['export', 'by the name of the file, on stdout ndjson']
    ]
    for (const [command, otherwise] of cases) {
      const { stdout } = await isobar([command, '--help'])
      assert.ok(stdout.replace(/\s+/g, ' ').includes(`form of the output; else ${otherwise} (choices:`), stdout)
    }
  })

  it('helps with an example for every command', async () => {
    const help = await isobar(['--help'])
    assert.equal(help.code, 0)
    for (const command of ['daemon', 'init', 'join', 'leave', 'status', 'peers', 'ranges', 'put', 'get', 'del', 'range', 'find', 'import', 'export', 'testnet', 'config', 'version']) assert.match(help.stdout, new RegExp(`^  ${command}\\b`, 'm'), command)
    for (const args of [['daemon'], ['init'], ['join'], ['leave'], ['status'], ['peers'], ['ranges'], ['put'], ['get'], ['del'], ['range'], ['find'], ['import'], ['export'], ['config'], ['config', 'show'], ['version']]) {
      const ran = await isobar([...args, '--help'])
      assert.equal(ran.code, 0)
      assert.match(ran.stdout, /\nExamples?:\n {2}\$ isobar /, args.join(' '))
    }
  })

  it('finds the daemon by --rpc, then ISOBAR_RPC, then rpc.json of the data directory', async () => {
    writeFileSync(join(dir, 'rpc.json'), JSON.stringify({ rpc: started.url, peerId: 'p', pid: 1 }))
    assert.equal((await run(['status', '--data-dir', dir])).code, 0)
    assert.equal((await run(['status'], { env: { ISOBAR_DATA_DIR: dir } })).code, 0)
    assert.equal((await run(['status'], { env: { ISOBAR_DATA_DIR: dir, ISOBAR_RPC: 'http://127.0.0.1:1' } })).code, 3)
    assert.equal((await run(['status', '--rpc', started.url], { env: { ISOBAR_RPC: 'http://127.0.0.1:1' } })).code, 0)
    assert.equal((await run(['status', '--rpc', new URL(started.url).host])).code, 0)
    assert.equal((await run(['status', '--rpc', `:${new URL(started.url).port}`])).code, 0)
  })

  it('shows the token of a file, and ends with 1 when there is none', async () => {
    const token = '0123456789abcdef0123456789'
    writeFileSync(join(dir, 'token'), token)
    const { url } = await startServer({ token })
    assert.equal((await run(['status', '--rpc', url, '--rpc-token-file', join(dir, 'token')])).code, 0)
    const refused = await run(['status', '--rpc', url])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /--rpc-token-file/)
  })

  it('shows peers, ranges and status as tables and as JSON', async () => {
    const row = { memberId: 'm', peerId: '12D3KooWCwSJrXZ1Cy4QTP8R5wWE', addresses: ['/ip4/127.0.0.1/tcp/1'], rpc: 'http://127.0.0.1:7700', spatial: [{ collection: 'places', bbox: [-180, -90, -90, 90] as const, share: 0.25 }], chain: 'c', epoch: 3, records: 1707, loadPerSecond: 1.5, state: 'serving' as const, rttMs: 0.3 }
    started.node.peersAnswer = { peers: [{ ...row, interval: { low: new Uint8Array(0), high: Buffer.from('kv\0moon') } }], complete: true }
    const peers = await isobar(['peers', '-o', 'table'])
    assert.deepEqual(peers.stdout.split('\n').slice(0, 2).map(line => line.split(/ {2,}/)), [
      ['#', 'PEER', 'RPC', 'STATE', 'KEYS', 'BOX', 'RECORDS', 'LOAD/s', 'RTT'],
      ['1', '12D3..8R5wWE', 'http://127.0.0.1:7700', 'serving', '[-inf, kv/moon)', '-180,-90,-90,90 (25.0%)', '1,707', '1.5', '0.3 ms']])
    const note = /\nRECORDS: keys and ids that a peer keeps\. .* isobar find --bbox BOX --count\n$/
    assert.match(peers.stdout, note)
    const ranges = await isobar(['ranges', '-o', 'table'])
    assert.match(ranges.stdout, /████████\n/)
    assert.match(ranges.stdout, note)
    assert.equal(JSON.parse((await isobar(['ranges'])).stdout).ranges[0].records, 1707)
    assert.match((await isobar(['status'], { tty: true })).stdout, /^state {6}serving$/m)
    assert.equal(JSON.parse((await isobar(['status'])).stdout).state, 'serving')
  })

  it('joins and leaves', async () => {
    started.node.nodeState = 'starting'
    assert.equal((await isobar(['join', '127.0.0.1:7701'])).code, 0)
    assert.equal((await isobar(['leave', '--timeout', '2m'])).code, 0)
    assert.deepEqual(started.node.calls, ['join /ip4/127.0.0.1/tcp/7701', 'leave 120000'])
  })

  it('imports NDJSON, GeoJSON and CSV, and names what it refuses', async () => {
    const file = (name: string, text: string): string => {
      writeFileSync(join(dir, name), text)
      return join(dir, name)
    }
    const ndjson = await isobar(['import', file('a.ndjson', '{"key":"a","value":1}\n\n{"key":"b","value":{"x":"y"}}\n{"end":{"returned":2}}\n{"key":7}\n')])
    assert.equal(ndjson.code, 1)
    assert.match(ndjson.stderr, /key.*\nimported 2 objects, 1 failed/)
    const features = { type: 'FeatureCollection', metadata: { a: [{ b: 1 }] }, features: [{ type: 'Feature', id: 'q1', geometry: { type: 'Point', coordinates: [178.3, 51.9, 10] }, properties: { place: 'Alaska', note: '"features": [{' } }, { type: 'Feature', id: 2, geometry: null, properties: {} }], bbox: [1, 2, 3, 4] }
    assert.match((await isobar(['import', file('b.geojson', JSON.stringify(features, null, 2))])).stderr, /imported 2 objects, 0 failed/)
    assert.deepEqual(started.node.collections.get('places')?.map(({ point, text }) => [point, text]), [[[178.3, 51.9], 'Alaska']])
    started.node.collections.clear()
    assert.match((await isobar(['import', file('c.csv', '\ufeffid,name,lat,lon\r\n1,"Ort, ""A""",52.5,13.4\r\n2,B,95,0\r\n3,C,,0\r\n')])).stderr, /imported 1 objects, 2 failed/)
    assert.deepEqual(started.node.collections.get('places')?.map(({ key, point, text }) => [Buffer.from(key).toString(), point, text]), [['1', [13.4, 52.5], 'Ort, "A"']])
    assert.equal((await isobar(['import', file('d.txt', '')])).code, 2)
    assert.match((await isobar(['import', 'none.csv'])).stderr, /none\.csv cannot be read \(ENOENT\)/)
    assert.match((await isobar(['import', file('e.ndjson', '{"key":"a"')])).stderr, /line 1: this is no JSON/)
    assert.match((await isobar(['import', file('e.geojson', '{"key":"a"')])).stderr, /is it cut off\?/)
    assert.match((await isobar(['import', '-', '--format', 'geojsno'])).stderr, /did you mean geojson\?/)
  })

  it('exports what import takes back, also the map as GeoJSON', async () => {
    await isobar(['put', 'a', 'text'])
    await isobar(['put', 'b', '{"n": 9007199254740993}'])
    await isobar(['put', 'p', 'x', '--at', '13.4,52.5', '--text', 'Café'])
    const file = join(dir, 'all.ndjson')
    assert.equal((await isobar(['export', file])).code, 0)
    assert.deepEqual(readFileSync(file, 'utf8').trim().split('\n').map(line => JSON.parse(line).key), ['a', 'b'])
    const map = await isobar(['export', '--collection', 'places', '-o', 'geojson'])
    assert.equal(JSON.parse(map.stdout).features[0].id, 'p')
    const places = await isobar(['export', '--collection', 'places'])
    const before = [stored('kv').map(([key]) => key), started.node.collections.get('places')?.map(({ point, text }) => [point, text])]
    started.node.collections.clear()
    assert.equal((await isobar(['import', file])).code, 0)
    assert.equal((await isobar(['import', '-', '--format', 'ndjson', '--collection', 'places'], { stdin: places.stdout })).code, 0)
    assert.deepEqual([stored('kv').map(([key]) => key), started.node.collections.get('places')?.map(({ point, text }) => [point, text])], before)
    assert.equal((await isobar(['export', '-o', 'geojson', '--collection', 'kv'])).code, 2)
  })

  it('exports in the form that the name of the file says, and refuses names that say none', async () => {
    await isobar(['put', 'a', 'text'])
    await isobar(['put', 'p', 'x', '--at', '13.4,52.5'])
    const written = async (name: string, ...args: string[]): Promise<string> => {
      assert.deepEqual(await isobar(['export', join(dir, name), ...args]), { code: 0, stdout: '', stderr: '' }, name)
      return readFileSync(join(dir, name), 'utf8')
    }
    for (const name of ['places.geojson', 'places.GeoJSON']) assert.equal(JSON.parse(await written(name)).features[0].id, 'p')
    for (const name of ['all.ndjson', 'all.jsonl']) assert.equal(JSON.parse(await written(name)).key, 'a')
    assert.equal(JSON.parse(await written('places.ndjson', '--collection', 'places')).key, 'p')
    assert.equal(JSON.parse(await written('places', '-o', 'geojson')).type, 'FeatureCollection')
    for (const args of [[], ['-']]) assert.equal(JSON.parse((await isobar(['export', ...args])).stdout).key, 'a')
    for (const name of ['all', 'all.json', 'all.csv', 'all.geojsonl']) {
      const ran = await isobar(['export', join(dir, name)])
      assert.equal(ran.code, 2, name)
      assert.match(ran.stderr, /its name does not tell the form; name it \.ndjson or \.geojson, or give -o ndjson\|geojson\n$/)
      assert.equal(existsSync(join(dir, name)), false)
    }
    assert.match((await isobar(['export', join(dir, 'kv.geojson'), '--collection', 'kv'])).stderr, /^isobar: kv is an ordered collection/)
  })

  it('shows and initializes settings', async () => {
    const shown = await isobar(['config', 'show', '--origin', '--data-dir', dir, '--requests-max', '2'])
    assert.match(shown.stdout, /^requests-max = 2 {2}# flag --requests-max$/m)
    const first = await isobar(['init', '--data-dir', dir, '--log-level', 'warn'])
    assert.match(first.stdout, /^12D3KooW\w+\n$/)
    assert.match(readFileSync(join(dir, 'config.toml'), 'utf8'), /^log-level = "warn"$/m)
    assert.equal((await isobar(['init', '--data-dir', dir])).stdout, first.stdout)
    assert.equal(JSON.parse((await isobar(['version', '--json'])).stdout).name, 'isobar')
  })
})
