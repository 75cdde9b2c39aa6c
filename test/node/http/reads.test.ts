// /v1/range and /v1/find over HTTP: bounds, areas, words, limits, and the four forms of an answer.

import assert from 'node:assert/strict'
import { createFakeNode } from '../fake-node.ts'
import { ask, batch, startServer, stopServers, type Started } from './start.ts'

const ndjson = { headers: { accept: 'application/x-ndjson' } }
const geojson = { headers: { accept: 'application/geo+json' } }

async function withLetters (): Promise<Started> {
  const started = await startServer()
  await batch(started.url, ['a', 'c', 'e', 'g'].map(key => ({ key, value: key })))
  return started
}

async function withPlaces (): Promise<Started> {
  const started = await startServer()
  await batch(started.url, [
    { key: 'a', point: [179.5, 0], text: 'Fiji east', value: { mag: 1 } },
    { key: 'b', point: [-179.5, 0], text: 'Fiji west', value: 'plain' },
    { key: 'c', point: [0, 0], text: 'null island' },
    { key: 'pole', point: [0, -90], text: 'South Pole' }
  ])
  return started
}

describe('ranges over HTTP', () => {
  afterEach(stopServers)

  it('hold exactly the keys between their bounds, in either direction', async () => {
    const { url } = await withLetters()
    const keys = async (query: string): Promise<string> => (await ask(`${url}/v1/range?${query}`)).json().records.map((record: { key: string }) => record.key).join('')
    assert.equal(await keys('gte=a&lte=d&reverse=true'), 'ca')
    assert.equal(await keys('gt=a&lt=e'), 'c')
    assert.equal(await keys(''), 'aceg')
    assert.equal(await keys('gte=&lte='), 'aceg')
    assert.equal(await keys('gte=c'), 'ceg')
    assert.equal(await keys('gt=a&lt=a'), '')
    assert.equal(await keys('prefix=c'), 'c')
    assert.equal(await keys('limit=0'), '')
    assert.equal(await keys('limit=2'), 'ac')
    assert.equal(await keys('limit=1000000000'), 'aceg')
  })

  it('are refused with the field when they cannot be meant', async () => {
    const { url } = await withLetters()
    const cases: Array<[string, string]> = [
      ['gte=e&lte=a', 'lte'], ['gt=e&lt=a', 'lt'], ['gte=a&gt=a', 'gt'], ['lte=a&lt=a', 'lt'], ['limit=-1', 'limit'], ['limit=', 'limit'], ['limit=1.5', 'limit'], ['limit=ten', 'limit'], ['limit=1e99', 'limit'],
      ['reverse=yes', 'reverse'], ['reverse=', 'reverse'], ['form=a', 'form'], ['gte=%C0', 'gte'], [`cursor=${'x'.repeat(5_000)}`, 'cursor']
    ]
    for (const [query, field] of cases) {
      const reply = await ask(`${url}/v1/range?${query}`)
      assert.equal(reply.status, 400, query)
      assert.equal(reply.json().field, field, query)
    }
    assert.match((await ask(`${url}/v1/range?limt=1`)).json().detail, /did you mean limit\?/)
  })

  it('carry complete, missing, hops, peers and tookMs, and a cursor when cut', async () => {
    const { url, node } = await withLetters()
    assert.deepEqual((await ask(`${url}/v1/range?limit=2&keysOnly=true`)).json(), {
      records: [{ key: 'a', version: '1700000000000-2-ab' }, { key: 'c', version: '1700000000000-4-ab' }],
      returned: 2,
      complete: true,
      missing: [],
      hops: 2,
      peers: 3,
      tookMs: 6,
      cursor: 'after:2'
    })
    node.readEnd = { complete: false, missing: [{ from: Uint8Array.of(0x6b), to: undefined, peer: 'p3', reason: 'silent' }, { from: Uint8Array.of(0xff, 0), to: Uint8Array.of(0xff, 1), peer: undefined, reason: 'lost' }] }
    const partial = await ask(`${url}/v1/range`)
    assert.equal(partial.status, 200)
    assert.equal(partial.json().complete, false)
    assert.deepEqual(partial.json().missing, [{ from: 'k', to: null, peer: 'p3', reason: 'silent' }, { from: '0xff00', to: '0xff01', peer: null, reason: 'lost' }])
  })

  it('come as NDJSON with the end as last line, and have no bound of rows there', async () => {
    const { url } = await startServer({ limits: { pageRowsMax: 3 } })
    await batch(url, Array.from({ length: 10 }, (_, at) => ({ key: `k${at}`, value: { at } })))
    const reply = await ask(`${url}/v1/range`, ndjson)
    assert.equal(reply.headers['content-type'], 'application/x-ndjson; charset=utf-8')
    const lines = reply.text.trim().split('\n').map(line => JSON.parse(line))
    assert.deepEqual(lines.slice(0, -1).map(line => line.value.at), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    assert.deepEqual(lines.at(-1), { end: { returned: 10, complete: true, missing: [], hops: 2, peers: 3, tookMs: 6 } })
    const page = (await ask(`${url}/v1/range`)).json()
    assert.equal(page.returned, 3)
    assert.equal(page.cursor, 'after:3')
  })

  it('stream answers of many chunks whole, in JSON and in NDJSON', async () => {
    const { url } = await startServer()
    const value = 'ä'.repeat(1_000)
    for (let from = 0; from < 1_000; from += 500) await batch(url, Array.from({ length: 500 }, (_, at) => ({ key: String(from + at).padStart(4, '0'), value })))
    const lines = (await ask(`${url}/v1/range`, ndjson)).text.trim().split('\n')
    assert.equal(lines.length, 1_001)
    assert.ok(lines.slice(0, -1).every((line, at) => JSON.parse(line).key === String(at).padStart(4, '0') && JSON.parse(line).value === value))
    const page = (await ask(`${url}/v1/range`)).json()
    assert.equal(page.records.length, 1_000)
    assert.equal(page.complete, true)
  })

  it('stop the rows at their source when the client goes away', async () => {
    const node = createFakeNode()
    const closed = new Promise<boolean | undefined>(resolve => {
      node.storage.rangeStream = (_request, options) => ({
        rows: (async function * () {
          try {
            for (;;) {
              yield { key: Uint8Array.of(1), value: new Uint8Array(50_000), contentType: undefined, version: { ms: 1, counter: 2, member: 'ab' }, point: undefined, text: undefined }
              await new Promise(resolve => setImmediate(resolve))
            }
          } finally {
            // the next turn, so that both signs of the end are seen
            setImmediate(() => { resolve(options.signal?.aborted) })
          }
        })(),
        end: new Promise(() => {})
      })
    })
    const { url, server } = await startServer({ node })
    const controller = new AbortController()
    const response = await fetch(`${url}/v1/range`, { headers: { accept: 'application/x-ndjson' }, signal: controller.signal })
    await response.body?.getReader().read()
    assert.equal(server.gate.runningCount, 1)
    controller.abort()
    assert.equal(await closed, true)
    assert.equal(server.gate.runningCount, 0)
  })

  it('break off visibly when rows fail after the first were sent, and have a status when they fail at once', async () => {
    const node = createFakeNode()
    const failing = (rowsBefore: number) => () => ({
      rows: (async function * () {
        for (let at = 0; at < rowsBefore; at++) yield { key: Uint8Array.of(1), value: new Uint8Array(50_000), contentType: undefined, version: { ms: 1, counter: 2, member: 'ab' }, point: undefined, text: undefined }
        throw Object.assign(new Error('cursor: of another query'), { name: 'InvalidRequestError', field: 'cursor' })
      })(),
      end: Promise.reject(new Error('never heard'))
    })
    const { url, server } = await startServer({ node })
    node.storage.rangeStream = failing(0)
    const refused = await ask(`${url}/v1/range?cursor=x`)
    assert.equal(refused.status, 400)
    assert.equal(refused.json().field, 'cursor')
    node.storage.rangeStream = failing(5)
    await assert.rejects(async () => await (await fetch(`${url}/v1/range`, ndjson)).text())
    assert.equal(server.gate.runningCount, 0)
  })

  it('answer 406 with what is on offer to a client that wants something else', async () => {
    const { url } = await withLetters()
    const reply = await ask(`${url}/v1/range`, { headers: { accept: 'text/csv' } })
    assert.equal(reply.status, 406)
    assert.match(reply.json().detail, /application\/x-ndjson/)
    assert.equal((await ask(`${url}/v1/range`, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })).headers['content-type'], 'application/json; charset=utf-8')
    assert.equal((await ask(`${url}/v1/range`, { headers: { accept: 'application/json;q=0.5, application/x-ndjson' } })).headers['content-type'], 'application/x-ndjson; charset=utf-8')
  })
})

