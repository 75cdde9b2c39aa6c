// Real daemons for a benchmark, with data directories of their own that go at the end, also after Ctrl-C. They are
// started one by one or all at once; the first founds the ring, the others join it through the first.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exitCodes } from '../../node/cli/failure.ts'
import { PeerProcess } from '../local/peer-process.ts'
import { freePorts, loopback } from '../local/ports.ts'
import { stopMsMax } from '../local/init.ts'

const quiet = ['--log-level', 'warn']

export class Daemons {
  readonly folder = mkdtempSync(join(tmpdir(), 'isobar-bench-'))
  readonly #peers: PeerProcess[] = []
  readonly #onSignal = (): void => {
    this.#killAll()
    process.exit(exitCodes.interrupted)
  }

  constructor () {
    process.on('SIGINT', this.#onSignal)
    process.on('SIGTERM', this.#onSignal)
  }

  get peers (): readonly PeerProcess[] { return this.#peers }
  get pids (): number[] { return this.#peers.map(peer => peer.pid) }
  get ports (): number[] { return this.#peers.map(peer => peer.init.rpcPort) }

  /** One more, not yet ready. */
  async spawn (): Promise<PeerProcess> {
    const [rpcPort = 0, p2pPort = 0] = await freePorts(2)
    const number = this.#peers.length + 1
    const first = this.#peers[0]
    const met = first === undefined ? ['--new'] : ['--join', `${loopback}:${first.init.p2pPort}`]
    const peer = new PeerProcess({ number, dataDir: join(this.folder, `peer-${number}`), rpcPort, p2pPort }, [...met, ...quiet])
    this.#peers.push(peer)
    return peer
  }

  /** Start again, with its data and ports, a peer whose process has ended. */
  async restart (ended: PeerProcess): Promise<void> {
    await ended.exited
    const first = this.#peers[0] === ended ? this.#peers[1] : this.#peers[0]
    const peer = new PeerProcess(ended.init, ['--join', `${loopback}:${first!.init.p2pPort}`, ...quiet])
    this.#peers[this.#peers.indexOf(ended)] = peer
    await peer.ready()
  }

  /** As many as are missing, each ready before the next starts. */
  async growTo (count: number): Promise<void> {
    while (this.#peers.length < count) await (await this.spawn()).ready()
  }

  async stop (): Promise<void> {
    try {
      await Promise.all(this.#peers.map(async peer => { await peer.stop(stopMsMax) }))
    } finally {
      this.#killAll()
      process.off('SIGINT', this.#onSignal)
      process.off('SIGTERM', this.#onSignal)
    }
  }

  #killAll (): void {
    for (const peer of this.#peers) peer.signal('SIGKILL')
    rmSync(this.folder, { recursive: true, force: true })
  }
}
