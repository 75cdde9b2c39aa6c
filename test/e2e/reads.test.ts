// One ring of four real daemons with real data, asked at every peer: answers that were counted elsewhere, awkward keys
// through HTTP and the command line, and crowds of clients.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { request } from 'node:http'
import { airports } from '../../testnet/data/airports.ts'
import { cities } from '../../testnet/data/cities.ts'
import { quakes } from '../../testnet/data/quakes.ts'
import type { LocatedRow } from '../../testnet/data/row.ts'
import { waitFor } from '../../testnet/local/wait.ts'
import { build, slowMs } from './build.ts'
import { countIn, get, json, put, url, type End, type Record } from './http.ts'
import { Ring, soonMs } from './ring.ts'
import { isobar } from './run-program.ts'

describe('a ring of four daemons', () => {
  let ring: Ring

  before(async function () {
    this.timeout(slowMs)
    build()
    ring = await Ring.start(4)
    assert.equal(await ring.load(quakes(), 'places'), 1_707)
    await json(`${ring.rpcs[0]}/v1/collections/airports`, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{"kind":"spatial"}' })
    await json(`${ring.rpcs[0]}/v1/collections/cities`, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{"kind":"spatial"}' })
    // All that the queries must find, and every thirtieth of what they must not.
    await ring.load(some(airports(), ([, latitude]) => latitude <= -60), 'airports')
    await ring.load(some(cities(), ([longitude]) => Math.abs(longitude) > 168), 'cities')
  })

  after(async function () {
    this.timeout(slowMs)
    await ring?.close()
  })

  const truths: Array<[what: string, bbox: string, words: string | undefined, count: number]> = [
    ['8 earthquakes of the Aleutians across the antimeridian', '165,50,-165,60', undefined, 8],
    ['the same 8 by a word that all of them have', '165,50,-165,60', 'alaska', 8],
    ['26 across the antimeridian, from New Zealand to the Bering Sea', '160,-40,-160,60', undefined, 26],
    ['3 of Fiji', '170,-30,-170,-10', 'fiji', 3],
    ['1,014 in the southwest of the United States', '-125,32,-114,42', undefined, 1_014],
    ['122 of Aguanga', '-125,32,-114,42', 'aguanga', 122],
    ['88 of the geysers', '-125,32,-114,42', 'geysers', 88],
    ['1,707 in the whole world', '-180,-90,180,90', undefined, 1_707]
  ]
  for (const [what, bbox, words, count] of truths) {
    it(`finds ${what}, whoever is asked`, async () => {
      assert.deepEqual(await Promise.all(ring.rpcs.map(async rpc => await countIn(rpc, bbox, words))), [count, count, count, count])
    })
  }

  it('finds the airport of the South Pole, and the 48 cities around Fiji, whoever is asked', async () => {
    for (const rpc of ring.rpcs) {
      const pole = await json<End & { records: Record[] }>(url(rpc, '/v1/find', { collection: 'airports', bbox: '-180,-90,180,-89' }))
      assert.deepEqual(pole.records.map(record => record.point?.[1]), [-90])
      const fiji = await json<End & { count: number }>(url(rpc, '/v1/find', { collection: 'cities', bbox: '176,-20,-170,-12', count: true }))
      assert.deepEqual([fiji.count, fiji.complete], [48, true])
    }
  })

  it('tells each object once: all rows of the world are 1,707 different keys', async () => {
    const { records } = await json<{ records: Record[] }>(url(ring.rpcs[2] ?? '', '/v1/find', { bbox: '-180,-90,180,90' }))
    assert.equal(records.length, 1_707)
    assert.equal(new Set(records.map(record => record.key)).size, 1_707)
  })

  it('keeps awkward keys apart, byte for byte, through the command line and HTTP', async function () {
    this.timeout(slowMs)
    const keys = ['foo%foo', 'a/b', 'a//b', '%2F', '..', 'a b', 'a+b', 'a?b#c', 'ключ', '__proto__', '-x', 'cafe\u0301', 'café']
    const typed = ['%2F', '..', 'a?b#c', 'cafe\u0301', '-x']
    for (const [at, key] of keys.entries()) await put(ring.rpcs[at % 4] ?? '', key, `value of ${key}`)
    await Promise.all(typed.map(async (key, at) => {
      const { code, stderr } = await isobar(['put', '--rpc', ring.rpcs[at % 4] ?? '', '--', key, `typed of ${key}`])
      assert.deepEqual([code, stderr], [0, ''], key)
    }))
    for (const [at, key] of keys.entries()) assert.equal(await get(ring.rpcs[(at + 1) % 4] ?? '', key), `${typed.includes(key) ? 'typed' : 'value'} of ${key}`)
    await Promise.all(typed.map(async (key, at) => {
      assert.equal((await isobar(['get', '--rpc', ring.rpcs[(at + 2) % 4] ?? '', '--', key])).stdout, `typed of ${key}`)
    }))
    const { stdout } = await isobar(['range', '--rpc', ring.rpcs[3] ?? '', '--keys-only', '-o', 'json'])
    const inOrder = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    assert.deepEqual((JSON.parse(stdout) as { records: Record[] }).records.map(record => record.key), inOrder)
  })

  it('answers 2,000 ranges at once through one peer, or says that it is busy', async function () {
    this.timeout(slowMs)
    await Promise.all(Array.from({ length: 10 }, async (_, at) => { await put(ring.rpcs[at % 4] ?? '', `crowd-${String(at).padStart(2, '0')}`, String(at)) }))
    const target = url(ring.rpcs[1] ?? '', '/v1/range', { prefix: 'crowd-', deadlineMs: 60_000 })
    const statuses = new Map<number, number>()
    await Promise.all(Array.from({ length: 2_000 }, async () => {
      const response = await fetch(target)
      const body = await response.json() as End & { records?: Record[] }
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
      if (response.status === 200) assert.deepEqual([body.complete, body.records?.length], [true, 10])
    }))
    const unexpected = [...statuses.keys()].filter(status => ![200, 429, 503].includes(status))
    assert.deepEqual(unexpected, [], JSON.stringify([...statuses]))
    assert((statuses.get(200) ?? 0) > 0)
  })

  it('loses nothing by 200 clients that go away amid their answers, and keeps none of their connections', async function () {
    this.timeout(slowMs)
    const { pid, rpc } = ring.at(1)
    const before = openFiles(pid)
    await Promise.all(Array.from({ length: 200 }, async () => { await abortedAmid(url(rpc, '/v1/find', { bbox: '-180,-90,180,90' })) }))
    await waitFor('end of the aborted requests', async () => openFiles(pid) <= before ? true : undefined, { deadlineMs: soonMs })
    assert.equal(await countIn(rpc, '-180,-90,180,90'), 1_707)
    await ring.whole(4)
  })
})

/** Rows whose point is wanted, and every thirtieth of the others. */
async function * some (rows: AsyncIterable<LocatedRow>, isWanted: (point: [number, number]) => boolean): AsyncGenerator<LocatedRow> {
  let count = 0
  for await (const row of rows) if (isWanted(row.point) || count++ % 30 === 0) yield row
}

/** Files and sockets that a process has open. */
function openFiles (pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

/** Ask, read the first bytes of the answer, and cut the connection. */
async function abortedAmid (target: string): Promise<void> {
  await new Promise<void>(resolve => {
    const asking = request(target, { agent: false }, response => {
      response.once('data', () => { asking.destroy() })
      response.on('error', () => {})
    })
    asking.on('error', () => {})
    asking.once('close', () => { resolve() })
    asking.end()
  })
}
