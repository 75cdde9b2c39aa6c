// The HTTP API as a whole: who may call, life signs, ring and collections, the description, the gate, and how it stops.

import assert from 'node:assert/strict'
import { Agent, request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { createFakeNode } from '../fake-node.ts'
import { AbortError } from '../../../overlay/errors.ts'
import { JoinError } from '../../../overlay/join.ts'
import { LeaveError } from '../../../overlay/leave.ts'
import { createHttpServer } from '../../../node/http/server.ts'
import { createMetrics } from '../../../node/metrics.ts'
import { Registry } from 'prom-client'
import { ask, putJson, startServer, stopServers } from './start.ts'

const token = 'a-token-of-some-length-0123456789'
const utf8 = new TextEncoder()

describe('the guard of the HTTP API', () => {
  afterEach(stopServers)

  it('refuses names that only resolve to this machine, and other origins', async () => {
    const { url } = await startServer()
    const status = async (headers: Record<string, string>) => (await ask(`${url}/version`, { headers })).status
    for (const host of ['localhost', 'localhost:7700', '127.0.0.1:1', '127.1.2.3', '[::1]:7700', 'node.localhost']) assert.equal(await status({ host }), 200, host)
    for (const host of ['evil.example', '10.0.0.1', '127.0.0.1.evil.example', 'localhost.evil.example:80', '[2001:db8::1]', '0.0.0.0']) assert.equal(await status({ host }), 403, host)
    assert.equal(await status({ origin: 'http://evil.example' }), 403)
    assert.equal(await status({ origin: 'null' }), 403)
    assert.equal(await status({ host: 'localhost:7700', origin: 'http://localhost:7700' }), 200)
    assert.equal((await ask(`${url}/v1/objects?key=a`, { method: 'PUT', headers: { origin: 'http://evil.example' }, body: 'x' })).json().code, 'origin-not-allowed')
  })

  it('wants the token as a bearer, but for life signs', async () => {
    const { url } = await startServer({ token })
    for (const authorization of ['', 'Bearer', `Bearer ${token}x`, `Basic ${token}`, token]) {
      const reply = await ask(`${url}/v1/range`, { headers: { authorization } })
      assert.equal(reply.status, 401, authorization)
      assert.equal(reply.headers['www-authenticate'], 'Bearer')
    }
    assert.equal((await ask(`${url}/metrics`)).status, 401)
    assert.equal((await ask(`${url}/v1/range`, { headers: { authorization: `Bearer ${token}` } })).status, 200)
    for (const path of ['/healthz', '/readyz', '/version']) assert.equal((await ask(url + path)).status, 200, path)
  })
})

describe('the HTTP API', () => {
  afterEach(stopServers)

  it('shows this peer, with its limits', async () => {
    const { url } = await startServer()
    const status = (await ask(`${url}/v1/status`)).json()
    assert.equal(status.state, 'serving')
    assert.equal(status.left, null)
    assert.deepEqual(status.pieces, [{ interval: { low: null, high: null }, chain: 'c1', epoch: 1, members: ['ab'.repeat(16)] }])
    assert.equal(status.limits.bodyBytesMax, 2_097_152)
    assert.equal(status.limits.valueBytesMax, 1_048_576)
  })

  it('shows owners in key order with bounds as collection, key and exact bytes', async () => {
    const { url, node } = await startServer()
    const row = { memberId: 'm', peerId: 'p', addresses: ['/ip4/127.0.0.1/tcp/1'], rpc: undefined, spatial: [], chain: 'c', epoch: 3, records: 7, loadPerSecond: 1.5, state: 'serving' as const, rttMs: undefined }
    node.peersAnswer = { peers: [{ ...row, interval: { low: new Uint8Array(0), high: utf8.encode('kv\0moon') } }, { ...row, interval: { low: utf8.encode('kv\0moon'), high: Uint8Array.of(0x70, 0, 0xff) } }], complete: false }
    const { peers, complete } = (await ask(`${url}/v1/peers`)).json()
    assert.equal(complete, false)
    assert.deepEqual(peers[0].interval, { low: null, high: { collection: 'kv', key: 'moon', hex: '6b76006d6f6f6e' } })
    assert.deepEqual(peers[1].interval.high, { collection: 'p', key: '0xff', hex: '7000ff' })
    assert.equal(peers[0].rpc, null)
    const { ranges } = (await ask(`${url}/v1/ranges`)).json()
    assert.deepEqual(ranges.map((range: { records: number }) => range.records), [7, 7])
  })

  it('defines collections, and refuses definitions that are none', async () => {
    const { url, node } = await startServer()
    const put = async (name: string, body: string) => await ask(`${url}/v1/collections/${name}`, { method: 'PUT', headers: { 'content-type': 'application/json' }, body })
    assert.deepEqual((await put('caf%C3%A9', '{"kind":"ordered"}')).json(), { name: 'café', kind: 'ordered' })
    assert.deepEqual((await put('floor', '{"kind":"spatial","space":{"kind":"planar","minX":0,"minY":0,"maxX":50,"maxY":20}}')).json().space.maxX, 50)
    assert.deepEqual((await put('trips', '{"kind":"spatial"}')).json(), { name: 'trips', kind: 'spatial', space: { kind: 'lonlat' } })
    const cases: Array<[string, string]> = [['{}', 'kind'], ['{"kind":"content"}', 'kind'], ['{"kind":"ordered","space":{}}', 'space'], ['{"kind":"spatial","space":{"kind":"planar","minX":0,"minY":0,"maxX":1e999,"maxY":1}}', 'space.maxX'], ['{"kind":"ordered","colour":1}', 'colour'], ['{"kind":"ordered","name":"y"}', 'name']]
    for (const [body, field] of cases) assert.equal((await put('x', body)).json().field, field, body)
    assert.equal(node.definitions.size, 5)
    assert.equal((await ask(`${url}/v1/collections`)).json().collections.length, 5)
    assert.equal((await ask(`${url}/v1/collections/nope`)).status, 404)
    const planar = await putJson(url, 'key=a&collection=floor', { point: [51, 0] })
    assert.equal(planar.json().field, 'point[0]')
    assert.equal((await putJson(url, 'key=a&collection=floor', { point: [49, 0] })).status, 201)
  })

  it('joins by host:port or multiaddr, and leaves with a deadline, telling the process afterwards', async () => {
    let left = 0
    let told!: () => void
    const leaving = new Promise<void>(resolve => { told = resolve })
    const { url, node } = await startServer({ onLeft: () => { left++; told() } })
    const post = async (path: string, body: object | string) => await ask(`${url}/v1/admin/${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: typeof body === 'string' ? body : JSON.stringify(body) })
    assert.equal((await post('join', { address: '127.0.0.1:7701' })).json().code, 'already-serving')
    node.nodeState = 'starting'
    assert.equal((await post('join', { address: '[::1]:7701' })).status, 200)
    assert.equal((await post('join', { address: '/dns4/a.example/tcp/7701' })).status, 200)
    for (const body of [{}, { address: 7 }, { address: 'nowhere' }, { adress: 'x' }]) assert.equal((await post('join', body)).status, 400, JSON.stringify(body))
    node.join = async () => { throw new JoinError('nobody answers at 127.0.0.1:1') }
    assert.equal((await post('join', { address: '127.0.0.1:1' })).json().code, 'join-failed')
    node.nodeState = 'serving'
    assert.deepEqual(node.calls, ['join /ip6/::1/tcp/7701', 'join /dns4/a.example/tcp/7701'])
    const { leave } = node
    node.leave = async () => { throw new LeaveError('this is the last node of its ring; stop it instead') }
    const failed = (await post('leave', {})).json()
    assert.deepEqual([failed.status, failed.code, failed.detail], [409, 'leave-failed', 'this is the last node of its ring; stop it instead'])
    assert.match((await post('leave', { within: 5 })).json().detail, /^unknown field "within"; known are deadlineMs, as in \{"deadlineMs": 30000\}/)
    assert.equal((await post('leave', { deadlineMs: 0 })).json().field, 'deadlineMs')
    assert.equal(left, 0)
    node.leave = leave
    assert.deepEqual((await post('leave', { deadlineMs: 500 })).json(), { left: true })
    await leaving
    assert.equal(left, 1)
    assert.equal(node.calls.at(-1), 'leave 500')
  })

  it('tells the methods of a path that does not take the one asked for', async () => {
    const { url } = await startServer()
    const cases: Array<[string, string, string]> = [
      ['PATCH', '/v1/objects?key=a', 'DELETE, GET, HEAD, PUT'],
      ['GET', '/v1/objects:batch', 'POST'],
      ['DELETE', '/v1/find?bbox=0,0,1,1', 'GET, HEAD, POST'],
      ['POST', '/v1/collections/caf%C3%A9', 'GET, HEAD, PUT'],
      ['PUT', '/v1/collections', 'GET, HEAD'],
      ['OPTIONS', '/v1/status', 'GET, HEAD'],
      ['GET', '/v1/admin/leave', 'POST']
    ]
    for (const [method, path, allow] of cases) {
      const reply = await ask(url + path, { method })
      assert.equal(reply.status, 405, path)
      assert.equal(reply.headers['allow'], allow, path)
      assert.deepEqual([reply.json().code, reply.json().title], ['method-not-allowed', 'Method not allowed'])
    }
    for (const path of ['/v1/object', '/v1/objects:batchX', '/v1/collections/a/b', '/v1/objectsXbatch']) {
      const reply = await ask(url + path, { method: 'PATCH' })
      assert.equal(reply.status, 404, path)
      assert.equal(reply.headers['allow'], undefined)
    }
  })

  it('describes itself as OpenAPI 3.1, with every route', async () => {
    const { url } = await startServer()
    const description = (await ask(`${url}/openapi.json`)).json()
    assert.equal(description.openapi, '3.1.0')
    assert.deepEqual(Object.keys(description.paths).sort(), [
      '/healthz', '/metrics', '/readyz', '/v1/admin/join', '/v1/admin/leave', '/v1/collections', '/v1/collections/{name}', '/v1/find',
      '/v1/objects', '/v1/objects:batch', '/v1/peers', '/v1/range', '/v1/ranges', '/v1/status', '/version'])
    assert.ok(description.paths['/v1/find'].get.parameters.some((parameter: { name: string }) => parameter.name === 'bbox'))
    assert.ok(description.paths['/v1/objects'].put.requestBody.content['application/geo+json'])
  })

  it('counts requests by route and kind of status, never by key', async () => {
    const { url } = await (async () => {
      const registry = new Registry()
      return await startServer({ registry, metrics: createMetrics(registry) })
    })()
    await putJson(url, 'key=secret', {})
    await ask(`${url}/v1/objects?key=other`)
    const page = (await ask(`${url}/metrics`)).text
    assert.match(page, /isobar_http_requests_total\{route="\/v1\/objects",status="2xx"\} 1/)
    assert.match(page, /isobar_http_requests_total\{route="\/v1\/objects",status="4xx"\} 1/)
    assert.equal(page.includes('secret'), false)
    assert.match(page, /^isobar_http_requests_running 0$/m)
  })

  it('says in one line that a port is taken', async () => {
    const { url } = await startServer()
    const registry = new Registry()
    const log = { debug () {}, info () {}, warn () {}, error () {} }
    const second = await createHttpServer({ node: createFakeNode(), log, registry, metrics: createMetrics(registry) })
    const port = Number(new URL(url).port)
    await assert.rejects(second.listen({ host: '127.0.0.1', port }), { name: 'ListenError', message: `127.0.0.1:${port} is in use by another program; give --rpc-listen another port (0 for any), or stop that program` })
    await second.close()
  })

  it('listens on IPv6 loopback', async () => {
    const registry = new Registry()
    const log = { debug () {}, info () {}, warn () {}, error () {} }
    const server = await createHttpServer({ node: createFakeNode(), log, registry, metrics: createMetrics(registry) })
    const url = await server.listen({ host: '::1', port: 0 })
    assert.match(url, /^http:\/\/\[::1\]:\d+$/)
    assert.equal((await fetch(`${url}/version`)).status, 200)
    await server.close()
  })
})

describe('the gate', () => {
  afterEach(stopServers)

  it('lets some requests run, some wait, and sends the rest away', async () => {
    const node = createFakeNode()
    const releases: Array<() => void> = []
    const { get } = node.storage
    node.storage.get = async (request, options) => {
      await new Promise<void>(resolve => { releases.push(resolve) })
      return await get(request, options)
    }
    const { url, server } = await startServer({ node, limits: { requestsMax: 2, requestsQueuedMax: 3 } })
    const answers: number[] = []
    const asked = Array.from({ length: 5 }, async () => { answers.push((await ask(`${url}/v1/objects?key=a`)).status) })
    while (server.gate.waitingCount < 3) await new Promise(resolve => setImmediate(resolve))
    assert.equal(server.gate.runningCount, 2)
    const refused = await ask(`${url}/v1/objects?key=a`)
    assert.equal(refused.status, 503)
    assert.equal(refused.json().code, 'busy')
    assert.equal(refused.headers['retry-after'], '1')
    assert.equal((await ask(`${url}/healthz`)).status, 200)
    while (answers.length < 5) {
      releases.shift()?.()
      await new Promise(resolve => setImmediate(resolve))
    }
    await Promise.all(asked)
    assert.deepEqual(answers, [404, 404, 404, 404, 404])
    assert.deepEqual([server.gate.runningCount, server.gate.waitingCount], [0, 0])
  })

  it('counts waiting against the deadline', async () => {
    const node = createFakeNode()
    let release!: () => void
    node.storage.get = async () => {
      await new Promise<void>(resolve => { release = resolve })
      return { record: undefined, hops: 0, peers: 1, tookMs: 0 }
    }
    const { url } = await startServer({ node, limits: { requestsMax: 1 } })
    const first = ask(`${url}/v1/objects?key=a`)
    while (release === undefined) await new Promise(resolve => setImmediate(resolve))
    const late = await ask(`${url}/v1/objects?key=a&deadlineMs=20`)
    assert.equal(late.status, 503)
    assert.match(late.json().detail, /waited 20 ms/)
    release()
    assert.equal((await first).status, 404)
  })

  it('forgets clients that go away while they wait, and stops the work of those that run', async () => {
    const node = createFakeNode()
    const signals: Array<AbortSignal | undefined> = []
    node.storage.get = async (_request, { signal }) => {
      signals.push(signal)
      return await new Promise((resolve, reject) => { signal?.addEventListener('abort', () => { reject(new AbortError('gone')) }) })
    }
    const { url, server } = await startServer({ node, limits: { requestsMax: 1 } })
    const controllers = [new AbortController(), new AbortController()]
    const asked = controllers.map(async ({ signal }) => await fetch(`${url}/v1/objects?key=a`, { signal }).catch((error: Error) => error.name))
    while (server.gate.waitingCount < 1) await new Promise(resolve => setImmediate(resolve))
    for (const controller of controllers) controller.abort()
    assert.deepEqual(await Promise.all(asked), ['AbortError', 'AbortError'])
    while (server.gate.runningCount > 0 || server.gate.waitingCount > 0) await new Promise(resolve => setImmediate(resolve))
    assert.equal(signals[0]?.aborted, true)
  })
})

describe('a stop of the HTTP API', () => {
  it('closes idle keep-alive connections at once and lets a running request end', async () => {
    const node = createFakeNode()
    let release!: () => void
    node.storage.get = async () => {
      await new Promise<void>(resolve => { release = resolve })
      return { record: undefined, hops: 0, peers: 1, tookMs: 0 }
    }
    const { url, server } = await startServer({ node, limits: { closeGraceMs: 60_000 } })
    const agent = new Agent({ keepAlive: true })
    const get = async (path: string): Promise<IncomingMessage> => await new Promise((resolve, reject) => {
      request(url + path, { agent }, response => { response.resume().on('end', () => { resolve(response) }) }).on('error', reject).end()
    })
    for (let at = 0; at < 20; at++) await get('/healthz')
    const running = get('/v1/objects?key=a')
    while (release === undefined) await new Promise(resolve => setImmediate(resolve))
    server.drain()
    assert.equal((await ask(`${url}/readyz`)).json().state, 'stopping')
    const closed = server.close()
    release()
    assert.equal((await running).statusCode, 404)
    await closed
    await assert.rejects(get('/healthz'))
    agent.destroy()
  })

  it('does not wait for a connection that has never asked anything', async () => {
    const { url, server } = await startServer({ limits: { closeGraceMs: 60_000 } })
    const silent = connect(Number(new URL(url).port), '127.0.0.1')
    const gone = new Promise(resolve => { silent.once('close', resolve) })
    silent.on('error', () => {})
    await new Promise(resolve => { silent.once('connect', resolve) })
    // Connections are accepted in order, so by now that one is too.
    await ask(`${url}/healthz`)
    await Promise.all([server.close(), gone])
  })

  it('ends streams that do not end by themselves', async () => {
    const node = createFakeNode()
    node.storage.rangeStream = (_request, { signal }) => ({
      rows: (async function * () {
        for (;;) {
          signal?.throwIfAborted()
          yield { key: Uint8Array.of(1), value: new Uint8Array(50_000), contentType: undefined, version: { ms: 1, counter: 2, member: 'ab' }, point: undefined, text: undefined }
          await new Promise(resolve => setImmediate(resolve))
        }
      })(),
      end: new Promise(() => {})
    })
    const { url, server } = await startServer({ node, limits: { closeGraceMs: 20, closeForceMs: 20 } })
    const response = await fetch(`${url}/v1/range`, { headers: { accept: 'application/x-ndjson' } })
    const read = (async () => { for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) assert.ok(part.length > 0) })()
    await Promise.all([server.close(), assert.rejects(read)])
    assert.equal(server.gate.runningCount, 0)
  })
})
