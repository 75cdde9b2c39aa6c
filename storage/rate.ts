// Requests a second that this node answered as owner, over the last ten seconds: for status. The load ledger of
// balancing/ keeps its own, finer count by what Storage tells it.

/** Whole seconds that the rate is taken over. Guess: short enough to see a change, long enough not to jump. */
const seconds = 10
const msPerSecond = 1000

export class Rate {
  readonly #now: () => number
  readonly #counts = new Float64Array(seconds + 1)
  #second = 0

  /** now in ms, never going back. */
  constructor (now: () => number) {
    this.#now = now
    this.#second = Math.floor(now() / msPerSecond)
  }

  count (): void {
    this.#advance()
    this.#counts[this.#second % this.#counts.length]! += 1
  }

  /** Over the last ten whole seconds; the running one does not count yet. */
  perSecond (): number {
    this.#advance()
    const running = this.#counts[this.#second % this.#counts.length]!
    return (this.#counts.reduce((sum, count) => sum + count, 0) - running) / seconds
  }

  #advance (): void {
    const second = Math.floor(this.#now() / msPerSecond)
    const from = Math.max(this.#second, second - this.#counts.length)
    for (let at = from + 1; at <= second; at++) this.#counts[at % this.#counts.length] = 0
    this.#second = second
  }
}