describe('finds over HTTP', () => {
  afterEach(stopServers)

  const keysOf = (reply: { json (): any }): string[] => reply.json().records.map((record: { key: string }) => record.key)

  it('understand boxes that cross the antimeridian, circles and polygons', async () => {
    const { url } = await withPlaces()
    assert.deepEqual(keysOf(await ask(`${url}/v1/find?bbox=170,-10,-170,10`)), ['a', 'b'])
    assert.deepEqual(keysOf(await ask(`${url}/v1/find?bbox=-180,-90,180,90`)), ['a', 'b', 'c', 'pole'])
    assert.deepEqual(keysOf(await ask(`${url}/v1/find?circle=179.9,0,50000`)), ['a'])
    const post = async (body: object) => await ask(`${url}/v1/find`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    const ring = [[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]
    assert.deepEqual(keysOf(await post({ polygon: { type: 'Polygon', coordinates: [ring] } })), ['c'])
    assert.deepEqual(keysOf(await post({ polygon: [ring], words: [] })), ['c'])
    assert.deepEqual(keysOf(await post({ bbox: [170, -10, -170, 10], words: ['west'], limit: 5 })), ['b'])
    assert.equal((await post({ bbox: [170, -10, -170, 10], count: true })).json().count, 2)
  })

  it('ask for all words or any, by the word rule', async () => {
    const { url } = await withPlaces()
    const world = 'bbox=-180,-90,180,90'
    assert.deepEqual(keysOf(await ask(`${url}/v1/find?${world}&words=FIJI`)), ['a', 'b'])
    assert.deepEqual(keysOf(await ask(`${url}/v1/find?${world}&words=fiji,west`)), ['b'])
    assert.deepEqual(keysOf(await ask(`${url}/v1/find?${world}&words=island,west&match=any`)), ['b', 'c'])
    assert.deepEqual(keysOf(await ask(`${url}/v1/find?${world}&words=constructor`)), [])
    assert.deepEqual((await ask(`${url}/v1/find?${world}&count=true`)).json(), { count: 4, complete: true, missing: [], hops: 2, peers: 3, tookMs: 6 })
  })

  it('are refused with the field when they cannot be meant', async () => {
    const { url } = await withPlaces()
    const cases: Array<[string, string]> = [
      ['', 'bbox'], ['bbox=', 'bbox'], ['bbox=1,2,3', 'bbox'], ['bbox=1,2,3,', 'bbox'], ['bbox=a,b,c,d', 'bbox'], ['bbox=1,2,3,4,5', 'bbox'], ['bbox= 1,2,3,4', 'bbox'],
      ['bbox=-207.2,-14.6,-36.2,75', 'bbox.west'], ['bbox=0,10,10,0', 'bbox.south'], ['bbox=0,0,10,91', 'bbox.north'], ['bbox=1e999,0,10,10', 'bbox.west'],
      ['circle=0,0,-5', 'circle.radiusMeters'], ['circle=0,0', 'circle'], ['circle=0,95,1', 'circle.center[1]'], ['bbox=0,0,1,1&circle=0,0,1', 'circle'],
      ['bbox=0,0,1,1&words=', 'words'], ['bbox=0,0,1,1&words=%20%20', 'words'], ['bbox=0,0,1,1&words=!!!', 'words'], ['bbox=0,0,1,1&words=a,,b', 'words'],
      ['bbox=0,0,1,1&match=some', 'match'], ['bbox=0,0,1,1&limit=-1', 'limit'], ['bbox=0,0,1,1&collection=kv', 'collection'], ['box=0,0,1,1', 'box'], ['bbox=0,0,1,1&polygon=x', 'polygon']
    ]
    for (const [query, field] of cases) {
      const reply = await ask(`${url}/v1/find?${query.replaceAll(' ', '%20')}`)
      assert.equal(reply.status, 400, query)
      assert.equal(reply.json().field, field, `${query}: ${reply.text}`)
    }
    const bodies: Array<[string, string]> = [
      ['{', 'body'], ['{}', 'bbox'], ['{"bbox":[1,2,3]}', 'bbox'], ['{"bbox":["1",2,3,4]}', 'bbox.west'], ['{"bbox":[1e999,2,3,4]}', 'bbox.west'], ['{"bbox":[0,0,1,1],"words":"a"}', 'words'], ['{"bbox":[0,0,1,1],"words":[""]}', 'words'], ['{"bbox":[0,0,1,1],"words":["!!!"]}', 'words'],
      ['{"bbox":[0,0,1,1],"limit":"5"}', 'limit'], ['{"bbox":[0,0,1,1],"wrods":[]}', 'wrods'], ['{"polygon":[[[0,0],[1,1],[0,0]]]}', 'polygon[0]'], ['{"polygon":{"type":"Point"}}', 'polygon'], ['{"polygon":[[[0,0],[1,0],[1,91],[0,0]]]}', 'polygon[0][2][1]']
    ]
    for (const [body, field] of bodies) {
      const reply = await ask(`${url}/v1/find`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      assert.equal(reply.status, 400, body)
      assert.equal(reply.json().field, field, `${body}: ${reply.text}`)
    }
    assert.equal((await ask(`${url}/v1/find`, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{}' })).status, 415)
    const unknown = await ask(`${url}/v1/find`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"box":[0,0,1,1]}' })
    assert.equal(unknown.json().detail, 'unknown field "box"; known are collection, words, match, limit, cursor, count, deadlineMs, bbox, circle, polygon, as in {"bbox": [165, 50, -165, 60], "words": ["alaska"]}; did you mean bbox?')
    assert.equal((await ask(`${url}/v1/find?bbox=0,0,1,1&collection=none`)).status, 404)
  })

  it('give a FeatureCollection of features with id, place and properties', async () => {
    const { url } = await withPlaces()
    const reply = await ask(`${url}/v1/find?bbox=170,-10,-170,10`, geojson)
    assert.equal(reply.headers['content-type'], 'application/geo+json')
    assert.deepEqual(reply.json(), {
      type: 'FeatureCollection',
      features: [
        { type: 'Feature', id: 'a', geometry: { type: 'Point', coordinates: [179.5, 0] }, properties: { mag: 1 }, version: '1700000000000-2-ab' },
        { type: 'Feature', id: 'b', geometry: { type: 'Point', coordinates: [-179.5, 0] }, properties: { value: 'plain', text: 'Fiji west' }, version: '1700000000000-4-ab' }
      ],
      numberReturned: 2,
      links: [],
      complete: true,
      missing: [],
      hops: 2,
      peers: 3,
      tookMs: 6
    })
  })

  it('link to the next page of features with the same query and the cursor', async () => {
    const { url } = await withPlaces()
    const page = (await ask(`${url}/v1/find?bbox=-180,-90,180,90&limit=1&words=fiji`, geojson)).json()
    assert.equal(page.numberReturned, 1)
    const next = new URL(page.links[0].href)
    assert.equal(page.links[0].rel, 'next')
    assert.equal(next.origin, url)
    assert.deepEqual(Object.fromEntries(next.searchParams), { bbox: '-180,-90,180,90', limit: '1', words: 'fiji', cursor: 'after:1' })
  })

  it('give back a stored Feature with its own geometry and properties, also as a text sequence', async () => {
    const { url } = await startServer()
    const feature = { type: 'Feature', geometry: { type: 'Point', coordinates: [178.3, 51.9, 12.5] }, properties: { mag: 4.5, place: 'Little Sitkin, Alaska' } }
    await ask(`${url}/v1/objects?key=q1`, { method: 'PUT', headers: { 'content-type': 'application/geo+json' }, body: JSON.stringify(feature) })
    const sequence = await ask(`${url}/v1/find?bbox=165,50,-165,60&words=alaska`, { headers: { accept: 'application/geo+json-seq' } })
    const texts = sequence.text.split('\x1e').slice(1).map(text => JSON.parse(text))
    assert.ok(sequence.text.startsWith('\x1e') && sequence.text.endsWith('\n'))
    assert.deepEqual(texts[0], { ...feature, id: 'q1', version: '1700000000000-2-ab' })
    assert.equal(texts[1].type, 'FeatureCollection')
    assert.equal(texts[1].complete, true)
    assert.equal(texts[1].numberReturned, 1)
    assert.equal((await ask(`${url}/v1/objects?key=q1&collection=places`)).text, JSON.stringify(feature))
    assert.deepEqual((await ask(`${url}/v1/objects?key=q1&collection=places`, geojson)).json(), { ...feature, id: 'q1', version: '1700000000000-2-ab' })
  })
})
