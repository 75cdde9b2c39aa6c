// One object by its key over HTTP: exact keys, exact values, places, refusals by field, and errors as problems.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { BusyError, OwnerUnreachableError, StoreFullError, TimeoutError } from '../../../overlay/errors.ts'
import { ask, putJson, startServer, stopServers } from './start.ts'

const utf8 = new TextEncoder()

describe('objects over HTTP', () => {
  afterEach(stopServers)

  it('keeps every key byte for byte, and different keys apart', async () => {
    const { url, node } = await startServer()
    const keys = ['foo%foo', 'a/b', 'a//b', '%2F', '/', '..', 'a b', 'a+b', 'a?b#c', 'ключ', '__proto__', 'constructor', 'e\u0301', '\u00e9', '\u{1f30d}', 'a&b=c', 'a;b', '0', '\u0000', ' ']
    for (const [at, key] of keys.entries()) {
      const reply = await ask(`${url}/v1/objects?key=${encodeURIComponent(key)}`, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: `value ${at}` })
      assert.equal(reply.status, 201, key)
    }
    for (const [at, key] of keys.entries()) assert.equal((await ask(`${url}/v1/objects?key=${encodeURIComponent(key)}`)).text, `value ${at}`, key)
    const stored = (node.collections.get('kv') ?? []).map(record => Buffer.from(record.key).toString('hex'))
    const expected = keys.map(key => Buffer.from(key, 'utf8').toString('hex')).sort()
    assert.deepEqual(stored, expected)
    const listed = (await ask(`${url}/v1/range`)).json().records.map((record: { key: string }) => record.key)
    assert.deepEqual(new Set(listed), new Set(keys))
  })

  it('reads a plus as a space, as forms write it, and %2B as a plus', async () => {
    const { url, node } = await startServer()
    await ask(`${url}/v1/objects?key=a+b`, { method: 'PUT', body: 'space' })
    await ask(`${url}/v1/objects?${new URLSearchParams({ key: 'a+b' }).toString()}`, { method: 'PUT', body: 'plus' })
    assert.deepEqual(node.collections.get('kv')?.map(record => [Buffer.from(record.key).toString(), Buffer.from(record.value).toString()]), [['a b', 'space'], ['a+b', 'plus']])
  })

  it('says how to encode a URL that holds bare UTF-8, as curl sends it', async () => {
    const { url, node } = await startServer()
    const reply = await ask(`${url}/v1/objects?key=${Buffer.from('ключ').toString('latin1')}`, { method: 'PUT', body: 'x' })
    assert.equal(reply.status, 400)
    assert.equal(reply.json().code, 'invalid-url')
    assert.match(reply.json().detail, /percent-encoded/)
    assert.deepEqual([...node.collections.values()].flat(), [])
  })

  it('refuses malformed queries with the field and stores nothing', async () => {
    const { url, node } = await startServer()
    const cases: Array<[string, string]> = [
      ['', 'key'], ['key=', 'key'], ['key=%', 'key'], ['key=foo%foo', 'key'], ['key=%FF', 'key'], ['key=%ED%A0%80', 'key'], ['key=a&key=b', 'key'],
      ['kye=a', 'kye'], ['key=a&colection=kv', 'colection'], ['key=a&deadlineMs=', 'deadlineMs'], ['key=a&deadlineMs=-1', 'deadlineMs'], ['key=a&deadlineMs=1e99', 'deadlineMs'],
      ['key=a&point=1,2&collection=kv', 'point'], ['key=a&text=x', 'text'],
      ['key=a&point=', 'point'], ['key=a&point=1', 'point'], ['key=a&point=1,', 'point'], ['key=a&point=1,2,3', 'point'], ['key=a&point=a,b', 'point'], ['key=a&point=0x10,2', 'point'],
      ['key=a&point=33.5,-112.2', 'point[1]'], ['key=a&point=1e999,0', 'point[0]'], ['key=a&point=181,0', 'point[0]'], ['key=a&point=NaN,0', 'point']
    ]
    for (const [query, field] of cases) {
      const reply = await ask(`${url}/v1/objects?${query}`, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'x' })
      assert.equal(reply.status, 400, query)
      assert.equal(reply.json().field, field, `${query}: ${reply.text}`)
      assert.equal(reply.headers['content-type'], 'application/problem+json')
    }
    assert.deepEqual([...node.collections.values()].flat(), [])
  })

  it('names the nearest parameter for one that it does not know', async () => {
    const { url } = await startServer()
    const problem = (await ask(`${url}/v1/objects?kye=a`)).json()
    assert.equal(problem.code, 'unknown-parameter')
    assert.match(problem.detail, /did you mean key\?/)
  })

  it('gives the value back as it was put, with its content type', async () => {
    const { url } = await startServer()
    await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async bytes => {
      await ask(`${url}/v1/objects?key=k`, { method: 'PUT', headers: { 'content-type': 'image/x-thing' }, body: bytes })
      const response = await fetch(`${url}/v1/objects?key=k`)
      assert.equal(response.headers.get('content-type'), 'image/x-thing')
      assert.deepEqual(new Uint8Array(await response.arrayBuffer()), bytes)
      const record = await (await fetch(`${url}/v1/objects?key=k`, { headers: { accept: 'application/json' } })).json() as { value: string, encoding: string }
      assert.deepEqual(new Uint8Array(Buffer.from(record.value, 'base64')), bytes)
      assert.equal(record.encoding, 'base64')
    }), { numRuns: 30 })
  })

  it('answers a put with 201 for a new object, 200 for a changed one, and its version', async () => {
    const { url } = await startServer()
    const first = await putJson(url, 'key=a', { n: 1 })
    assert.equal(first.status, 201)
    assert.deepEqual(first.json(), { version: '1700000000000-2-ab', created: true, copies: 1, hops: 2, peers: 3, tookMs: 6 })
    assert.equal(first.headers['etag'], '"1700000000000-2-ab"')
    assert.equal((await putJson(url, 'key=a', { n: 2 })).status, 200)
    const got = await ask(`${url}/v1/objects?key=a`)
    assert.equal(got.headers['etag'], '"1700000000000-4-ab"')
    assert.equal(got.headers['x-isobar-hops'], '2')
  })

  it('shows JSON as JSON, character for character, and text as a string', async () => {
    const { url } = await startServer()
    await putJson(url, 'key=a', '{"big": 9007199254740993,\n "e": 1e2}')
    await ask(`${url}/v1/objects?key=b`, { method: 'PUT', headers: { 'content-type': 'text/plain; charset=utf-8' }, body: 'Grüße "x"' })
    await ask(`${url}/v1/objects?key=c`, { method: 'PUT', body: '' })
    const accept = { headers: { accept: 'application/json' } }
    const a = await ask(`${url}/v1/objects?key=a`, accept)
    assert.ok(a.text.includes('"value":{"big": 9007199254740993,  "e": 1e2}') || a.text.includes('"value":{"big": 9007199254740993, "e": 1e2}'), a.text)
    assert.equal(a.json().contentType, 'application/json')
    assert.equal(a.json().complete, true)
    assert.equal((await ask(`${url}/v1/objects?key=b`, accept)).json().value, 'Grüße "x"')
    assert.equal((await ask(`${url}/v1/objects?key=c`, accept)).json().value, '')
  })

  it('shows a stored value that is not the JSON it claims to be as base64', async () => {
    const { url, node } = await startServer()
    node.collections.set('kv', [{ key: utf8.encode('a'), value: utf8.encode('{"a":1}\n{"b":'), contentType: 'application/json', version: { ms: 1, counter: 2, member: 'ab' }, point: undefined, text: undefined }])
    const [record] = (await ask(`${url}/v1/range`)).json().records
    assert.equal(Buffer.from(record.value, 'base64').toString(), '{"a":1}\n{"b":')
  })

  it('refuses a body that is not the JSON that it says', async () => {
    const { url, node } = await startServer()
    for (const body of ['{', '', 'nan', '01']) {
      const reply = await putJson(url, 'key=a', body)
      assert.equal(reply.status, 400, body)
      assert.equal(reply.json().field, 'body')
    }
    assert.equal((await ask(`${url}/v1/objects?key=c`, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: Buffer.from([0x22, 0xff, 0x22]) })).status, 400)
    assert.deepEqual([...node.collections.values()].flat(), [])
  })

  it('takes place and text of an object from the query, from JSON fields, or from a Feature', async () => {
    const { url, node } = await startServer()
    await ask(`${url}/v1/objects?key=q&point=13.4,52.5&text=Caf%C3%A9`, { method: 'PUT', headers: { 'content-type': 'image/png' }, body: 'png' })
    await putJson(url, 'key=j&collection=places', { value: { open: 8 }, point: [13.4, 52.5], text: 'bar' })
    await putJson(url, 'key=f', { type: 'Feature', geometry: { type: 'Point', coordinates: [-179.5, 0, 10.5] }, properties: { mag: 5, title: 'M 5 - Fiji' } }, { 'content-type': 'application/geo+json' })
    const shown = node.collections.get('places')?.map(({ key, value, contentType, point, text }) => [Buffer.from(key).toString(), Buffer.from(value).toString(), contentType, point, text])
    assert.deepEqual(shown, [
      ['f', '{"type":"Feature","geometry":{"type":"Point","coordinates":[-179.5,0,10.5]},"properties":{"mag":5,"title":"M 5 - Fiji"}}', 'application/geo+json', [-179.5, 0], 'M 5 - Fiji'],
      ['j', '{"open":8}', 'application/json', [13.4, 52.5], 'bar'],
      ['q', 'png', 'image/png', [13.4, 52.5], 'Café']
    ])
  })

  it('keeps any JSON as the value where the query gives the place', async () => {
    const { url, node } = await startServer()
    assert.equal((await putJson(url, 'key=a&point=1,2', { point: 'of view' })).status, 201)
    assert.deepEqual(node.collections.get('places')?.map(record => Buffer.from(record.value).toString()), ['{"point":"of view"}'])
  })

  it('refuses places that are none with the field, and stores nothing', async () => {
    const { url, node } = await startServer()
    const points = ['[1e999,0]', '[null,0]', '["1",2]', '[0]', '[33.5,-112.2]', '[1e300,0]', '"1,2"', '{}', '[0,0,0]', '[0,90.0000001]', '[-180.0001,0]']
    for (const point of points) {
      const reply = await putJson(url, 'key=a&collection=places', `{"value":1,"point":${point}}`)
      assert.equal(reply.status, 400, point)
      assert.match(reply.json().field, /^point/, point)
      assert.match(reply.json().detail, /\[lon, lat\]/, point)
    }
    const feature = (geometry: string): string => `{"type":"Feature","geometry":${geometry},"properties":{}}`
    for (const geometry of ['{"type":"Point","coordinates":[1e999,0]}', '{"type":"Point","coordinates":[0,91,5]}', '{"type":"Polygon","coordinates":[]}', '{"type":"Point"}']) {
      const reply = await putJson(url, 'key=a', feature(geometry), { 'content-type': 'application/geo+json' })
      assert.equal(reply.status, 400, geometry)
      assert.match(reply.json().field, /^(point|geometry)/)
    }
    assert.deepEqual([...node.collections.values()].flat(), [])
  })

  it('refuses unknown fields and fields of the wrong kind in a located object', async () => {
    const { url } = await startServer()
    const cases: Array<[string, string]> = [['{"value":1,"pont":[1,2]}', 'pont'], ['{"text":5,"point":[1,2]}', 'text'], ['{"text":"\\ud800","point":[1,2]}', 'text'], ['[1]', 'body'], ['{"value":"\\udc00","point":[1,2]}', 'value'], ['{"value":"!","encoding":"base64"}', 'value'], ['{"value":1e999}', 'value'], ['{"__proto__":1}', '__proto__']]
    for (const [body, field] of cases) {
      const reply = await putJson(url, 'key=a&collection=places', body)
      assert.equal(reply.status, 400, body)
      assert.equal(reply.json().field, field, body)
    }
  })

  it('answers 413 to a body above the limit, and 201 to one at it', async () => {
    const { url, node } = await startServer({ limits: { bodyBytesMax: 1_000 } })
    const put = async (bytes: number) => await ask(`${url}/v1/objects?key=a`, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'x'.repeat(bytes) })
    const reply = await put(1_001)
    assert.equal(reply.status, 413)
    assert.equal(reply.json().code, 'body-too-large')
    assert.equal(node.collections.get('kv'), undefined)
    assert.equal((await put(1_000)).status, 201)
  })

  it('answers 413 to a value above what storage takes', async () => {
    const { url, node } = await startServer()
    const put = async (bytes: number) => await ask(`${url}/v1/objects?key=a`, { method: 'PUT', body: 'x'.repeat(bytes) })
    assert.equal((await put(262_145)).json().code, 'value-too-large')
    assert.equal(node.collections.get('kv'), undefined)
    assert.equal((await put(262_144)).status, 201)
  })

  it('answers 404 with a problem for what is not there, and deletes what is', async () => {
    const { url } = await startServer()
    const missing = await ask(`${url}/v1/objects?key=a`)
    assert.equal(missing.status, 404)
    assert.deepEqual(missing.json(), { type: 'about:blank', title: 'Not found', status: 404, code: 'not-found', detail: 'no object "a" in collection "kv"', hops: 2, peers: 3, tookMs: 6 })
    await putJson(url, 'key=a', {})
    assert.equal((await ask(`${url}/v1/objects?key=a`, { method: 'DELETE' })).json().deleted, true)
    assert.equal((await ask(`${url}/v1/objects?key=a`, { method: 'DELETE' })).json().deleted, false)
    assert.equal((await ask(`${url}/v1/objects?key=a`)).status, 404)
    assert.equal((await putJson(url, 'key=a&collection=none', {})).json().code, 'unknown-collection')
    assert.equal((await ask(`${url}/v2/x`)).json().code, 'no-such-route')
  })

  it('turns errors of storage into problems with a stable code', async () => {
    const { url, node, faults } = await startServer()
    const interval = { low: utf8.encode('kv\0m'), high: undefined }
    const cases: Array<[Error, number, string, boolean]> = [
      [new TimeoutError('no reply in 5000 ms'), 504, 'deadline', false],
      [new BusyError('the queue is full'), 503, 'busy', true],
      [new StoreFullError('no space left'), 507, 'disk-full', true],
      [new OwnerUnreachableError('nobody answers', { interval, ownerId: 'p1', definite: false }), 503, 'owner-unreachable', false],
      [Object.assign(new Error('value: too long'), { name: 'InvalidRequestError', field: 'value' }), 400, 'invalid-request', true]
    ]
    for (const [error, status, code, definite] of cases) {
      node.storage.put = async () => { throw error }
      const reply = await putJson(url, 'key=a', {})
      assert.equal(reply.status, status, code)
      assert.equal(reply.json().code, code)
      if (status >= 500) assert.equal(reply.json().definite, definite, code)
      if (status === 503) assert.equal(reply.headers['retry-after'], '1')
      assert.equal(reply.json().detail.includes('\n'), false)
    }
    assert.deepEqual(faults, [])
    node.storage.put = async () => { throw new Error('secret detail') }
    const fault = await putJson(url, 'key=a', {})
    assert.equal(fault.status, 500)
    assert.equal(fault.text.includes('secret'), false)
    assert.equal(faults.length, 1)
  })

  it('passes the deadline and the request id on', async () => {
    const { url, node } = await startServer()
    const seen: unknown[] = []
    const { put } = node.storage
    node.storage.put = async (request, options) => {
      seen.push(request.requestId, options.deadlineMs)
      return await put(request, options)
    }
    await putJson(url, 'key=a&deadlineMs=1500', {}, { 'idempotency-key': 'try-1' })
    await putJson(url, 'key=a', {})
    assert.deepEqual(seen, ['try-1', 1500, undefined, 10_000])
  })

  it('does not serve objects before it serves at all, and says so', async () => {
    const { url, node } = await startServer()
    node.nodeState = 'joining'
    const reply = await ask(`${url}/v1/objects?key=a`)
    assert.equal(reply.status, 503)
    assert.equal(reply.json().code, 'not-serving')
    assert.equal((await ask(`${url}/readyz`)).status, 503)
    assert.equal((await ask(`${url}/healthz`)).status, 200)
    node.nodeState = 'serving'
    assert.equal((await ask(`${url}/readyz`)).status, 200)
  })
})
