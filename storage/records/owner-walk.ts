// The walk over the owners of a range or an extent. It goes on by key, never by "the next node", so a boundary that moves
// between two steps neither hides a record nor shows one twice (docs/ownership.md, "Scans go on by key"). An owner that
// does not answer, or stays too busy, is named as missing, and the walk goes on behind it. The next step is asked for
// while the rows of the last are used: one ahead, never more, so a slow reader holds up at most one message.
// What is asked and what lies next is the plan's business (range.ts, find.ts).

import { errorName, OwnerUnreachableError } from '../../overlay/errors.ts'
import type { Interval, Key } from '../../overlay/interval.ts'
import { compareHighs, compareKeys } from '../../overlay/interval.ts'
import type { AskOptions } from '../../overlay/routing/routing.ts'
import type { Missing, ReadEnd } from '../storage-api.ts'
import type { Course } from './ask.ts'
import { collectionInterval, withoutCollection } from './key-layout.ts'

/** Ms between two tries of a busy owner: the first, doubled each time. Guess: about what one message of rows takes. */
const busyPauseMs = 25

/** Keys with their collection that could not be had. */
export interface Gap {
  readonly interval: Interval
  readonly peer: string | undefined
  readonly reason: string
}

export interface Step<Row> {
  readonly rows: readonly Row[]
  /** Where what is left begins; walking down, where it ends. Undefined: nothing is left. */
  readonly next: Key | undefined
  readonly missing: readonly Gap[]
}

export interface Plan<Row> {
  readonly collection: string
  /** All keys that the walk is about. */
  readonly interval: Interval & { readonly high: Key }
  readonly reverse: boolean
  /** Undefined: there is nothing to walk. */
  readonly start: Key | undefined
  /** Ask the owner at a position for its rows from there on, within limits of the plan. Its next is not yet `onward`. */
  ask (at: Key, options: AskOptions): Promise<Step<Row>>
  /** The first position at or after `at` (walking down, at or before) that is worth a step. */
  onward (at: Key): Key | undefined
  /** Are the limits reached? */
  isFull (): boolean
  /** For answers that a limit cut. */
  cursor (next: Key): string
}

/** What routing adds to a BusyError: whose run is meant. Without it nobody knows where the next owner's begins. */
interface BusyOwner {
  readonly interval?: Interval | undefined
  readonly ownerId?: string | undefined
}

export class OwnerWalk<Row> {
  readonly #plan: Plan<Row>
  readonly #course: Course
  readonly #askMsMin: number
  readonly #missing: Gap[] = []
  readonly #stopping = new AbortController()
  #next: Key | undefined

  constructor (plan: Plan<Row>, course: Course, { askMsMin }: { askMsMin: number }) {
    this.#plan = plan
    this.#course = course
    this.#askMsMin = askMsMin
    this.#next = plan.start
  }

