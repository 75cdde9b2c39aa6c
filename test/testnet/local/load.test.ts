// Filling a ring: against servers of our own that refuse, break off or fail, what must come out is counted by hand.

import assert from 'node:assert/strict'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { load, type Loaded } from '../../../testnet/local/load.ts'

type Row = { key: string }
/** What a server does with the rows of its n-th batch. */
type Behavior = (rows: Row[], batch: number, response: ServerResponse) => void

const result = (line: number, status: number, detail?: string): string => JSON.stringify({ line, status, detail }) + '\n'
const end = '{"end":{}}\n'

describe('loading rows', () => {
  const servers: Server[] = []
  /** Keys that any server took, in order. */
  let taken: string[]

  beforeEach(() => { taken = [] })
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      await new Promise(resolve => { server.close(resolve) })
    }
  })

  const takeAll: Behavior = (rows, _batch, response) => {
    taken.push(...rows.map(row => row.key))
    response.end(rows.map((_, at) => result(at + 1, 201)).join('') + end)
  }

  async function peer (behavior: Behavior): Promise<string> {
    let batches = 0
    const server = createServer((request, response) => {
      let body = ''
      request.on('data', chunk => { body += String(chunk) })
      request.on('end', () => { behavior(body.trim().split('\n').map(line => JSON.parse(line) as Row), batches++, response) })
    })
    servers.push(server)
    await new Promise<void>(resolve => { server.listen(0, '127.0.0.1', resolve) })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  async function * rows (count: number): AsyncGenerator<Row> {
    for (let at = 0; at < count; at++) yield { key: `row ${at}` }
  }

  async function run (rpcs: string[], count: number): Promise<Loaded & { progress: number }> {
    let progress = 0
    const loaded = await load({ rows: rows(count), collection: 'kv', rpcs, signal: new AbortController().signal, onProgress: rows => { progress += rows } })
    return { ...loaded, progress }
  }

  it('stores each once through all peers', async () => {
    const rpcs = await Promise.all([peer(takeAll), peer(takeAll)])
    assert.deepEqual(await run(rpcs, 2_345), { stored: 2_345, failed: 0, problems: [], progress: 2_345 })
    assert.equal(new Set(taken).size, 2_345)
    assert.equal(taken.length, 2_345)
  })

  it('reads each answer to its end, so that no connection is lost over it', async () => {
    let lost = 0
    const rpc = await peer((rows, _batch, response) => {
      response.once('close', () => { if (!response.writableFinished) lost++ })
      taken.push(...rows.map(row => row.key))
      response.write(rows.map((_, at) => result(at + 1, 201)).join('') + end)
      // The end of the answer comes after the last line of it, as it does from a daemon that is busy.
      let turns = 0
      const later = (): void => {
        if (++turns < 100) setImmediate(later)
        else response.end()
      }
      later()
    })
    assert.equal((await run([rpc], 1_200)).stored, 1_200)
    assert.equal(lost, 0)
  })

  it('sends again only what was refused with 503', async () => {
    const rpc = await peer((rows, batch, response) => {
      if (batch > 0) {
        takeAll(rows, batch, response)
        return
      }
      taken.push('row 0', 'row 2')
      response.end(result(1, 201) + result(2, 503) + result(3, 201) + end)
    })
    assert.deepEqual(await run([rpc], 3), { stored: 3, failed: 0, problems: [], progress: 3 })
    assert.deepEqual(taken, ['row 0', 'row 2', 'row 1'])
  })

  it('sends again what an answer that ended early did not speak of', async () => {
    const rpc = await peer((rows, batch, response) => {
      if (batch === 0) response.end(result(1, 201))
      else takeAll(rows, batch, response)
    })
    assert.equal((await run([rpc], 3)).stored, 3)
    assert.deepEqual(taken, ['row 1', 'row 2'])
  })

  it('leaves the batch of a peer that fails to the next', async () => {
    const broken = await peer((_rows, _batch, response) => { response.writeHead(503).end() })
    const rpcs = [broken, await peer(takeAll)]
    assert.equal((await run(rpcs, 1_200)).stored, 1_200)
    assert.equal(new Set(taken).size, 1_200)
  })

  it('counts all other refusals, shows the first, and does not repeat them', async () => {
    const rpc = await peer((rows, _batch, response) => {
      response.end(rows.map((_, at) => result(at + 1, at % 2 === 0 ? 201 : 400, 'point: is wrong')).join('') + end)
    })
    assert.deepEqual(await run([rpc], 10), { stored: 5, failed: 5, problems: ['point: is wrong', 'point: is wrong', 'point: is wrong'], progress: 5 })
  })

  it('ends when it is told to', async () => {
    const controller = new AbortController()
    const rpc = await peer((_rows, _batch, response) => {
      controller.abort(new Error('enough'))
      response.writeHead(503).end()
    })
    await assert.rejects(load({ rows: rows(1), collection: 'kv', rpcs: [rpc], signal: controller.signal, onProgress: () => {} }), /enough|abort/i)
  })
})
