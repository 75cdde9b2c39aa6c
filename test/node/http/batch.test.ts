// POST /v1/objects:batch: a result a line in order, lines of one key in order, refusals that do not end the batch.

import assert from 'node:assert/strict'
import { linesOf, type Line } from '../../../node/http/lines.ts'
import { ask, batch, startServer, stopServers } from './start.ts'

describe('a batch over HTTP', () => {
  afterEach(stopServers)

  it('gives a result a line, in the order of the lines, and an end', async () => {
    const { url, node } = await startServer()
    const results = await batch(url, [
      { key: 'a', value: { n: 1 } },
      { key: 'b', value: 'text' },
      '',
      { key: 'c', point: [13.4, 52.5], text: 'Café' },
      { op: 'delete', key: 'a' },
      { op: 'delete', key: 'never' }
    ])
    assert.deepEqual(results.map(({ version, ...rest }) => rest), [
      { line: 1, key: 'a', status: 201, created: true },
      { line: 2, key: 'b', status: 201, created: true },
      { line: 4, key: 'c', status: 201, created: true },
      { line: 5, key: 'a', status: 200, deleted: true },
      { line: 6, key: 'never', status: 200, deleted: false },
      { end: { lines: 5, failed: 0, tookMs: results[5].end.tookMs } }
    ])
    assert.deepEqual(node.collections.get('kv')?.map(record => [Buffer.from(record.value).toString(), record.contentType]), [['text', 'text/plain; charset=utf-8']])
    assert.deepEqual(node.collections.get('places')?.map(record => record.point), [[13.4, 52.5]])
  })

  it('refuses each bad line with its field, and carries out the others', async () => {
    const { url, node } = await startServer()
    const cases: Array<[object | string, string]> = [
      ['{', 'body'], ['[]', 'body'], [{ value: 1 }, 'key'], [{ key: 7, value: 1 }, 'key'], ['{"key":9007199254740993}', 'key'], [{ key: '', value: 1 }, 'key'],
      ['{"key":"\\ud800"}', 'key'], [{ key: 'a', vlaue: 1 }, 'vlaue'], [{ key: 'a', op: 'push' }, 'op'],
      ['{"key":"a","collection":"places","point":[1e999,0]}', 'point[0]'], [{ key: 'a', point: [null, 0] }, 'point[0]'], [{ key: 'a', point: ['1', 2] }, 'point[0]'], [{ key: 'a', point: [0] }, 'point'],
      [{ key: 'a', point: [33.5, -112.2] }, 'point[1]'], [{ key: 'a', point: [1e300, 0] }, 'point[0]'], [{ key: 'a', collection: 'kv', point: [1, 2] }, 'point'], [{ key: 'a', collection: 5 }, 'collection'],
      [{ key: 'a', value: 'x', encoding: 'hex' }, 'encoding'], [{ key: 'a', value: 7, contentType: 'text/plain' }, 'value'], [{ key: 'a', text: 'x' }, 'text']
    ]
    const results = await batch(url, [...cases.map(([line]) => line), { key: 'good', value: 1 }])
    for (const [at, [line, field]] of cases.entries()) {
      assert.equal(results[at].status, 400, JSON.stringify(line))
      assert.equal(results[at].field, field, JSON.stringify(results[at]))
      assert.equal(results[at].line, at + 1)
    }
    assert.equal(results[cases.length].status, 201)
    assert.deepEqual(results[cases.length + 1].end.failed, cases.length)
    assert.deepEqual([...node.collections.values()].flat().map(record => Buffer.from(record.key).toString()), ['good'])
  })

  it('carries out lines of one key one after the other, others at once', async () => {
    const { url, node } = await startServer({ limits: { batchLinesMax: 4 } })
    const { put } = node.storage
    const running = new Map<string, number>()
    let most = 0
    let sameKeyAtOnce = 0
    node.storage.put = async (request, options) => {
      const key = Buffer.from(request.key).toString()
      running.set(key, (running.get(key) ?? 0) + 1)
      if ((running.get(key) ?? 0) > 1) sameKeyAtOnce++
      most = Math.max(most, [...running.values()].reduce((sum, count) => sum + count, 0))
      await new Promise(resolve => setImmediate(resolve))
      running.set(key, (running.get(key) ?? 0) - 1)
      return await put(request, options)
    }
    await batch(url, Array.from({ length: 60 }, (_, at) => ({ key: `k${at % 3}`, value: at })))
    assert.equal(sameKeyAtOnce, 0)
    assert.equal(most, 3)
    assert.deepEqual(node.collections.get('kv')?.map(record => Buffer.from(record.value).toString()), ['57', '58', '59'])
    most = 0
    await batch(url, Array.from({ length: 60 }, (_, at) => ({ key: `x${at}`, value: at })))
    assert.equal(most, 4)
  })

  it('answers 413 for a line above the limit and goes on behind it', async () => {
    const { url } = await startServer({ limits: { bodyBytesMax: 1_024 } })
    const results = await batch(url, [{ key: 'a', value: 'x'.repeat(5_000) }, { key: 'b', value: 1 }])
    assert.deepEqual(results.map(result => result.status), [413, 201, undefined])
  })

  it('takes what an NDJSON answer gave: values, bytes, places and texts come back the same', async () => {
    const { url, node } = await startServer()
    await ask(`${url}/v1/objects?key=bytes`, { method: 'PUT', headers: { 'content-type': 'image/png' }, body: Uint8Array.of(0, 255, 10) })
    await ask(`${url}/v1/objects?key=text`, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'line\nbreak' })
    await ask(`${url}/v1/objects?key=json`, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '"a string"' })
    await ask(`${url}/v1/objects?key=none`, { method: 'PUT' })
    const shown = (): unknown => node.collections.get('kv')?.map(record => [Buffer.from(record.key).toString(), Buffer.from(record.value).toString('hex')])
    const before = shown()
    const lines = (await ask(`${url}/v1/range`, { headers: { accept: 'application/x-ndjson' } })).text.trim().split('\n').slice(0, -1)
    node.collections.clear()
    const results = await batch(url, lines)
    assert.equal(results.at(-1).end.failed, 0)
    assert.deepEqual(shown(), before)
  })

  it('wants NDJSON, and says so', async () => {
    const { url } = await startServer()
    for (const type of ['application/json', 'text/plain']) {
      const reply = await ask(`${url}/v1/objects:batch`, { method: 'POST', headers: { 'content-type': type }, body: '{}' })
      assert.equal(reply.status, 415)
      assert.match(reply.json().detail, /^a batch is Content-Type: application\/x-ndjson, a JSON object a line such as \{"op"/)
      assert.equal((await batch(url, [sampleIn(reply.json().detail)]))[0].status, type === 'application/json' ? 201 : 200)
    }
    assert.equal((await ask(`${url}/v1/objects:batch`, { method: 'POST' })).status, 415)
  })

  it('names the fields of a line that has another one, with a line that works', async () => {
    const { url } = await startServer()
    const [result] = await batch(url, [{ put: { key: 'a' } }])
    assert.deepEqual([result.status, result.code, result.field], [400, 'unknown-field', 'put'])
    assert.match(result.detail, /^unknown field "put"; known are op, key, collection, value, contentType, encoding, point, text, version, requestId, as in \{/)
    assert.equal((await batch(url, [sampleIn(result.detail)]))[0].status, 201)
    assert.match((await batch(url, ['[]']))[0].detail, /expected \{"op": "put", "key": "van-7"/)
  })
})

/** The example that a message gives. */
function sampleIn (detail: string): string {
  return /\{.*\}/.exec(detail)?.[0] ?? ''
}

describe('lines of a stream', () => {
  it('are the same however the bytes are cut', async () => {
    const bytes = Buffer.from('a\r\n\nbé\n  \n12345678901\nlast')
    for (let size = 1; size <= bytes.length; size++) {
      async function * cut (): AsyncGenerator<Buffer> {
        for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
      }
      const lines: Line[] = []
      for await (const line of linesOf(cut(), 10)) lines.push(line)
      assert.deepEqual(lines.map(({ number, content }) => [number, content.toString()]), [[1, 'a\r'], [3, 'bé'], [5, 'too long'], [6, 'last']])
    }
  })
})
