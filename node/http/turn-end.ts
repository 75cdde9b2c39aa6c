// Answers that are ready in one turn of the event loop are written at its end, one after the other. Each write wakes the
// reader at the far end; with our work between two writes it falls asleep again, and waking it costs more than the answer.

export class TurnEnd {
  #waiting: Array<() => void> = []

  /** Call fn when this turn has taken in what had arrived. It must not throw. */
  run (fn: () => void): void {
    this.#waiting.push(fn)
    if (this.#waiting.length > 1) return
    setImmediate(() => {
      const waiting = this.#waiting
      this.#waiting = []
      for (const fn of waiting) fn()
    })
  }
}
