// Compacts cleared intervals in the background, one at a time, for scans are slow over the tombstones that a clear
// leaves. It is a favor, not a duty: LevelDB compacts in its own time too, so what does not fit the queue is dropped.

import type { Interval } from '../overlay/interval.ts'

/** Intervals that may wait. Guess. */
const waitingMax = 8

export class LevelCompactor {
  readonly #compact: (interval: Interval) => Promise<void>
  #waiting: Interval[] = []
  #running: Promise<void> | undefined

  /** compact may fail: then its interval is left as it is. */
  constructor (compact: (interval: Interval) => Promise<void>) {
    this.#compact = compact
  }

  add (interval: Interval): void {
    if (this.#waiting.length >= waitingMax) return
    this.#waiting.push(interval)
    this.#running ??= this.#run()
  }

  /** Drop what waits; resolves when nothing runs. */
  async stop (): Promise<void> {
    this.#waiting = []
    await this.#running
  }

  async #run (): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      await this.#compact(next).catch(() => {})
    }
    this.#running = undefined
  }
}
