// An HTTP API over a fake node on a free loopback port, and requests to it. Everything that a test starts here ends
// after it.

import { request } from 'node:http'
import { Registry } from 'prom-client'
import { createHttpServer, type HttpInit, type HttpServer } from '../../../node/http/server.ts'
import { createMetrics } from '../../../node/metrics.ts'
import { createFakeNode, type FakeNode } from '../fake-node.ts'

export interface Started {
  readonly url: string
  readonly node: FakeNode
  readonly server: HttpServer
  /** Lines logged as faults. */
  readonly faults: object[]
}

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  json (): any
}

const running = new Set<HttpServer>()

export async function startServer (init: Partial<HttpInit> = {}): Promise<Started> {
  const node = (init.node ?? createFakeNode()) as FakeNode
  const registry = new Registry()
  const faults: object[] = []
  const log = { debug () {}, info () {}, warn () {}, error: (fields: object) => { faults.push(fields) } }
  const server = await createHttpServer({ node, log, registry, metrics: createMetrics(registry), ...init })
  running.add(server)
  return { url: await server.listen({ host: '127.0.0.1', port: 0 }), node, server, faults }
}

/** To be an afterEach hook of each suite that starts servers. */
export async function stopServers (): Promise<void> {
  await Promise.all([...running].map(async server => { await server.close() }))
  running.clear()
}

export interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** By node:http, which sends path and headers as they are given; fetch would mend them. */
export async function ask (url: string, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Reply> {
  const { hostname, port } = new URL(url)
  const path = url.slice(url.indexOf('/', 'http://'.length))
  return await new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers, agent: false }, response => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(parts).toString('utf8')
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: () => JSON.parse(text) })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

export async function putJson (url: string, query: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
  return await ask(`${url}/v1/objects?${query}`, { method: 'PUT', headers: { 'content-type': 'application/json', ...headers }, body: typeof body === 'string' ? body : JSON.stringify(body) })
}

export async function batch (url: string, lines: ReadonlyArray<object | string>, query = ''): Promise<any[]> {
  const reply = await ask(`${url}/v1/objects:batch${query}`, { method: 'POST', headers: { 'content-type': 'application/x-ndjson' }, body: lines.map(line => typeof line === 'string' ? line : JSON.stringify(line)).join('\n') + '\n' })
  if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`)
  return reply.text.trim().split('\n').map(line => JSON.parse(line) as object)
}
