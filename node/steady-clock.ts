// Time that counts the machine's sleep. Linux's monotonic clock stands still while a laptop is suspended, so a lease would
// seem valid on waking; the wall clock goes on, but may be set. This clock advances with the monotonic one, and by what
// the wall clock gained on it beyond a tolerance: that is a sleep (or a wall clock set forward, which only ends leases
// early). A wall clock set back changes nothing but the base of the comparison.

/** Gains below this are the two clocks' reading and slewing noise; so much sleep at most goes uncounted, in all (guess). */
export const toleranceMs = 50
/** Readings further apart than this are not of one moment, and say nothing about the wall clock (guess). */
const readingMsMax = 5

export interface Clocks {
  /** Milliseconds that never go back, and may stand still in sleep. */
  readonly monotonic: () => number
  /** Milliseconds since 1970. */
  readonly wall: () => number
}

export const machineClocks: Clocks = { monotonic: () => performance.now(), wall: () => Date.now() }

export class SteadyClock {
  readonly #clocks: Clocks
  readonly #start: number
  /** Wall minus monotonic, the least seen since the last sleep. */
  #ahead: number
  #sleptMs = 0

  constructor (clocks: Clocks) {
    this.#clocks = clocks
    this.#start = clocks.monotonic()
    this.#ahead = clocks.wall() - this.#start
  }

  /** Milliseconds since this clock was made. */
  now (): number {
    const before = this.#clocks.monotonic()
    const wall = this.#clocks.wall()
    const after = this.#clocks.monotonic()
    if (after - before <= readingMsMax) this.#compare(wall - after)
    return after - this.#start + this.#sleptMs
  }

  wallClock (): number { return this.#clocks.wall() }

  #compare (ahead: number): void {
    const gained = ahead - this.#ahead
    if (gained > toleranceMs) this.#sleptMs += gained
    if (gained > toleranceMs || gained < 0) this.#ahead = ahead
  }
}
