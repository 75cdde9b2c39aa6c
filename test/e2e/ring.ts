// A ring of real daemons on free ports of 127.0.0.1, each with its own folder, for the tests of one file. `close` ends
// every process by its own id and removes the folders, whatever has happened before.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from '../../testnet/local/load.ts'
import { PeerProcess, type PeerInit } from '../../testnet/local/peer-process.ts'
import { freePorts, loopback } from '../../testnet/local/ports.ts'
import { waitFor } from '../../testnet/local/wait.ts'
import { json } from './http.ts'

/** Longest wait for something that must come true soon; generous, since other programs may have the machine. */
export const soonMs = 40_000
const stopMs = 10_000

export interface RingAnswer {
  readonly complete: boolean
  readonly peers: ReadonlyArray<{ readonly peerId: string, readonly state: string, readonly records: number, readonly rpc: string | null, readonly interval: { readonly low: { readonly hex: string } | null, readonly high: { readonly hex: string } | null } }>
}

export class Ring {
  readonly folder = mkdtempSync(join(tmpdir(), 'isobar-e2e-'))
  readonly #inits: PeerInit[] = []
  readonly #started: PeerProcess[] = []
  /** The present process of each peer. */
  readonly peers: PeerProcess[] = []

  static async prepare (count: number): Promise<Ring> {
    const ring = new Ring()
    const ports = await freePorts(2 * count)
    for (let at = 0; at < count; at++) ring.#inits.push({ number: at + 1, dataDir: join(ring.folder, `peer-${at + 1}`), rpcPort: ports[2 * at] as number, p2pPort: ports[2 * at + 1] as number })
    return ring
  }

  /** A ring that is closed: the first peer founds it, the others join through it. */
  static async start (count: number): Promise<Ring> {
    const ring = await Ring.prepare(count)
    try {
      for (let at = 0; at < count; at++) ring.run(at, at === 0 ? ['--new'] : ['--join', ring.p2p(0)])
      await ring.whole(count)
      return ring
    } catch (error) {
      await ring.close()
      throw error
    }
  }

  get rpcs (): string[] { return this.peers.filter(peer => peer.exit === undefined).map(peer => peer.rpc) }

  p2p (at: number): string {
    return `${loopback}:${this.#inits[at]?.p2pPort}`
  }

  /** Start peer `at`, for the first time or again with its ports and folder. */
  run (at: number, args: readonly string[]): PeerProcess {
    const init = this.#inits[at]
    assert(init !== undefined)
    const peer = new PeerProcess(init, args)
    this.#started.push(peer)
    this.peers[at] = peer
    return peer
  }

  at (index: number): PeerProcess {
    const peer = this.peers[index]
    assert(peer !== undefined)
    return peer
  }

  /** Wait until each peer that runs lists `count` owners which serve, with no gap between them. */
  async whole (count: number, deadlineMs = soonMs): Promise<void> {
    await Promise.all(this.peers.filter(peer => peer.exit === undefined).map(async peer => { await peer.ready() }))
    await Promise.all(this.rpcs.map(async rpc => {
      let last = ''
      await waitFor(`whole ring of ${count}`, async () => {
        const answer = await json<RingAnswer>(`${rpc}/v1/peers?deadlineMs=5000`).catch(() => undefined)
        last = JSON.stringify(answer)
        return answer !== undefined && isWhole(answer, count) ? true : undefined
      }, { deadlineMs }).catch(error => { throw new Error(`${error.message}; ${rpc} says ${last}`) })
    }))
  }

  async load (rows: AsyncIterable<{ readonly key: string }>, collection: string): Promise<number> {
    const { stored, problems } = await load({ rows, collection, rpcs: this.rpcs, signal: new AbortController().signal, onProgress: () => {} })
    assert.deepEqual(problems, [])
    return stored
  }

  async close (): Promise<void> {
    await Promise.all(this.#started.map(async peer => {
      peer.signal('SIGCONT')
      await peer.stop(stopMs)
    }))
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}

/** Do the intervals tile the line, each with an owner of its own that serves? */
function isWhole ({ complete, peers }: RingAnswer, count: number): boolean {
  const tiles = peers.every(({ interval }, at) => at === 0 ? interval.low === null : interval.low !== null && interval.low.hex === peers[at - 1]?.interval.high?.hex)
  return complete && tiles && peers.at(-1)?.interval.high === null &&
    new Set(peers.map(peer => peer.peerId)).size === count && peers.every(peer => peer.state === 'serving')
}
