// `isobar import`: every part of a file is stored, or told with its place and by the exit code.

import assert from 'node:assert/strict'
import { startServer, stopServers, type Started } from '../http/start.ts'
import { run, type Ran } from './run.ts'

describe('import', () => {
  let started: Started
  beforeEach(async () => { started = await startServer() })
  afterEach(stopServers)

  const load = async (format: string, text: string, ...more: string[]): Promise<Ran> => await run(['import', '-', '--format', format, ...more], { env: { ISOBAR_RPC: started.url }, stdin: text })
  const keys = (collection: string): string[] => (started.node.collections.get(collection) ?? []).map(({ key }) => Buffer.from(key).toString())
  const problems = ({ stderr }: Ran): string[] => stderr.trim().split('\n').slice(0, -1)

  it('of lines stores the good ones, and names each other one with its number', async () => {
    const ran = await load('ndjson', '\ufeff{"key":"m1","value":1}\nnot json\n\n{"key":"m2","value":2}\r\n{"key":"m3\n[{"key":"m4"}]\n7\n{"key":"m5","value":5}')
    assert.equal(ran.code, 1)
    assert.deepEqual(keys('kv'), ['m1', 'm2', 'm5'])
    assert.deepEqual(problems(ran), [
      'isobar: line 2: this is no JSON: "not json"',
      'isobar: line 5: this is no JSON: "{\\"key\\":\\"m3"',
      'isobar: line 6: expected an object, found the list "[{\\"key\\":\\"m4\\"}]"; a file that is a list of objects is read with --format geojson',
      'isobar: line 7: expected an object, found "7"'
    ])
    assert.match(ran.stderr, /\nimported 3 objects, 4 failed, \d+\.\d s\n$/)
  })

  it('of lines stores what stands behind a stray quote', async () => {
    const ran = await load('ndjson', '{"key":"s0","value":0}\noops "\n{"key":"s1","value":1}\n')
    assert.equal(ran.code, 1)
    assert.deepEqual(keys('kv'), ['s0', 's1'])
    assert.deepEqual(problems(ran), ['isobar: line 2: this is no JSON: "oops \\""'])
  })

  it('names the place of what the daemon refuses', async () => {
    const lines = await load('ndjson', '\n{"key":"a","point":[0,0]}\n{"key":"b","point":[0,95]}\n')
    assert.deepEqual([lines.code, problems(lines).length], [1, 1])
    assert.match(lines.stderr, /^isobar: line 3: "b": point\[1\]: latitude 95 /)
    const rows = await load('csv', 'id,lon,lat\n\nx,0,95\ny,0,\n')
    assert.deepEqual([rows.code, keys('places')], [1, ['a']])
    assert.deepEqual(problems(rows).map(problem => problem.slice(0, 20)).sort(), ['isobar: row 3: "x": ', 'isobar: row 4: lat: '])
  })

  it('of a GeoJSON text takes objects alone, and ends with the line of anything else', async () => {
    for (const text of ['not json', '<html>', '[1,2]']) {
      const ran = await load('geojson', text)
      assert.equal(ran.code, 1, text)
      assert.match(ran.stderr, /^isobar: -: line 1: expected an object, found ".*" \(0 objects were stored before\)\n$/)
    }
    const list = await load('geojson', '[{"key":"a"},\n{"key":"b", oops}]')
    assert.deepEqual([list.code, keys('kv')], [1, ['a']])
    assert.deepEqual(problems(list), ['isobar: line 2: this is no JSON: "{\\"key\\":\\"b\\", oops}"'])
  })

  it('says that there is nothing in a file', async () => {
    const cases: Array<[string, string, string]> = [
      ['ndjson', '', 'object'], ['ndjson', '\n \r\n', 'object'], ['ndjson', '{"end":{"returned":0}}\n', 'object'],
      ['geojson', '', 'object'], ['geojson', '[]', 'object'], ['geojson', '{"type":"FeatureCollection","features":[]}', 'object'],
      ['csv', '', 'row below a header'], ['csv', 'id,name\r\n', 'row below a header']
    ]
    for (const [format, text, what] of cases) {
      assert.deepEqual(await load(format, text), { code: 1, stdout: '', stderr: `isobar: -: there is nothing to import: it holds no ${what}\n` }, text)
    }
  })

  it('ends at once with the command that is missing when a collection is not defined', async () => {
    const command = `collection "it's" is not defined; this defines it ("spatial" for one with places): curl -X PUT -H 'content-type: application/json' -d '{"kind":"ordered"}' '${started.url}/v1/collections/it%27s'`
    const given = await load('ndjson', '{"key":"a"}\n{"key":"b"}\n', '--collection', "it's")
    assert.deepEqual(given, { code: 4, stdout: '', stderr: `isobar: ${command}\n` })
    const named = await load('ndjson', '{"key":"a"}\n{"key":"b","collection":"it\'s"}\n{"key":"c","collection":"it\'s"}\n')
    assert.deepEqual(named, { code: 4, stdout: '', stderr: `isobar: line 2, after 1 objects were stored: ${command}\n` })
    for (const args of [['put', 'a', 'v'], ['find', '--bbox', '0,0,1,1'], ['export']]) {
      assert.equal((await run([...args, '--collection', "it's"], { env: { ISOBAR_RPC: started.url } })).stderr, `isobar: ${command}\n`, args.join(' '))
    }
  })
})
