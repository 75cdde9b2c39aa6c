// The answering end of a stream that a peer opened: its first frame says how to reach that peer, then come requests and
// notices. Replies leave as they are ready. A peer that does not take its replies is not read any further, and in the end
// disconnected; one that has too many requests open is told so; one that keeps asking for what is no request is disconnected.

import { BusyError } from '../../overlay/errors.ts'
import type { Contact, Logger, Metrics } from '../../overlay/host.ts'
import type { LimitedLog } from '../limited-log.ts'
import { SilentError } from './errors.ts'
import type { FrameStream } from './frame-stream.ts'
import type { Handlers } from './handlers.ts'
import { failureOf } from './handlers.ts'
import { handlersMax, repliesMsMax, replyBytesLimit, replyBytesMax } from './init.ts'
import { Strangeness } from './strangeness.ts'
import { decodeFrame, encodeFailure, encodeReply } from './wire/frame.ts'

export interface ResponderComponents {
  readonly handlers: Handlers
  readonly log: Logger
  /** For what a peer can cause at will. */
  readonly limitedLog: LimitedLog
  readonly metrics: Metrics
  readonly stream: (responder: Responder) => FrameStream
}

export interface ResponderInit {
  readonly peer: string
  readonly onContact: (contact: Contact) => void
}

export class Responder {
  readonly #handlers: Handlers
  readonly #log: Logger
  readonly #limitedLog: LimitedLog
  readonly #metrics: Metrics
  readonly #stream: FrameStream
  readonly #init: ResponderInit
  #from: Contact | undefined
  #running = 0
  readonly #strangeness = new Strangeness()
  /** Runs while the peer is not read any further. */
  #paused: NodeJS.Timeout | undefined

  constructor (components: ResponderComponents, init: ResponderInit) {
    this.#handlers = components.handlers
    this.#log = components.log
    this.#limitedLog = components.limitedLog
    this.#metrics = components.metrics
    this.#init = init
    this.#stream = components.stream(this)
    this.#stream.onDrain(() => { this.#resume() })
  }

  /** A frame came. Throws where the peer does not keep to the protocol, which ends the stream. */
  receive (bytes: Buffer): void {
    const frame = decodeFrame(bytes)
    if (this.#from === undefined) {
      if (frame.kind !== 'hello') throw new RangeError(`a ${frame.kind} came before the hello`)
      this.#from = { id: this.#init.peer, addresses: frame.addresses }
      this.#init.onContact(this.#from)
    } else if (frame.kind === 'request') {
      this.#answer(frame.id, frame.method, frame.message, this.#from)
    } else if (frame.kind === 'notice') {
      this.#take(frame.method, frame.message, this.#from)
    } else {
      throw new RangeError(`a ${frame.kind} came where requests are expected`)
    }
  }

  /** The stream has ended. */
  ended (): void { clearTimeout(this.#paused) }

  abort (error: Error): void { this.#stream.abort(error) }

  #answer (id: number, method: string, message: Uint8Array, from: Contact): void {
    if (this.#running >= handlersMax) {
      this.#fail(id, method, new BusyError(`${this.#running} requests of this peer are open`))
      return
    }
    try {
      const reply = this.#handlers.answer(method, message, from)
      if (reply instanceof Promise) this.#answerLater(id, method, reply)
      else this.#reply(id, reply)
    } catch (error) {
      this.#fail(id, method, error)
      this.#note(error)
    }
  }

  #answerLater (id: number, method: string, reply: Promise<Uint8Array>): void {
    this.#running++
    reply.then(
      bytes => { this.#running--; this.#reply(id, bytes) },
      error => { this.#running--; this.#fail(id, method, error) }
    )
  }

  #take (notice: string, message: Uint8Array, from: Contact): void {
    try {
      this.#handlers.notice(notice, message, from)
    } catch (error) {
      if (!this.#note(error)) this.#limitedLog.warn(`notice ${notice}`, { notice, error }, 'a handler of notices threw')
    }
  }

  /** Was it the request's fault? @throws RangeError when that was so too often, which ends the stream */
  #note (error: unknown): boolean {
    if (!this.#strangeness.note(error)) return false
    const { peer } = this.#init
    this.#limitedLog.warn(`strange ${peer}`, { peer }, 'a peer asks for what is unknown here or cannot be read; is it of another version?')
    return true
  }

  #reply (id: number, bytes: Uint8Array): void {
    this.#write(encodeReply(id, bytes))
  }

  #fail (id: number, method: string, error: unknown): void {
    const { name, text, definite } = failureOf(error)
    this.#metrics.count('rpc_failures')
    this.#log.debug({ method, name, text }, 'a request failed')
    this.#write(encodeFailure(id, definite, name, text))
  }

  /** Whatever is written here is a reply to a request, so a peer that is read no further makes no more of it but for what runs. */
  #write (frame: Uint8Array): void {
    this.#stream.write(frame)
    const { queuedBytes } = this.#stream
    if (queuedBytes <= replyBytesMax) return
    if (queuedBytes > replyBytesLimit) {
      this.#stream.abort(new RangeError(`${queuedBytes} bytes of replies wait for the peer, the most is ${replyBytesLimit}`))
    } else if (this.#paused === undefined) {
      this.#paused = setTimeout(() => { this.#stream.abort(new SilentError(`the peer did not take its replies within ${repliesMsMax} ms`)) }, repliesMsMax)
      this.#stream.pause()
    }
  }

  #resume (): void {
    if (this.#paused === undefined || this.#stream.queuedBytes > replyBytesMax / 2) return
    clearTimeout(this.#paused)
    this.#paused = undefined
    this.#stream.resume()
  }
}
