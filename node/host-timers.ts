// Timers of the real host, by number, and what is made of them: sleeps and deadlines. All end when the host stops, so no
// timer outlives it and no procedure waits for ever.

import { setMaxListeners } from 'node:events'
import { AbortError, StoppedError, TimeoutError } from '../overlay/errors.ts'
import type { TimerId } from '../overlay/host.ts'
import { listenAbort } from './listen-abort.ts'

/** The longest wait that setTimeout keeps to: 2^31 - 1 ms, about 25 days. */
const waitMsMax = 2 ** 31 - 1

export class HostTimers {
  readonly #timers = new Map<TimerId, NodeJS.Timeout>()
  readonly #onStop = new Set<() => void>()
  #lastId = 0
  #stopped = false

  after (ms: number, fn: () => void): TimerId {
    const id = ++this.#lastId
    if (this.#stopped) return id
    this.#timers.set(id, setTimeout(() => {
      this.#timers.delete(id)
      fn()
    }, Math.min(Math.max(0, ms), waitMsMax)))
    return id
  }

  cancel (id: TimerId): void {
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
  }

  sleep (ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#stopped) { reject(new StoppedError('this node has stopped')); return }
      if (signal?.aborted === true) { reject(new AbortError('the sleep was ended')); return }
      const end = (error?: Error): void => {
        this.cancel(id)
        this.#onStop.delete(onStop)
        signal?.removeEventListener('abort', onAbort)
        if (error === undefined) resolve()
        else reject(error)
      }
      const onAbort = (): void => { end(new AbortError('the sleep was ended')) }
      const onStop = (): void => { end(new StoppedError('this node stops')) }
      const id = this.after(ms, () => { end() })
      this.#onStop.add(onStop)
      listenAbort(signal, onAbort)
    })
  }

  deadline (ms: number, parent?: AbortSignal): AbortSignal {
    const controller = new AbortController()
    // Many calls may share one deadline.
    setMaxListeners(0, controller.signal)
    if (this.#stopped) controller.abort(new StoppedError('this node has stopped'))
    if (parent?.aborted === true) controller.abort(parent.reason)
    if (controller.signal.aborted) return controller.signal
    const end = (reason: unknown): void => {
      this.cancel(id)
      this.#onStop.delete(onStop)
      parent?.removeEventListener('abort', onParent)
      controller.abort(reason)
    }
    const onParent = (): void => { end(parent?.reason) }
    const onStop = (): void => { end(new StoppedError('this node stops')) }
    const id = this.after(ms, () => { end(new TimeoutError(`not done within ${ms} ms`)) })
    this.#onStop.add(onStop)
    listenAbort(parent, onParent)
    return controller.signal
  }

  /** Ends sleeps and deadlines with StoppedError; what `after` was to run is not run. */
  stop (): void {
    this.#stopped = true
    for (const end of [...this.#onStop]) end()
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
  }
}
