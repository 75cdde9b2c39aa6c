// `isobar status`, `peers`, `ranges`: this peer, all peers, and who owns what in key order.

import type { Command } from 'commander'
import { bytesText } from '../disk-space.ts'
import { clientFor, examples, exits, withRpc, type Context } from './context.ts'
import { exitCodes } from './failure.ts'
import { formFor, outputOption, tableOr } from './output.ts'
import type { RpcOptions } from './rpc-address.ts'
import { shortId, table, thousands } from './table.ts'

type Options = RpcOptions & { output?: string }

interface Bound { collection?: string, key: string, hex: string }
interface IntervalFields { low: Bound | null, high: Bound | null }
interface Spatial { collection: string, bbox: number[], share: number }
interface Row {
  peerId: string
  addresses?: string[]
  rpc: string | null
  interval: IntervalFields
  spatial: Spatial[]
  records: number
  loadPerSecond: number
  state: string
  rttMs?: number | null
}
interface Status extends Omit<Row, 'interval' | 'rpc'> {
  version: string
  uptimeMs: number
  levels: number
  /** Null in memory. */
  disk?: { state: string, reason: string | null, freeBytes?: number, totalBytes?: number } | null
  pieces: Array<{ interval: IntervalFields, members: string[] }>
}

const barWidth = 8

export function statusCommands (program: Command, context: Context): void {
  const { io } = context
  const reads = (name: string, description: string): Command => outputOption(withRpc(program.command(name).description(description)), ['table', 'json'], tableOr('json'))
  const status = reads('status', 'this peer: state, keys, box, records, load')
  status.action(exits(context, async (options: Options) => {
    const answer = await clientFor(options, context).json<Status>('/v1/status')
    io.stdout.write(formFor(options.output, io, 'json') === 'table' ? statusText(answer) : json(answer))
  }))
  examples(status, 'isobar status --rpc :7703')

  const peers = reads('peers', 'all peers in key order')
  peers.action(exits(context, async (options: Options) => {
    const answer = await clientFor(options, context).json<{ peers: Row[], complete: boolean }>('/v1/peers')
    io.stdout.write(formFor(options.output, io, 'json') === 'table' ? peersTable(answer.peers) : json(answer))
    return codeOf(answer.complete, context)
  }))
  examples(peers, 'isobar peers -o json | jq .peers[].rpc')

  const ranges = reads('ranges', 'the whole ring in key order: who owns what, with how much load')
  ranges.action(exits(context, async (options: Options) => {
    const answer = await clientFor(options, context).json<{ ranges: Row[], complete: boolean }>('/v1/ranges')
    io.stdout.write(formFor(options.output, io, 'json') === 'table' ? rangesTable(answer.ranges) : json(answer))
    return codeOf(answer.complete, context)
  }))
  examples(ranges, 'isobar ranges')
}

function codeOf (complete: boolean, { io }: Context): number {
  if (complete) return exitCodes.done
  io.stderr.write('isobar: partial answer: for some keys no owner answers\n')
  return exitCodes.partial
}

function statusText (status: Status): string {
  const rows = [
    ['peer', status.peerId],
    ['state', status.state],
    ['keys', status.pieces.map(piece => intervalText(piece.interval)).join(' ')],
    ['box', spatialText(status.spatial)],
    ['records', thousands(status.records)],
    ['load', `${status.loadPerSecond.toFixed(1)}/s`],
    ...(status.disk == null ? [] : [['disk', diskText(status.disk)]]),
    ['uptime', `${Math.round(status.uptimeMs / 1_000)} s`],
    ['addresses', (status.addresses ?? []).join(' ')],
    ['version', status.version]
  ]
  return rows.map(([name = '', value = '']) => `${name.padEnd(10)} ${value}\n`).join('')
}

function diskText ({ state, reason, freeBytes, totalBytes }: NonNullable<Status['disk']>): string {
  const room = freeBytes === undefined || totalBytes === undefined ? [] : [`${bytesText(freeBytes)} of ${bytesText(totalBytes)} free`]
  return [...state === 'ok' ? [] : [state], ...room, ...reason === null ? [] : [reason]].join('; ') || state
}

/** Below tables that have both columns, which seem to belong together. */
export const recordsNote = 'RECORDS: keys and ids that a peer keeps. Ids lie by their hash, not by place; how many objects are in a BOX tells isobar find --bbox BOX --count\n'

function peersTable (peers: readonly Row[]): string {
  return recordsNoted(peers, table(
    [{ title: '#', align: 'right' }, { title: 'PEER' }, { title: 'RPC' }, { title: 'STATE' }, { title: 'KEYS' }, { title: 'BOX' }, { title: 'RECORDS', align: 'right' }, { title: 'LOAD/s', align: 'right' }, { title: 'RTT', align: 'right' }],
    peers.map((peer, at) => [String(at + 1), shortId(peer.peerId), peer.rpc ?? '-', peer.state, intervalText(peer.interval), spatialText(peer.spatial), thousands(peer.records), peer.loadPerSecond.toFixed(1), peer.rttMs == null ? '-' : `${peer.rttMs.toFixed(1)} ms`])))
}

function rangesTable (ranges: readonly Row[]): string {
  const most = Math.max(...ranges.map(range => range.loadPerSecond), Number.MIN_VALUE)
  return recordsNoted(ranges, table(
    [{ title: 'KEYS' }, { title: 'PEER' }, { title: 'BOX' }, { title: 'RECORDS', align: 'right' }, { title: 'LOAD/s', align: 'right' }, { title: '' }],
    ranges.map(range => [intervalText(range.interval), shortId(range.peerId), spatialText(range.spatial), thousands(range.records), range.loadPerSecond.toFixed(1), '█'.repeat(Math.round(range.loadPerSecond / most * barWidth))])))
}

function recordsNoted (rows: readonly Row[], text: string): string {
  return rows.some(({ spatial }) => spatial.length > 0) ? text + recordsNote : text
}

/** `[-inf, kv/moon)` */
export function intervalText ({ low, high }: IntervalFields): string {
  return `[${low === null ? '-inf' : boundText(low)}, ${high === null ? '+inf' : boundText(high)})`
}

/** A place on the curve is bytes that nobody can read: then the digits that tell it apart. */
function boundText ({ collection, key, hex }: Bound): string {
  const prefix = collection === undefined ? '' : `${collection}/`
  if (!/[\p{Cc}\p{Cf}]/u.test(key) && !key.startsWith('0x')) return prefix + key
  const digits = hex.slice(collection === undefined ? 0 : 2 * (new TextEncoder().encode(collection).length + 1))
  return `${prefix}0x${digits.replace(/(?:00)+$/, '')}`
}

function spatialText (parts: readonly Spatial[]): string {
  return parts.map(({ collection, bbox, share }) => `${collection === 'places' ? '' : `${collection} `}${bbox.map(side => Number(side.toFixed(2))).join(',')} (${(share * 100).toFixed(1)}%)`).join(' ') || '-'
}

function json (answer: unknown): string {
  return JSON.stringify(answer) + '\n'
}
