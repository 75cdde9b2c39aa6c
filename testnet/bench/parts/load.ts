// The load generator, in a process of its own: a fixed number of requests in flight on as many connections, for a time;
// or long answers read to their end; or batches. It counts and checks what comes back, and tells how long it took.

import { Agent, request as startRequest, type IncomingMessage } from 'node:http'
import { loopback } from '../../local/ports.ts'
import type { Tasks } from '../part.ts'
import { HttpConnection, requestBytes, type Form } from './http-connection.ts'

/** How long a task goes on: until both are reached. */
export interface Span {
  readonly ms: number
  readonly count: number
}

export interface Target {
  readonly port: number
  readonly paths: readonly string[]
}

export interface RateInput extends Form {
  readonly targets: readonly Target[]
  readonly inFlight: number
  readonly span: Span
}

export interface RowsInput {
  readonly port: number
  readonly path: string
  readonly rows: number
  readonly span: Span
}

export interface BatchInput {
  readonly ports: readonly number[]
  readonly path: string
  readonly lines: readonly string[]
  readonly span: Span
}

/** How many operations in how many milliseconds. */
export interface Done {
  readonly count: number
  readonly ms: number
}

const agent = new Agent({ keepAlive: true })

/** Answers a second to requests that go round the paths of each target, connections spread evenly over the targets. */
async function rate ({ targets, inFlight, span, ...form }: RateInput): Promise<Done> {
  const ready = targets.map(({ port, paths }) => ({ port, requests: paths.map(path => requestBytes(port, path, form)) }))
  const connections = Array.from({ length: inFlight }, (_, at) => new HttpConnection(ready[at % ready.length]!.port))
  let count = 0
  const startMs = performance.now()
  const work = async (connection: HttpConnection, at: number): Promise<void> => {
    const { requests } = ready[at % ready.length]!
    // Each connection begins elsewhere, so that no key is asked for by two at the same time.
    for (let next = Math.floor(at * requests.length / inFlight); count < span.count || performance.now() - startMs < span.ms; next++) {
      const { status, head } = await connection.send(requests[next % requests.length]!)
      if (status >= 300) throw new Error(`${form.method} got ${head.split('\r\n', 1)[0]}`)
      count++
    }
  }
  try {
    await Promise.all(connections.map(work))
    return { count, ms: performance.now() - startMs }
  } finally {
    for (const connection of connections) connection.close()
  }
}

/** Hops of one answer each, by path. */
async function hops ({ port, paths }: Target): Promise<number[]> {
  const connection = new HttpConnection(port)
  try {
    const found: number[] = []
    for (const path of paths) {
      const { head } = await connection.send(requestBytes(port, path, { method: 'GET' }))
      found.push(Number(/x-isobar-hops: (\d+)/i.exec(head)?.[1] ?? NaN))
    }
    return found
  } finally {
    connection.close()
  }
}

/** Rows of NDJSON answers that are read one after the other; each must hold all rows. */
async function rows ({ port, path, rows, span }: RowsInput): Promise<Done> {
  const startMs = performance.now()
  let count = 0
  do {
    const response = await ask(port, path, { method: 'GET', headers: { accept: 'application/x-ndjson' } })
    const got = await lineCount(response) - 1
    if (response.statusCode !== 200 || got !== rows) throw new Error(`${path} gave status ${response.statusCode} and ${got} rows, not ${rows}`)
    count += got
  } while (count < span.count || performance.now() - startMs < span.ms)
  return { count, ms: performance.now() - startMs }
}

/** Lines that batches stored, one batch at a time to each port. */
async function batches ({ ports, path, lines, span }: BatchInput): Promise<Done> {
  const body = Buffer.from(lines.join('\n') + '\n')
  const startMs = performance.now()
  let count = 0
  const work = async (port: number): Promise<void> => {
    do {
      const response = await ask(port, path, { method: 'POST', headers: { 'content-type': 'application/x-ndjson' } }, body)
      const end = (await lastLineOf(response) as { end?: { lines: number, failed: number } }).end
      if (end?.lines !== lines.length || end.failed > 0) throw new Error(`a batch of ${lines.length} lines ended with ${JSON.stringify(end)}`)
      count += end.lines
    } while (count < span.count || performance.now() - startMs < span.ms)
  }
  await Promise.all(ports.map(work))
  return { count, ms: performance.now() - startMs }
}

async function ask (port: number, path: string, options: object, body?: Buffer): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    startRequest({ host: loopback, port, path, agent, ...options }, resolve).once('error', reject).end(body)
  })
}

async function lineCount (response: IncomingMessage): Promise<number> {
  const lineFeed = 10
  let lines = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1)) lines++
  }
  return lines
}

async function lastLineOf (response: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString().trimEnd()
  return JSON.parse(text.slice(text.lastIndexOf('\n') + 1)) as unknown
}

export const tasks = { rate, hops, rows, batches } satisfies Tasks
