// What real daemons serve by HTTP, one alone and four in a ring: gets, puts (each flushed), batches, range rows, find rows;
// and in the same run, in turn with them, the ceilings of the machine: an empty Fastify handler, LevelDB scanned raw and
// scanned with JSON made of each row, one libp2p stream with frames of a get, and the load generator against a bare socket.
// `…Ratio` is a rate over its ceiling by the wall clock, which other programs disturb; `…CpuRatio` the same by processor
// time an operation of all serving processes. Four daemons share the cores with each other and with the generator.

import { join } from 'node:path'
import { Random } from '../simulator/random.ts'
import type { BenchOptions, BenchResult } from './bench.ts'
import { Daemons } from './daemons.ts'
import { Part } from './part.ts'
import type { BatchInput, Done, RateInput, RowsInput, Span, Target } from './parts/load.ts'
import type { Form } from './parts/http-connection.ts'
import { measureInTurn, type Measured, type RoundsInit, type Subject } from './rounds.ts'
import { rounded } from './statistics.ts'

const seed = 7
const inFlight = 64
const valueBytes = 200
const daemonCounts = [1, 4]
/** Keys that requests go round. */
const askedKeys = 2_000
/** Of a get between nodes, for the raw stream: key and envelope, value and envelope (see the golden bytes of storage and overlay). */
const frame = { requestBytes: 60, replyBytes: 400 }

interface Size {
  readonly ordered: number
  readonly located: number
  readonly batchLines: number
  readonly rounds: number
  readonly forMs: number
  /** For each daemon of a ring. */
  readonly warmUp: Span
}

const full: Size = { ordered: 100_000, located: 50_000, batchLines: 5_000, rounds: 7, forMs: 1_500, warmUp: { ms: 1_500, count: 20_000 } }
const quickly: Size = { ordered: 12_000, located: 6_000, batchLines: 1_000, rounds: 3, forMs: 200, warmUp: { ms: 200, count: 4_000 } }

/** The processes beside the daemons. */
interface Rivals {
  readonly load: Part
  readonly handler: Part
  readonly scan: Part
  readonly streamEnds: readonly [Part, Part]
}

interface Stage {
  readonly daemons: Daemons
  readonly rivals: Rivals
  readonly size: Size
  readonly keys: readonly string[]
  readonly value: string
}

export async function run ({ quick, progress }: BenchOptions): Promise<BenchResult> {
  const size = quick ? quickly : full
  const random = new Random(seed, 'serve')
  const keys = Array.from({ length: size.ordered }, () => randomKey(random))
  const value = Array.from({ length: valueBytes }, () => (random.uint32() % 36).toString(36)).join('')
  const daemons = new Daemons()
  const rivals: Rivals = { load: new Part('load'), handler: new Part('handler'), scan: new Part('scan'), streamEnds: [new Part('stream'), new Part('stream')] }
  try {
    const stage: Stage = { daemons, rivals, size, keys, value }
    progress(`serve: one daemon with ${size.ordered} records and ${size.located} located ones of ${valueBytes} bytes`)
    await daemons.growTo(1)
    await fill(stage, random)
    const ceilings = await ceilingsOf(stage)
    const rows = []
    for (const count of daemonCounts) {
      await daemons.growTo(count)
      rows.push(await measure(stage, ceilings, { rounds: size.rounds, forMs: size.forMs, warmUp: { ms: size.warmUp.ms, count: size.warmUp.count * count }, progress: line => { progress(`serve: ${count} daemons${line}`) } }))
    }
    return { setup: { seed, inFlight, valueBytes, frame, ...size }, rows }
  } finally {
    await Promise.all([daemons.stop(), ...[rivals.load, rivals.handler, rivals.scan, ...rivals.streamEnds].map(async part => { await part.stop() })])
  }
}

function randomKey (random: Random): string {
  return Array.from({ length: 2 }, () => random.uint32().toString(16).padStart(8, '0')).join('')
}

async function fill ({ daemons, rivals, keys, value, size }: Stage, random: Random): Promise<void> {
  const ports = daemons.ports.slice(0, 1)
  const located = Array.from({ length: size.located }, (_, at) => JSON.stringify({ key: `object-${at}`, value, point: [random.next() * 360 - 180, random.next() * 180 - 90] }))
  await rivals.load.ask<Done>('batches', { ports, path: '/v1/objects:batch', lines: linesOf(keys, value), span: { ms: 0, count: 1 } } satisfies BatchInput)
  await rivals.load.ask<Done>('batches', { ports, path: '/v1/objects:batch?collection=places', lines: located, span: { ms: 0, count: 1 } } satisfies BatchInput)
  await rivals.scan.ask('fill', { directory: join(daemons.folder, 'scan'), keys, value })
}

function linesOf (keys: readonly string[], value: string): string[] {
  return keys.map(key => JSON.stringify({ key, value }))
}

