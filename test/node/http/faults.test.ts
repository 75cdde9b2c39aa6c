// What callers of the HTTP API see of a machine in trouble: a disk that is full, a store that fails, too many connections.

import assert from 'node:assert/strict'
import { createServer, request, type ClientRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { RemoteError, StoreError, StoreFullError } from '../../../overlay/errors.ts'
import type { StoreHealth } from '../../../node/disk-store.ts'
import { guardSockets } from '../../../node/http/sockets.ts'
import { StoreCorruptError } from '../../../node/level-errors.ts'
import { ask, batch, putJson, startServer, stopServers } from './start.ts'

const full = 'the disk of /var/lib/isobar/store is full: nothing was written; free some space there, then writes go on by themselves'

describe('the HTTP API on a machine in trouble', () => {
  afterEach(stopServers)

  it('answers a write with 507, the reason and the remedy when the disk is full, here or at the owner, and reads on', async () => {
    const { url, node, faults } = await startServer()
    await putJson(url, 'key=a', { value: 1 })
    for (const error of [new StoreFullError(full), new RemoteError('StoreFullError', full, true)]) {
      node.storage.put = async () => { throw error }
      const reply = await putJson(url, 'key=b', { value: 2 })
      assert.equal(reply.status, 507)
      assert.equal(reply.headers['content-type'], 'application/problem+json')
      assert.deepEqual(reply.json(), { type: 'about:blank', title: 'Disk full', status: 507, code: 'disk-full', detail: full, definite: true })
    }
    const lines = await batch(url, [{ key: 'c', value: 1 }, { key: 'd', value: 2 }])
    assert.deepEqual(lines.slice(0, 2).map(line => [line.key, line.status, line.code, line.detail]), [['c', 507, 'disk-full', full], ['d', 507, 'disk-full', full]])
    assert.equal((await ask(`${url}/v1/objects?key=a`)).status, 200)
    assert.deepEqual(faults, [])
  })

  it('says of a store that fails that it may go on, and of one that is damaged what to do, without its own fault in the log', async () => {
    const { url, node, faults } = await startServer()
    const damaged = new StoreCorruptError('/var/lib/isobar/store', 'block checksum mismatch')
    for (const [error, status, code, definite] of [[new StoreError('the store in /x failed: EIO'), 503, 'store-failing', false], [new RemoteError('StoreError', 'x', false), 503, 'store-failing', false], [damaged, 500, 'store-damaged', false]] as const) {
      node.storage.put = async () => { throw error }
      const reply = await putJson(url, 'key=b', { value: 2 })
      assert.deepEqual([reply.status, reply.json().code, reply.json().definite], [status, code, definite])
      assert.equal(reply.headers['retry-after'], status === 503 ? '1' : undefined)
    }
    assert.match((await putJson(url, 'key=b', { value: 2 })).json().detail, /^the store in \/var\/lib\/isobar\/store is damaged .*move the directory away/)
    assert.deepEqual(faults, [])
    node.storage.put = async () => { throw new TypeError('a fault') }
    assert.equal((await putJson(url, 'key=b', { value: 2 })).json().code, 'internal')
    assert.equal(faults.length, 1)
  })

  it('shows in /readyz, /v1/status and /metrics how the disk is', async () => {
    const space = { freeBytes: 12, totalBytes: 1_000, reservedBytes: 125 }
    let health: StoreHealth = { state: 'full', reason: full, space }
    const { url } = await startServer({ disk: async () => health })
    const ready = await ask(`${url}/readyz`)
    assert.deepEqual([ready.status, ready.json()], [200, { state: 'serving', disk: 'full', reason: full }])
    assert.deepEqual((await ask(`${url}/v1/status`)).json().disk, { state: 'full', reason: full, ...space })
    assert.match((await ask(`${url}/metrics`)).text, /^isobar_disk_free_bytes 12$/m)
    health = { state: 'ok', reason: undefined, space: undefined }
    assert.deepEqual((await ask(`${url}/readyz`)).json(), { state: 'serving', disk: 'ok' })
    assert.deepEqual((await ask(`${url}/v1/status`)).json().disk, { state: 'ok', reason: null })
  })

  it('shows no disk where there is none', async () => {
    const { url } = await startServer()
    assert.deepEqual((await ask(`${url}/readyz`)).json(), { state: 'serving' })
    assert.equal((await ask(`${url}/v1/status`)).json().disk, null)
  })

  it('turns away connections beyond its bound, says so once, and takes new ones when some are closed or idle', async () => {
    const lines: string[] = []
    const log = { debug () {}, info () {}, warn: (_fields: object, text: string) => { lines.push(text) }, error () {} }
    const { url } = await startServer({ connectionsMax: 4, log })
    const port = Number(new URL(url).port)
    const sockets: Socket[] = []
    const turnedAway = async (): Promise<number> => {
      const outcomes = await Promise.all(Array.from({ length: 10 }, async () => await new Promise<boolean>(resolve => {
        const socket = connect(port, '127.0.0.1').on('error', () => {})
        sockets.push(socket)
        socket.once('close', () => { resolve(true) })
        // Who is let in gets an answer to what is no HTTP.
        socket.once('data', () => { resolve(false) })
        socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n')
      })))
      return outcomes.filter(Boolean).length
    }
    assert.equal(await turnedAway(), 6)
    assert.equal(lines.length, 1)
    assert.match(lines[0]!, /^connections are turned away/)
    const closed = Promise.all(sockets.map(async socket => { if (!socket.destroyed) await new Promise(resolve => { socket.once('close', resolve).destroy() }) }))
    await closed
    let status = 0
    while (status !== 200) status = await ask(`${url}/healthz`).then(reply => reply.status, () => 0)
    assert.equal(lines.length, 1)
  })

  it('lives on when the system refuses it a connection', async () => {
    const lines: string[] = []
    const log = { debug () {}, info () {}, warn: (_fields: object, text: string) => { lines.push(text) }, error () {} }
    const server = createServer((_request, response) => { response.end('well') })
    guardSockets(server, log, undefined)
    await new Promise<void>(resolve => { server.listen(0, '127.0.0.1', resolve) })
    for (let count = 0; count < 3; count++) server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }))
    assert.deepEqual(lines, ['a connection could not be accepted'])
    assert.equal((await ask(`http://127.0.0.1:${(server.address() as { port: number }).port}/`)).text, 'well')
    server.closeAllConnections()
    await new Promise(resolve => { server.close(resolve) })
  })

  it('takes back the place of an idle connection for a new one', async () => {
    const { url } = await startServer({ connectionsMax: 2 })
    const idle: ClientRequest[] = []
    for (let count = 0; count < 2; count++) {
      await new Promise<void>(resolve => {
        const asking = request(`${url}/healthz`, { headers: { connection: 'keep-alive' } }, response => { response.resume().once('end', resolve) })
        asking.on('error', () => {})
        idle.push(asking.end())
      })
    }
    let status = 0
    while (status !== 200) status = await ask(`${url}/healthz`).then(reply => reply.status, () => 0)
    for (const asking of idle) asking.destroy()
  })
})
