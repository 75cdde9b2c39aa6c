// Rows from one simulated node to another with backpressure. The writer may be a window of rows ahead of the reader, which
// gives credit as it takes rows; rows carry their place, since packets overtake each other. A lost row is not sent
// again: the reader's deadline ends the pull.

import { AbortError, ConnectionLostError, RemoteError, TimeoutError, errorName, isDefinite } from '../../overlay/errors.ts'
import type { Codec } from '../../overlay/host.ts'
import type { Link } from './link.ts'
import { packetKinds, Packet } from './packet.ts'
import type { Failure, PacketKind } from './packet.ts'
import type { SimHost } from './sim-host.ts'
import { listenAbort } from '../../node/listen-abort.ts'

/** Rows that the writer may be ahead (guess; the real host allows about 1 to 2 MiB). */
export const windowRows = 32
const creditRows = windowRows / 2

/** Either end, as its link sees it. */
export interface PullEnd {
  lose (error: Error): void
}

/** What both ends of one pull share; each packet of it carries this. */
export interface PullSession {
  readonly reader: PullReader
  writer: PullWriter | undefined
}

export interface PullInit {
  readonly method: string
  readonly host: SimHost
  readonly link: Link
  /** Undefined where rows go as they are. */
  readonly codec: Codec<unknown> | undefined
}

function sendPart (init: PullInit, session: PullSession, kind: PacketKind, number: number, body: unknown): void {
  const packet = new Packet(init.host.network, kind, init.host, init.link.far, init.method, body)
  packet.number = number
  packet.session = session
  init.link.send(packet)
}

export class PullReader implements PullEnd {
  readonly session: PullSession = { reader: this, writer: undefined }
  readonly #init: PullInit
  readonly #rows = new Map<number, unknown>()
  #next = 0
  #endAt = Infinity
  #failure: Failure | undefined
  #lost: Error | undefined
  #taken = 0
  #wake: (() => void) | undefined

  constructor (init: PullInit) {
    this.#init = init
    init.link.addPull(this)
  }

  receive (packet: Packet): void {
    if (packet.kind === packetKinds.row) {
      this.#rows.set(packet.number, packet.body)
    } else {
      this.#endAt = packet.number
      this.#failure = packet.body as Failure | undefined
    }
    this.#wake?.()
  }

  lose (error: Error): void {
    this.#lost ??= error
    this.#wake?.()
  }

  /** The rows in order, each within deadlineMs. */
  async * rows (deadlineMs: number, signal: AbortSignal | undefined): AsyncGenerator<unknown, void, undefined> {
    const { link, method, codec } = this.#init
    try {
      for (;;) {
        await this.#ready(deadlineMs, signal)
        if (signal?.aborted === true) throw new AbortError(`the caller gave up ${method}`)
        if (this.#rows.has(this.#next)) {
          const body = this.#rows.get(this.#next)
          this.#rows.delete(this.#next++)
          this.#giveCredit()
          yield codec === undefined ? body : codec.decode(body as Uint8Array)
        } else if (this.#endAt === this.#next) {
          if (this.#failure !== undefined) throw new RemoteError(this.#failure.name, this.#failure.message, this.#failure.definite)
          return
        } else {
          throw this.#lost ?? new TimeoutError(`no row of ${method} from ${link.id} within ${deadlineMs} ms`)
        }
      }
    } finally {
      link.removePull(this)
      if (this.#next < this.#endAt) sendPart(this.#init, this.session, packetKinds.stop, 0, undefined)
    }
  }

  #isReady (): boolean { return this.#rows.has(this.#next) || this.#endAt === this.#next || this.#lost !== undefined }

  /** Resolves when there is something to say, when the time is over, or when signal aborts. */
  #ready (ms: number, signal: AbortSignal | undefined): Promise<void> | undefined {
    if (this.#isReady() || signal?.aborted === true) return undefined
    return new Promise<void>(resolve => {
      const { host } = this.#init
      const done = (): void => {
        host.cancel(timer)
        this.#wake = undefined
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = host.after(ms, done)
      listenAbort(signal, done)
      this.#wake = () => { if (this.#isReady()) done() }
    })
  }

  #giveCredit (): void {
    if (++this.#taken < creditRows) return
    sendPart(this.#init, this.session, packetKinds.credit, this.#taken, undefined)
    this.#taken = 0
  }
}

export class PullWriter implements PullEnd {
  readonly #init: PullInit
  readonly #session: PullSession
  readonly #rows: AsyncIterator<unknown>
  #credit = windowRows
  #sent = 0
  #stopped = false
  #wake: (() => void) | undefined

  constructor (init: PullInit, session: PullSession, source: AsyncIterable<unknown>) {
    this.#init = init
    this.#session = session
    this.#rows = source[Symbol.asyncIterator]()
    session.writer = this
    init.link.addPull(this)
  }

  receive (packet: Packet): void {
    if (packet.kind === packetKinds.stop) { this.#stop(); return }
    this.#credit += packet.number
    this.#wake?.()
  }

  lose (): void { this.#stop() }

  /** Sends rows while there is credit; ends with the source, or when the reader is gone. Never rejects. */
  async run (): Promise<void> {
    try {
      while (!this.#stopped) {
        if (this.#credit === 0) { await new Promise<void>(resolve => { this.#wake = resolve }); continue }
        const { done, value } = await this.#rows.next()
        if (this.#stopped) return
        if (done === true) { this.#send(packetKinds.end, undefined); return }
        this.#credit--
        this.#send(packetKinds.row, this.#init.codec === undefined ? value : this.#init.codec.encode(value))
      }
    } catch (error) {
      this.#send(packetKinds.end, failureOf(error))
    } finally {
      this.#init.link.removePull(this)
    }
  }

  #send (kind: PacketKind, body: unknown): void {
    if (this.#init.host.state !== 'up') return
    sendPart(this.#init, this.#session, kind, kind === packetKinds.row ? this.#sent++ : this.#sent, body)
  }

  #stop (): void {
    if (this.#stopped) return
    this.#stopped = true
    this.#wake?.()
    // The source's own error while it is being ended concerns nobody any more.
    this.#rows.return?.(undefined).then(undefined, () => {})
  }
}

/** What of an error goes over the wire. */
export function failureOf (error: unknown): Failure {
  return { name: errorName(error), message: error instanceof Error ? error.message : String(error), definite: isDefinite(error) }
}

export function lostTo (id: string): ConnectionLostError {
  return new ConnectionLostError(`the connection to ${id} closed before the reply came`)
}