/** The rivals, as subjects of the rounds. */
async function ceilingsOf ({ rivals, keys, value }: Stage): Promise<readonly Subject[]> {
  const { handler, scan, streamEnds: [answering, calling] } = rivals
  const [empty, bare] = [await handler.ask<number>('fastify', { value }), await handler.ask<number>('bare', { value })]
  const contact = await answering.ask('listen', { replyBytes: frame.replyBytes })
  const asked = keys.slice(0, askedKeys)
  return [
    requests(rivals, 'generator', [handler.pid], [{ port: bare, paths: asked.map(pathOf) }], { method: 'GET' }),
    requests(rivals, 'emptyGet', [handler.pid], [{ port: empty, paths: asked.map(pathOf) }], { method: 'GET' }),
    requests(rivals, 'emptyPut', [handler.pid], [{ port: empty, paths: asked.map(pathOf) }], putForm(value)),
    { name: 'scan', pids: [scan.pid], run: async span => await scan.ask('scan', { span }) },
    { name: 'scanJson', pids: [scan.pid], run: async span => await scan.ask('scanJson', { span }) },
    { name: 'stream', pids: [answering.pid, calling.pid], run: async span => await calling.ask('calls', { contact, requestBytes: frame.requestBytes, inFlight, span }) }
  ]
}

function putForm (body: string): Form {
  return { method: 'PUT', contentType: 'text/plain', body }
}

function requests ({ load }: Rivals, name: string, pids: readonly number[], targets: readonly Target[], form: Form): Subject {
  return { name, pids, run: async span => await load.ask('rate', { targets, inFlight, span, ...form } satisfies RateInput) }
}

function pathOf (key: string): string {
  return `/v1/objects?key=${key}`
}

async function measure (stage: Stage, ceilings: readonly Subject[], init: RoundsInit): Promise<Record<string, unknown>> {
  const { owned, others } = await targetsOf(stage)
  const measured = await measureInTurn([...ceilings, ...daemonSubjects(stage, owned, others)], init)
  const rate = (name: string): number | undefined => whole(measured.get(name)?.perS)
  return {
    daemons: stage.daemons.peers.length,
    owners: owned.length,
    ...against('get', measured.get('get'), measured.get('emptyGet')),
    ...against('remoteGet', measured.get('remoteGet'), measured.get('emptyGet')),
    ...against('put', measured.get('put'), measured.get('emptyPut')),
    ...against('batchPut', measured.get('batchPut'), measured.get('emptyPut')),
    ...against('rangeRows', measured.get('rangeRows'), measured.get('scanJson')),
    ...against('findRows', measured.get('findRows'), measured.get('scanJson')),
    emptyGetPerS: rate('emptyGet'),
    emptyPutPerS: rate('emptyPut'),
    scanRowsPerS: rate('scan'),
    scanJsonRowsPerS: rate('scanJson'),
    streamCallsPerS: rate('stream'),
    generatorPerS: rate('generator')
  }
}

/** The keys that each daemon owns, asked of it, and asked of the next daemon that owns some or none. */
async function targetsOf ({ daemons, rivals, keys }: Stage): Promise<{ owned: Target[], others: Target[] }> {
  const asked = keys.slice(0, askedKeys).map(pathOf)
  const found = await Promise.all(daemons.ports.map(async port => await rivals.load.ask<number[]>('hops', { port, paths: asked } satisfies Target)))
  const targets = daemons.ports.map((port, daemon) => ({ port, paths: asked.filter((_, at) => found[daemon]![at] === 0) }))
  const others = daemons.ports.map((port, daemon) => ({ port, paths: targets[(daemon + 1) % targets.length]!.paths }))
  return {
    owned: targets.filter(({ paths }) => paths.length > 0),
    others: daemons.ports.length === 1 ? [] : others.filter(({ paths }) => paths.length > 0)
  }
}

function daemonSubjects ({ daemons, rivals, size, keys, value }: Stage, owned: readonly Target[], others: readonly Target[]): Subject[] {
  const { pids, ports } = daemons
  const port = ports[0]!
  const lines = linesOf(keys.slice(0, size.batchLines), value)
  const read = (name: string, path: string, rows: number): Subject => ({ name, pids, run: async span => await rivals.load.ask('rows', { port, path, rows, span } satisfies RowsInput) })
  return [
    requests(rivals, 'get', pids, owned, { method: 'GET' }),
    ...(others.length === 0 ? [] : [requests(rivals, 'remoteGet', pids, others, { method: 'GET' })]),
    requests(rivals, 'put', pids, owned, putForm(value)),
    { name: 'batchPut', pids, run: async span => await rivals.load.ask('batches', { ports, path: '/v1/objects:batch', lines, span } satisfies BatchInput) },
    read('rangeRows', '/v1/range', size.ordered),
    read('findRows', '/v1/find?bbox=-180,-90,180,90', size.located)
  ]
}

/** A rate, and what it is of its ceiling. */
function against (name: string, subject: Measured | undefined, ceiling: Measured | undefined): Record<string, unknown> {
  const stem = name.replace(/Rows$/, '')
  const share = (value: number): number | null => Number.isFinite(value) ? rounded(value, 3) : null
  if (subject === undefined || ceiling === undefined) return { [`${name}PerS`]: null, [`${stem}Ratio`]: null, [`${stem}CpuRatio`]: null }
  return { [`${name}PerS`]: whole(subject.perS), [`${stem}Ratio`]: share(subject.perS / ceiling.perS), [`${stem}CpuRatio`]: share(ceiling.cpuUs / subject.cpuUs) }
}

function whole (value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value)
}
