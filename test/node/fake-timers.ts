// Timers that run when the test says so, in place of Node's setTimeout, for code of node/ that waits for a minute.

interface Timer {
  readonly atMs: number
  readonly fn: () => void
}

export class FakeTimers {
  readonly #real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout }
  readonly #timers = new Set<Timer>()
  #nowMs = 0

  /** In force until `end`. */
  constructor () {
    const set = (fn: () => void, ms = 0): object => {
      const timer = { atMs: this.#nowMs + ms, fn, unref: () => timer, ref: () => timer }
      this.#timers.add(timer)
      return timer
    }
    globalThis.setTimeout = set as unknown as typeof setTimeout
    globalThis.clearTimeout = ((timer: Timer) => { this.#timers.delete(timer) }) as unknown as typeof clearTimeout
  }

  /** Let time pass, and run what is due in its order. */
  tick (ms: number): void {
    const endMs = this.#nowMs + ms
    for (;;) {
      const [next] = [...this.#timers].filter(timer => timer.atMs <= endMs).sort((a, b) => a.atMs - b.atMs)
      if (next === undefined) break
      this.#timers.delete(next)
      this.#nowMs = Math.max(this.#nowMs, next.atMs)
      next.fn()
    }
    this.#nowMs = endMs
  }

  end (): void {
    Object.assign(globalThis, this.#real)
  }
}
