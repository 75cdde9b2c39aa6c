// A testnet that runs: its peer processes, made, started again, ended and stopped. Peer N has folder peer-N, RPC port
// base + N - 1 and p2p port p2pPortOffset above that, in every run.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Failure, exitCodes } from '../../node/cli/failure.ts'
import { peersMax, p2pPortOffset, readyMsMax, stopMsMax } from './init.ts'
import { writeKept, type Kept } from './kept-file.ts'
import { ringOf, type RingFields } from './peer-fields.ts'
import { exitText, PeerProcess, type PeerInit } from './peer-process.ts'
import { loopback, mustBeFree } from './ports.ts'
import { waitFor } from './wait.ts'

export interface TestnetInit {
  readonly dataDir: string
  readonly kept: Kept
  /** Told once of every peer that ends without having been told to. */
  readonly onEnd: (peer: PeerProcess, text: string) => void
  /** Told after each change of processes. */
  readonly onChange: () => Promise<void>
}

/** Addresses of others that a new peer is given. A few will do (guess). */
const joinMax = 4

export class Testnet {
  #kept: Kept
  readonly #peers = new Map<number, PeerProcess>()
  #stopping = false

  constructor (private readonly init: TestnetInit) {
    this.#kept = init.kept
  }

  /** By number. */
  get peers (): PeerProcess[] { return [...this.#peers.values()].sort((a, b) => a.init.number - b.init.number) }
  get rpcs (): string[] { return this.peers.filter(peer => peer.exit === undefined).map(peer => peer.rpc) }
  get kept (): Kept { return this.#kept }

  async keep (changes: Partial<Kept>): Promise<void> {
    this.#kept = { ...this.#kept, ...changes }
    await writeKept(this.init.dataDir, this.#kept)
  }

  /** All peers at once. @param onReady - told of each that serves. @throws Failure */
  async start (signal: AbortSignal, onReady: () => void): Promise<void> {
    const numbers = Array.from({ length: this.#kept.peersCount }, (_, at) => at + 1)
    await mustBeFree(numbers.flatMap(number => [this.#initOf(number).rpcPort, this.#initOf(number).p2pPort]), '--base-port')
    await this.keep({})
    const peers = numbers.map(number => this.#spawn(number))
    await this.init.onChange()
    await Promise.all(peers.map(async peer => {
      await peer.ready(signal)
      if (peer.init.number === 1 && !this.#kept.founded) await this.keep({ founded: true })
      onReady()
    }))
    await this.closed(signal)
  }

  /** Wait until one peer lists all that run, each serving, with no gap. */
  async closed (signal?: AbortSignal): Promise<RingFields> {
    return await waitFor('ring of all peers', async () => {
      const ring = await ringOf(this.peers)
      const serving = new Set(ring?.peers.filter(peer => peer.state === 'serving').map(peer => peer.number))
      const isWhole = ring?.complete === true && this.peers.every(({ exit, init }) => exit !== undefined || serving.has(init.number))
      return isWhole ? ring : undefined
    }, { deadlineMs: readyMsMax, signal })
  }

  /** One more peer. @throws Failure */
  async add (): Promise<PeerProcess> {
    const number = this.#kept.peersCount + 1
    if (number > peersMax) throw new Failure(exitCodes.failed, `there are ${this.#kept.peersCount} peers; a testnet has at most ${peersMax}`)
    await mustBeFree([this.#initOf(number).rpcPort, this.#initOf(number).p2pPort], '--base-port')
    await this.keep({ peersCount: number })
    return await this.#begin(number)
  }

  /** A peer that has ended goes on with what is on its disk. @throws Failure */
  async startAgain (number: number): Promise<PeerProcess> {
    const peer = this.#find(number)
    if (peer.exit === undefined) throw new Failure(exitCodes.failed, `peer ${number} runs already (process ${peer.pid})`)
    return await this.#begin(number)
  }

  /** @throws Failure */
  async kill (number: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<PeerProcess> {
    const peer = this.#find(number)
    if (peer.exit !== undefined) throw new Failure(exitCodes.failed, `peer ${number} has ended already; isobar testnet start ${number} starts it again`)
    if (signal === 'SIGTERM') await peer.stop(stopMsMax)
    else {
      peer.expected = true
      peer.signal(signal)
      await peer.exited
    }
    await this.init.onChange()
    return peer
  }

  /** All at once, each in good order if it can. Claims and data stay. */
  async stop (): Promise<void> {
    this.#stopping = true
    await Promise.all(this.peers.map(async peer => { await peer.stop(stopMsMax) }))
  }

  /** At once, without waiting. */
  killAll (): void {
    this.#stopping = true
    for (const peer of this.peers) {
      peer.expected = true
      peer.signal('SIGKILL')
    }
  }

  async #begin (number: number): Promise<PeerProcess> {
    const peer = this.#spawn(number)
    await this.init.onChange()
    await peer.ready()
    return peer
  }

  #find (number: number): PeerProcess {
    const peer = this.#peers.get(number)
    if (peer === undefined) throw new Failure(exitCodes.usage, `there is no peer ${number}; they are numbered from 1 to ${this.#kept.peersCount}`)
    return peer
  }

  #spawn (number: number): PeerProcess {
    if (this.#stopping) throw new Failure(exitCodes.failed, 'the testnet is stopping')
    const others = Array.from({ length: this.#kept.peersCount }, (_, at) => at + 1).filter(other => other !== number)
    const founds = number === 1 && !this.#kept.founded
    // While the first one founds the ring, there is no other to be met.
    const met = this.#kept.founded ? others.slice(0, joinMax) : [1]
    const args = founds ? ['--new'] : met.flatMap(other => ['--join', `${loopback}:${this.#initOf(other).p2pPort}`])
    const peer = new PeerProcess(this.#initOf(number), args)
    this.#peers.set(number, peer)
    void peer.exited.then(exit => {
      if (!peer.expected) this.init.onEnd(peer, exit.code === 0 ? `peer ${number} ended by itself` : `peer ${number}: ${exitText(exit)}; its log: ${peer.logEnd()}`)
    })
    return peer
  }

  #initOf (number: number): PeerInit {
    const rpcPort = this.#kept.basePort + number - 1
    return { number, dataDir: join(this.init.dataDir, `peer-${number}`), rpcPort, p2pPort: rpcPort + p2pPortOffset }
  }
}

/** Has the folder anything that is not of a testnet? */
export function isForeign (dataDir: string): boolean {
  try {
    return readdirSync(dataDir).some(name => name !== 'testnet.json' && !/^peer-\d+$/.test(name))
  } catch {
    return false
  }
}
