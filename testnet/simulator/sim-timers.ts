// Timers of one simulated node. A paused node's timers wait, and fire when it resumes, as they do on a machine that
// slept; a dead node's never fire.

import { setMaxListeners } from 'node:events'
import { AbortError, StoppedError, TimeoutError } from '../../overlay/errors.ts'
import type { TimerId } from '../../overlay/host.ts'
import type { VirtualClock } from './clock.ts'
import type { Task } from './event-queue.ts'
import type { SimHost } from './sim-host.ts'
import { listenAbort } from '../../node/listen-abort.ts'

/** Node's setTimeout waits no less. Without this, waits that halve what is left of a deadline would never come to its end. */
export const timerMsMin = 1

class Timer implements Task {
  id: TimerId = -1
  canceled = false
  readonly #timers: SimTimers
  readonly fn: () => void

  constructor (timers: SimTimers, fn: () => void) {
    this.#timers = timers
    this.fn = fn
  }

  run (): void { this.#timers.due(this) }
}

export class SimTimers {
  readonly #clock: VirtualClock
  readonly #host: SimHost
  /** Timers that were due while the node was paused, until they fire. */
  readonly #late = new Map<TimerId, Timer>()
  readonly #onStop = new Set<() => void>()

  constructor (clock: VirtualClock, host: SimHost) {
    this.#clock = clock
    this.#host = host
  }

  after (ms: number, fn: () => void): TimerId {
    const timer = new Timer(this, fn)
    timer.id = this.#clock.schedule(Math.max(timerMsMin, ms), timer)
    return timer.id
  }

  cancel (id: TimerId): void {
    if (this.#clock.cancel(id)) return
    const late = this.#late.get(id)
    if (late !== undefined) late.canceled = true
  }

  due (timer: Timer): void {
    if (this.#host.state !== 'up') return
    if (this.#host.paused) {
      this.#late.set(timer.id, timer)
      this.#host.hold(timer)
      return
    }
    this.#late.delete(timer.id)
    if (!timer.canceled) timer.fn()
  }

  sleep (ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#host.state !== 'up') { reject(new StoppedError('this node has stopped')); return }
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
    if (this.#host.state !== 'up') controller.abort(new StoppedError('this node has stopped'))
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

  /** Ends sleeps and deadlines; timers of `after` do not fire any more. */
  stop (): void {
    for (const end of [...this.#onStop]) end()
  }
}
