// The asking end of a stream to one peer: requests and notices out, replies in, in whatever order they come. Each call has
// its deadline; when the stream ends, all calls end. What is queued and what is in flight are bounded.

import { AbortError, BusyError, ConnectionLostError, RemoteError, TimeoutError } from '../../overlay/errors.ts'
import type { CallOptions, Codec, Metrics } from '../../overlay/host.ts'
import { MalformedMessageError, SilentError } from './errors.ts'
import type { FrameStream } from './frame-stream.ts'
import { callsInFlightMax, queueBytesMax, silentMsMax } from './init.ts'
import { decodeFrame, encodeNotice, encodeRequest } from './wire/frame.ts'
import { listenAbort } from '../listen-abort.ts'

interface Waiting {
  readonly codec: Codec<unknown>
  readonly resolve: (reply: unknown) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout
  readonly signal: AbortSignal | undefined
  readonly onAbort: (() => void) | undefined
}

export interface CallerComponents {
  readonly metrics: Metrics
  /** Made last, since it tells the caller of frames. */
  readonly stream: (caller: Caller) => FrameStream
}

export class Caller {
  readonly #peer: string
  readonly #metrics: Metrics
  readonly #stream: FrameStream
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0
  /** When the first request was sent since anything came; undefined if none was. */
  #silentSinceMs: number | undefined

  constructor (components: CallerComponents, init: { readonly peer: string }) {
    this.#peer = init.peer
    this.#metrics = components.metrics
    this.#stream = components.stream(this)
  }

  get isOpen (): boolean { return this.#stream.isOpen }

  get inFlight (): number { return this.#waiting.size }

  /** The first frame: how to reach this node. */
  hello (frame: Uint8Array): void { this.#stream.write(frame) }

  call (method: string, message: Uint8Array, codec: Codec<unknown>, options: CallOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (!this.#stream.isOpen) { reject(this.#lost()); return }
      if (this.#waiting.size >= callsInFlightMax || this.#stream.queuedBytes >= queueBytesMax) {
        reject(new BusyError(`${this.#waiting.size} calls to ${this.#peer} are in flight, ${this.#stream.queuedBytes} bytes queued`))
        return
      }
      const { deadlineMs, signal } = options
      const id = this.#newId()
      const timer = setTimeout(() => { this.#late(id, method, deadlineMs) }, deadlineMs)
      const onAbort = signal === undefined ? undefined : () => { this.#fail(id, new AbortError(`the caller gave up ${method}`)) }
      if (onAbort !== undefined) listenAbort(signal, onAbort)
      this.#silentSinceMs ??= performance.now()
      this.#waiting.set(id, { codec, resolve, reject, timer, signal, onAbort })
      this.#stream.write(encodeRequest(id, method, message))
    })
  }

  notify (notice: string, message: Uint8Array): void {
    if (this.#stream.isOpen && this.#stream.queuedBytes < queueBytesMax) this.#stream.write(encodeNotice(notice, message))
    else this.#metrics.count('rpc_notices_dropped')
  }

  /** A frame came. Throws where the peer does not keep to the protocol, which ends the stream. */
  receive (bytes: Buffer): void {
    const frame = decodeFrame(bytes)
    this.#silentSinceMs = undefined
    if (frame.kind === 'reply') {
      const waiting = this.#settle(frame.id)
      if (waiting === undefined) return
      try {
        waiting.resolve(waiting.codec.decode(frame.message))
      } catch (error) {
        waiting.reject(new MalformedMessageError(String(error), false))
      }
    } else if (frame.kind === 'failure') {
      this.#fail(frame.id, new RemoteError(frame.name, frame.text, frame.definite))
    } else {
      throw new RangeError(`a ${frame.kind} came where replies are expected`)
    }
  }

  /** The stream has ended. */
  ended (): void {
    for (const id of [...this.#waiting.keys()]) this.#fail(id, this.#lost())
  }

  abort (error: Error): void { this.#stream.abort(error) }

  #newId (): number {
    do this.#lastId = (this.#lastId + 1) >>> 0
    while (this.#waiting.has(this.#lastId))
    return this.#lastId
  }

  #late (id: number, method: string, deadlineMs: number): void {
    this.#fail(id, new TimeoutError(`no reply to ${method} from ${this.#peer} within ${deadlineMs} ms`))
    const silentMs = this.#silentSinceMs === undefined ? 0 : performance.now() - this.#silentSinceMs
    if (silentMs > silentMsMax) this.#stream.abort(new SilentError(`nothing came from ${this.#peer} for ${Math.round(silentMs)} ms`))
  }

  #fail (id: number, error: Error): void { this.#settle(id)?.reject(error) }

  #settle (id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return undefined
    this.#waiting.delete(id)
    clearTimeout(waiting.timer)
    if (waiting.onAbort !== undefined) waiting.signal?.removeEventListener('abort', waiting.onAbort)
    return waiting
  }

  #lost (): ConnectionLostError {
    return new ConnectionLostError(`the connection to ${this.#peer} closed before the reply came`)
  }
}
