// A call that waits for its reply. It is itself the event of its deadline. It ends once: by the reply, the deadline, the
// caller's signal, or the end of its connection. Whether the request had left decides how definite a failure is.

import { AbortError, TimeoutError, UnreachableError } from '../../overlay/errors.ts'
import type { CallOptions, Codec } from '../../overlay/host.ts'
import type { VirtualClock } from './clock.ts'
import type { EventId, Task } from './event-queue.ts'
import type { Link } from './link.ts'
import type { SimHost } from './sim-host.ts'
import { timerMsMin } from './sim-timers.ts'
import { listenAbort } from '../../node/listen-abort.ts'

export class PendingCall implements Task {
  sent = false
  settled = false
  /** Neighbors in the link's list of calls. */
  next: PendingCall | undefined = undefined
  previous: PendingCall | undefined = undefined
  readonly codec: Codec<unknown>
  readonly #clock: VirtualClock
  readonly #host: SimHost
  readonly #link: Link
  readonly #method: string
  readonly #options: CallOptions
  readonly #resolve: (reply: unknown) => void
  readonly #reject: (error: unknown) => void
  readonly #deadline: EventId
  readonly #onAbort: (() => void) | undefined

  constructor (clock: VirtualClock, host: SimHost, link: Link, method: string, codec: Codec<unknown>, options: CallOptions, resolve: (reply: unknown) => void, reject: (error: unknown) => void) {
    this.codec = codec
    this.#clock = clock
    this.#host = host
    this.#link = link
    this.#method = method
    this.#options = options
    this.#resolve = resolve
    this.#reject = reject
    this.#deadline = clock.schedule(Math.max(timerMsMin, options.deadlineMs), this)
    link.addCall(this)
    if (options.signal !== undefined) {
      this.#onAbort = () => { this.reject(new AbortError(`the caller gave up ${method}`)) }
      listenAbort(options.signal, this.#onAbort)
    }
  }

  /** The deadline has come. */
  run (): void {
    if (this.settled || this.#host.state !== 'up') return
    if (this.#host.paused) { this.#host.hold(this); return }
    const { deadlineMs } = this.#options
    this.reject(this.sent
      ? new TimeoutError(`no reply to ${this.#method} from ${this.#link.id} within ${deadlineMs} ms`)
      : new UnreachableError(`no connection to ${this.#link.id} within ${deadlineMs} ms for ${this.#method}`))
  }

  resolve (reply: unknown): void {
    if (this.#settle()) this.#resolve(reply)
  }

  reject (error: unknown): void {
    if (this.#settle()) this.#reject(error)
  }

  #settle (): boolean {
    if (this.settled) return false
    this.settled = true
    this.#clock.cancel(this.#deadline)
    this.#link.removeCall(this)
    if (this.#onAbort !== undefined) this.#options.signal?.removeEventListener('abort', this.#onAbort)
    return true
  }
}
