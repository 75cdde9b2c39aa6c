// Time that counts the machine's sleep, and does not jump with the wall clock. Linux's monotonic clock stands still while a
// laptop is suspended, so a lease would seem valid on waking; the time since the machine was started goes on (on Linux
// CLOCK_BOOTTIME), but is coarse and dear to read. So this clock advances with the monotonic one, and by what the other
// gained on it. That is looked at once a second, and at once when the wall clock has jumped, which a sleep makes it do;
// where it was only set, forward or back, by hand or by NTP, nothing happens.

import { uptime } from 'node:os'

/** Gains below this are the clocks' coarse reading; so much of each sleep may go uncounted (guess; uptime has 10 ms). */
export const toleranceMs = 50
/** Readings further apart than this are not of one moment, and say nothing about the other clocks (guess). */
const readingMsMax = 5
/** Between two looks at the time since start (guess). */
const lookMs = 1_000

export interface Clocks {
  /** Milliseconds that never go back, and may stand still in sleep. */
  readonly monotonic: () => number
  /** Milliseconds since 1970. */
  readonly wall: () => number
  /** Milliseconds since the machine was started, its sleep included. */
  readonly up: () => number
}

export const machineClocks: Clocks = { monotonic: () => performance.now(), wall: () => Date.now(), up: () => uptime() * 1_000 }

export class SteadyClock {
  readonly #clocks: Clocks
  readonly #start: number
  /** Wall minus monotonic, the least seen since the last jump. */
  #wallAhead: number
  /** Time since start minus monotonic, the least seen since the last sleep. */
  #upAhead: number
  #lookedAt: number
  #sleptMs = 0

  constructor (clocks: Clocks) {
    this.#clocks = clocks
    this.#start = clocks.monotonic()
    this.#lookedAt = this.#start
    this.#wallAhead = clocks.wall() - this.#start
    this.#upAhead = clocks.up() - this.#start
  }

  /** Milliseconds since this clock was made. */
  now (): number {
    const before = this.#clocks.monotonic()
    const wall = this.#clocks.wall()
    const after = this.#clocks.monotonic()
    const hasJumped = after - before <= readingMsMax && this.#hasJumped(wall - after)
    if (hasJumped || after - this.#lookedAt >= lookMs) this.#countSleep()
    return after - this.#start + this.#sleptMs
  }

  wallClock (): number { return this.#clocks.wall() }

  #hasJumped (wallAhead: number): boolean {
    const gained = wallAhead - this.#wallAhead
    const hasJumped = Math.abs(gained) > toleranceMs
    if (hasJumped || gained < 0) this.#wallAhead = wallAhead
    return hasJumped
  }

  #countSleep (): void {
    const before = this.#clocks.monotonic()
    const up = this.#clocks.up()
    const after = this.#clocks.monotonic()
    if (after - before > readingMsMax) return
    this.#lookedAt = after
    const upAhead = up - after
    const gained = upAhead - this.#upAhead
    if (gained > toleranceMs) this.#sleptMs += gained
    if (gained > toleranceMs || gained < 0) this.#upAhead = upAhead
  }
}
