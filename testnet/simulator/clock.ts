// Virtual time. One event runs, then every promise reaction that follows from it, and only then the next event; so async
// procedures run under it unchanged and in the same order each time. The drain is exact: a microtask that asks for a
// nextTick runs among the reactions of the event, and the nextTick comes when the microtask queue is empty, however long
// the chain of awaits was. It does not wait for real input or output: code under it awaits the Host and a Store in memory.

import assert from 'node:assert/strict'
import { EventQueue } from './event-queue.ts'
import type { EventId, Task } from './event-queue.ts'

/** Events between two turns of the real event loop, so that signals and test timeouts are seen (guess). */
const eventsPerTurn = 8192

export interface RunOptions {
  /** Virtual time at which to stop; the clock then stands there. */
  readonly untilMs?: number
  /** Asked after each event and its reactions. */
  readonly until?: () => boolean
  /** Bound on events of this run. */
  readonly eventsMax?: number
}

/** Why a run ended: `until` held, the time was reached, nothing was left to happen, or eventsMax events had run. */
export type RunEnd = 'until' | 'time' | 'idle' | 'events'

export class VirtualClock {
  readonly #queue = new EventQueue()
  #now = 0
  #running = false
  /** Events that have run since the start. */
  events = 0

  now (): number { return this.#now }

  get pending (): number { return this.#queue.length }

  /** Runs task in ms milliseconds of virtual time, after what was scheduled earlier for the same instant. */
  schedule (ms: number, task: Task): EventId {
    assert(ms >= 0, `a time to wait is at least 0 ms, not ${ms}`)
    return this.#queue.add(this.#now + ms, task)
  }

  cancel (id: EventId): boolean { return this.#queue.cancel(id) }

  /** One run at a time. Rejects with what an event threw. */
  async run (options: RunOptions): Promise<RunEnd> {
    assert(!this.#running, 'the clock runs already')
    this.#running = true
    try {
      return await new Promise<RunEnd>((resolve, reject) => { this.#drive(options, resolve, reject) })
    } finally {
      this.#running = false
    }
  }

  #drive ({ untilMs = Infinity, until, eventsMax = Infinity }: RunOptions, resolve: (end: RunEnd) => void, reject: (error: unknown) => void): void {
    const queue = this.#queue
    let left = eventsMax
    let turn = eventsPerTurn
    const step = (): void => {
      try {
        if (until !== undefined && until()) { resolve('until'); return }
        if (left-- <= 0) { resolve('events'); return }
        const at = queue.nextAt
        if (at > untilMs || at === Infinity) {
          if (untilMs !== Infinity) this.#now = Math.max(this.#now, untilMs)
          resolve(at === Infinity ? 'idle' : 'time')
          return
        }
        const task = queue.take()!
        this.#now = at
        this.events++
        task.run()
      } catch (error) {
        reject(error)
        return
      }
      queueMicrotask(drained)
    }
    const drained = (): void => {
      if (--turn > 0) { process.nextTick(step); return }
      turn = eventsPerTurn
      setImmediate(step)
    }
    setImmediate(step)
  }
}
