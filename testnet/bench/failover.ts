// How long keys cannot be read or written when their owner dies, and that nothing acknowledged is lost or goes back: real
// daemons, of which one a round is killed (SIGKILL) or stopped in its tracks (SIGSTOP), while clients read and write every
// key through the others. Beside it the least that could be: how long the system takes to refuse a connection to the dead.

import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PeerProcess } from '../local/peer-process.ts'
import { loopback } from '../local/ports.ts'
import type { BenchOptions, BenchResult } from './bench.ts'
import { Daemons } from './daemons.ts'
import { median, percentile, rounded } from './statistics.ts'

const peersCount = 5
const keysCount = 200
const copies = 3
/** Between two tries of one key. */
const tryMs = 20
/** A request that takes longer has failed: another peer is asked. */
const requestMs = 2_000
const roundMsMax = 60_000

interface Plan { readonly killed: number, readonly silent: number }

const full: Plan = { killed: 8, silent: 4 }
const quickly: Plan = { killed: 3, silent: 1 }

/** What clients know of one key. */
interface KeyState { readonly key: string, acknowledged: number, lost: number, stale: number }

export async function run ({ quick, progress }: BenchOptions): Promise<BenchResult> {
  const plan = quick ? quickly : full
  const daemons = new Daemons()
  const killed: number[] = []
  const silent: number[] = []
  const refusedMs: number[] = []
  try {
    const keys = Array.from({ length: keysCount }, (_, index): KeyState => ({ key: `key-${index}`, acknowledged: 0, lost: 0, stale: 0 }))
    progress(`failover: ${peersCount} daemons with ${keysCount} keys`)
    await daemons.growTo(peersCount)
    for (const state of keys) await until(async () => await write(state, daemons.ports[0]!))
    await whole(daemons.peers)
    for (let round = 0; round < plan.killed + plan.silent; round++) {
      const isKilled = round < plan.killed
      const victim = daemons.peers[1 + round % (peersCount - 1)]!
      progress(`failover: round ${round + 1} of ${plan.killed + plan.silent}, a peer is ${isKilled ? 'killed' : 'stopped'}`)
      const { unavailableMs, refused } = await strike(daemons, victim, keys, isKilled)
      for (const ms of unavailableMs) (isKilled ? killed : silent).push(ms)
      if (refused !== undefined) refusedMs.push(refused)
    }
    const figures = (name: string, values: readonly number[]): Record<string, number | null> => ({
      [`${name}UnavailableMsP50`]: values.length === 0 ? null : rounded(median(values), 0),
      [`${name}UnavailableMsP99`]: values.length === 0 ? null : rounded(percentile(values, 99), 0)
    })
    const row = {
      ...figures('killed', killed),
      ...figures('silent', silent),
      killedKeys: killed.length,
      silentKeys: silent.length,
      lost: sum(keys.map(({ lost }) => lost)),
      stale: sum(keys.map(({ stale }) => stale)),
      refusedMsMedian: refusedMs.length === 0 ? null : rounded(median(refusedMs), 1)
    }
    return { setup: { peers: peersCount, keys: keysCount, tryMs, requestMs, ...plan }, rows: [row] }
  } finally {
    for (const peer of daemons.peers) peer.signal('SIGCONT')
    await daemons.stop()
  }
}

/** For each key that the victim owned: ms from the signal until it was read and written again through another peer. */
async function strike (daemons: Daemons, victim: PeerProcess, keys: readonly KeyState[], isKilled: boolean): Promise<{ unavailableMs: number[], refused: number | undefined }> {
  const others = daemons.peers.filter(peer => peer !== victim).map(peer => peer.init.rpcPort)
  const owned: KeyState[] = []
  for (const state of keys) if (await hopsFrom(victim.init.rpcPort, state.key) === 0) owned.push(state)
  const sinceMs = performance.now()
  victim.signal(isKilled ? 'SIGKILL' : 'SIGSTOP')
  const refused = isKilled ? await untilRefused(victim.init.p2pPort, sinceMs) : undefined
  const unavailableMs = await Promise.all(owned.map(async (state, index) => {
    await until(async () => await read(state, others[index % others.length]!) && await write(state, others[(index + 1) % others.length]!))
    return performance.now() - sinceMs
  }))
  if (!isKilled) {
    victim.signal('SIGCONT')
    // what it says when it wakes must not be older than what others have acknowledged
    await Promise.all(owned.map(async state => { await read(state, victim.init.rpcPort) }))
  } else {
    await daemons.restart(victim)
  }
  await whole(daemons.peers)
  for (const state of keys) await until(async () => await read(state, others[0]!))
  return { unavailableMs, refused }
}

/** Until each peer says that all answer, nothing is missing, and each of its pieces has all its copies. */
async function whole (peers: readonly PeerProcess[]): Promise<void> {
  for (const { init: { rpcPort } } of peers) {
    await until(async () => {
      const answer = await asked(rpcPort, '/v1/status')
      const { pieces = [] } = answer?.ok === true ? await answer.json() as { pieces?: Array<{ members: string[] }> } : {}
      return pieces.length > 0 && pieces.every(({ members }) => members.length === copies)
    })
  }
  for (const { init: { rpcPort } } of peers) {
    await until(async () => {
      const answer = await asked(rpcPort, '/v1/peers')
      const body = answer?.ok === true ? await answer.json() as { complete: boolean, peers: unknown[] } : undefined
      return body?.complete === true && body.peers.length >= peers.length
    })
  }
}

async function until (isDone: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + roundMsMax
  while (!await isDone()) {
    if (performance.now() > endMs) throw new Error(`nothing came of it within ${roundMsMax} ms`)
    await sleep(tryMs)
  }
}

/** False where no answer came. What is older than what was acknowledged before the read began counts as stale, nothing as lost. */
async function read (state: KeyState, port: number): Promise<boolean> {
  const before = state.acknowledged
  const answer = await asked(port, pathOf(state.key))
  if (answer === undefined) return false
  if (answer.status === 404) {
    if (before > 0) state.lost++
    return true
  }
  if (!answer.ok) return false
  if (Number(await answer.text()) < before) state.stale++
  return true
}

async function write (state: KeyState, port: number): Promise<boolean> {
  const value = state.acknowledged + 1
  const answer = await asked(port, pathOf(state.key), { method: 'PUT', body: String(value), headers: { 'content-type': 'text/plain' } })
  await answer?.arrayBuffer()
  if (answer?.ok !== true) return false
  state.acknowledged = value
  return true
}

async function hopsFrom (port: number, key: string): Promise<number | undefined> {
  const answer = await asked(port, pathOf(key))
  await answer?.arrayBuffer()
  const hops = answer?.headers.get('x-isobar-hops')
  return hops === null || hops === undefined ? undefined : Number(hops)
}

/** Objects of a spatial collection, without a place: ids lie all over its curve, so each peer owns some. */
function pathOf (key: string): string {
  return `/v1/objects?collection=places&key=${key}`
}

async function asked (port: number, path: string, init: RequestInit = {}): Promise<Response | undefined> {
  return await fetch(`http://${loopback}:${port}${path}`, { ...init, signal: AbortSignal.timeout(requestMs) }).catch(() => undefined)
}

async function untilRefused (port: number, sinceMs: number): Promise<number> {
  for (;;) {
    const isRefused = await new Promise<boolean>(resolve => {
      const socket = connect({ port, host: loopback })
      socket.once('connect', () => { socket.destroy(); resolve(false) })
      socket.once('error', () => { resolve(true) })
    })
    if (isRefused) return performance.now() - sinceMs
  }
}

function sum (values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
