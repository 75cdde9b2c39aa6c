// Frames over one long-lived libp2p stream, in both directions: cut on the way in, batched on the way out, with the bytes
// that wait known at any time. Read by events, since iterating a stream knows no backpressure; a stream that ends for
// whatever reason tells `onEnd` once. A frame that has begun must end within frameMsMax.

import type { Stream, StreamCloseEvent, StreamMessageEvent } from '@libp2p/interface'
import { Batcher } from './batcher.ts'
import { SilentError } from './errors.ts'
import { Framer } from './framer.ts'
import { batchBytesMax, frameMsMax } from './init.ts'

export interface FrameStreamInit {
  readonly stream: Stream
  /** What it throws ends the stream. */
  readonly onFrame: (frame: Buffer) => void
  readonly onEnd: (error: Error | undefined) => void
}

export class FrameStream {
  readonly #stream: Stream
  readonly #init: FrameStreamInit
  readonly #framer: Framer
  readonly #batcher: Batcher
  /** Runs while a frame is under way; it is not set anew for each, so it may look early. */
  #timer: NodeJS.Timeout | undefined
  #isResuming = false
  #ended = false

  constructor (init: FrameStreamInit) {
    this.#stream = init.stream
    this.#init = init
    this.#framer = new Framer(init.onFrame)
    this.#batcher = new Batcher(batchBytesMax, bytes => { this.#send(bytes) })
    this.#stream.addEventListener('message', this.#onMessage)
    this.#stream.addEventListener('close', this.#onClose)
    this.#stream.addEventListener('remoteCloseWrite', this.#onRemoteClose)
  }

  get isOpen (): boolean { return !this.#ended && this.#stream.status === 'open' && this.#stream.writeStatus === 'writable' }

  /** Bytes written and not yet taken by the connection. */
  get queuedBytes (): number { return this.#batcher.bytes + this.#stream.writeBufferLength }

  write (frame: Uint8Array): void {
    if (!this.#ended) this.#batcher.write(frame)
  }

  /** Stops reading, and with it the far end's writing once its window is full. No frame more is given, not even one that has come. */
  pause (): void {
    this.#framer.pause()
    this.#pauseStream()
  }

  resume (): void {
    this.#take(() => { this.#framer.resume() })
    if (this.#ended || this.#framer.isPaused || this.#stream.readStatus !== 'paused') return
    // libp2p's resume() gives what it holds before it tells Yamux to go on: a pause from within would be undone by that,
    // and the far end would send until the read buffer bursts
    this.#isResuming = true
    this.#stream.resume()
    this.#isResuming = false
    if (this.#framer.isPaused) this.#pauseStream()
  }

  /** Calls fn whenever the connection has taken what was queued. */
  onDrain (fn: () => void): void {
    this.#stream.addEventListener('drain', fn)
    this.#stream.addEventListener('idle', fn)
  }

  abort (error: Error): void {
    this.#batcher.discard()
    this.#stream.abort(error)
    this.#end(error)
  }

  #send (bytes: Uint8Array): void {
    try {
      this.#stream.send(bytes)
    } catch (error) {
      this.abort(error as Error)
    }
  }

  #pauseStream (): void {
    if (this.#stream.readStatus === 'readable' && !this.#isResuming) this.#stream.pause()
  }

  /** Let the framer give frames. */
  #take (give: () => void): void {
    try {
      give()
    } catch (error) {
      this.abort(error as Error)
    }
    if (this.#timer === undefined && this.#framer.isWithinFrame && !this.#ended) this.#watch()
  }

  #watch (): void {
    const { framesCount } = this.#framer
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#ended || !this.#framer.isWithinFrame) return
      if (this.#framer.framesCount === framesCount) this.abort(new SilentError(`a frame did not come whole within ${frameMsMax} ms`))
      else this.#watch()
    }, frameMsMax)
  }

  readonly #onMessage = (event: StreamMessageEvent): void => { this.#take(() => { this.#framer.push(event.data) }) }

  readonly #onClose = (event: StreamCloseEvent): void => { this.#end(event.error) }

  readonly #onRemoteClose = (): void => { this.abort(new Error('the far end closed the stream')) }

  #end (error: Error | undefined): void {
    if (this.#ended) return
    this.#ended = true
    clearTimeout(this.#timer)
    this.#framer.pause()
    this.#batcher.discard()
    this.#stream.removeEventListener('message', this.#onMessage)
    this.#stream.removeEventListener('close', this.#onClose)
    this.#stream.removeEventListener('remoteCloseWrite', this.#onRemoteClose)
    this.#init.onEnd(error)
  }
}