  /** The rows of each owner, in order. To be read once; ending early stops the walk. */
  async * pages (): AsyncGenerator<readonly Row[]> {
    const parent = this.#course.signal
    const onAbort = (): void => { this.#stopping.abort(parent?.reason) }
    if (parent?.aborted === true) onAbort()
    parent?.addEventListener('abort', onAbort, { once: true })
    let ahead = this.#nextStep()
    try {
      while (ahead !== undefined) {
        const step = await ahead
        this.#missing.push(...step.missing)
        this.#next = step.next
        ahead = this.#nextStep()
        if (step.rows.length > 0) yield step.rows
      }
    } finally {
      parent?.removeEventListener('abort', onAbort)
      this.#stopping.abort()
      ahead?.catch(() => {})
    }
  }

  /** What the answer says at its end. */
  end (): ReadEnd {
    return {
      // Also false when the reader gave up before the end.
      complete: this.#missing.length === 0 && (this.#next === undefined || this.#plan.isFull()),
      missing: this.#joinedMissing(),
      cursor: this.#next !== undefined && this.#plan.isFull() ? this.#plan.cursor(this.#next) : undefined,
      ...this.#course.cost()
    }
  }

  #nextStep (): Promise<Step<Row>> | undefined {
    if (this.#next === undefined || this.#plan.isFull()) return undefined
    const step = this.#step(this.#next)
    step.catch(() => {}) // whoever awaits it is told; nobody may
    return step
  }

  async #step (at: Key): Promise<Step<Row>> {
    let keptMs: number | undefined
    for (let pauseMs = busyPauseMs; ; pauseMs *= 2) {
      const remainingMs = this.#course.remainingMs
      if (remainingMs <= 0) return this.#allMissing(at, undefined, 'deadline')
      // Half of what is left, so that a silent owner leaves time for those behind it.
      const deadlineMs = Math.max(remainingMs / 2, Math.min(remainingMs, this.#askMsMin))
      keptMs ??= remainingMs - deadlineMs // not to be spent on waiting for a busy one
      try {
        const step = await this.#plan.ask(at, this.#course.ask({ repeatable: true, deadlineMs, signal: this.#stopping.signal }))
        return { ...step, next: this.#onward(step.next) }
      } catch (error) {
        if (this.#stopping.signal.aborted) throw error
        if (error instanceof OwnerUnreachableError) return this.#behind(at, error, 'unreachable')
        const name = errorName(error)
        if (name === 'BusyError') {
          if (this.#course.remainingMs - pauseMs <= keptMs) return this.#behindBusy(at, error as BusyOwner)
          await this.#course.pause(pauseMs, this.#stopping.signal)
          continue
        }
        if (name === 'ConnectionLostError' || name === 'UnreachableError') return this.#allMissing(at, undefined, 'unreachable')
        if (name !== 'TimeoutError') throw error
      }
    }
  }

  #onward (next: Key | undefined): Key | undefined {
    return next === undefined ? undefined : this.#plan.onward(next)
  }

  /** Go on behind the keys that nobody answers for. */
  #behind (at: Key, { interval, ownerId }: { interval: Interval, ownerId: string | undefined }, reason: string): Step<Row> {
    const { low, high } = this.#plan.interval
    if (this.#plan.reverse) {
      const behind = compareKeys(interval.low, low) > 0 && compareKeys(interval.low, at) < 0 ? interval.low : low
      return { rows: [], next: this.#plan.onward(behind), missing: [{ interval: { low: behind, high: at }, peer: ownerId, reason }] }
    }
    const behind = compareHighs(interval.high, high) < 0 && compareHighs(interval.high, at) > 0 ? interval.high! : high
    return { rows: [], next: this.#plan.onward(behind), missing: [{ interval: { low: at, high: behind }, peer: ownerId, reason }] }
  }

  #behindBusy (at: Key, { interval, ownerId }: BusyOwner): Step<Row> {
    return interval === undefined ? this.#allMissing(at, ownerId, 'busy') : this.#behind(at, { interval, ownerId }, 'busy')
  }

  #allMissing (at: Key, peer: string | undefined, reason: string): Step<Row> {
    const { low, high } = this.#plan.interval
    const interval = this.#plan.reverse ? { low, high: at } : { low: at, high }
    return { rows: [], next: undefined, missing: [{ interval, peer, reason }] }
  }

  /** In ascending order, those that touch and have one cause as one. */
  #joinedMissing (): Missing[] {
    const { collection } = this.#plan
    const gaps = [...this.#missing].sort((a, b) => compareKeys(a.interval.low, b.interval.low))
    const joined: Gap[] = []
    for (const gap of gaps) {
      const last = joined.at(-1)
      const joins = last !== undefined && last.peer === gap.peer && last.reason === gap.reason && compareHighs(last.interval.high, gap.interval.low) === 0
      if (joins) joined[joined.length - 1] = { ...last, interval: { low: last.interval.low, high: gap.interval.high } }
      else joined.push(gap)
    }
    const end = collectionInterval(collection).high
    return joined.map(({ interval: { low, high }, peer, reason }) => ({
      from: withoutCollection(collection, low),
      to: compareHighs(high, end) >= 0 ? undefined : withoutCollection(collection, high!),
      peer,
      reason
    }))
  }
}
