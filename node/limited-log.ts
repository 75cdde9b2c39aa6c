// Lines about what others can cause as often as they like, or what goes on for as long as a fault does: one line a subject
// and period, and the next one says how many were left out. Both the subjects and what is kept of each are bounded.

import type { Logger } from '../overlay/host.ts'

/** One line a subject in that time. Guess: often enough to see that something goes on, seldom enough to read the rest. */
const periodMs = 60_000
/** Subjects remembered; the oldest is forgotten, and then may be told of anew. A guess. */
const subjectsMax = 1_024

interface Told {
  readonly untilMs: number
  leftOut: number
}

export class LimitedLog {
  readonly #log: Logger
  readonly #now: () => number
  readonly #told = new Map<string, Told>()

  /** @param now - milliseconds that never go back */
  constructor (log: Logger, now: () => number = () => performance.now()) {
    this.#log = log
    this.#now = now
  }

  warn (subject: string, fields: object, text: string): void { this.#say('warn', subject, fields, text) }
  error (subject: string, fields: object, text: string): void { this.#say('error', subject, fields, text) }

  /** The next line about this subject is written, whenever it comes. */
  forget (subject: string): void {
    this.#told.delete(subject)
  }

  #say (level: 'warn' | 'error', subject: string, fields: object, text: string): void {
    const told = this.#told.get(subject)
    if (told !== undefined && this.#now() < told.untilMs) {
      told.leftOut++
      return
    }
    this.#told.delete(subject)
    this.#told.set(subject, { untilMs: this.#now() + periodMs, leftOut: 0 })
    if (this.#told.size > subjectsMax) this.#told.delete(this.#told.keys().next().value!)
    this.#log[level](told === undefined || told.leftOut === 0 ? fields : { ...fields, leftOut: told.leftOut }, text)
  }
}
