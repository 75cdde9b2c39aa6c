// Intents: what a change of a primary record has still to do elsewhere. The owner of the primary writes the intent with
// the change, then drives its effects, which are versioned and idempotent, and closes it when all have answered; whoever
// receives the primary, by hand-over or after a restart, drives what is open again. So derived rows follow their primary
// whatever dies in between (docs/places.md, "Intents"). Written once; today for an object's
// place, later for index terms, shards and notifications.
// It knows neither the rows nor the effects: a Primary says what is open under a key.

import type { Host } from '../overlay/host.ts'
import type { Key } from '../overlay/interval.ts'
import { UnfinishedError } from './errors.ts'
import { storageMetrics } from './metrics.ts'
import { keyName } from './records/key-layout.ts'
import { compareVersions, versionText } from './records/version.ts'
import type { Version } from './storage-api.ts'
import type { Turns } from './turns.ts'

/** One thing to do elsewhere. Doing it twice, or late, changes nothing. */
export type Effect = (options: { deadlineMs: number }) => Promise<unknown>

export interface OpenIntent {
  /** Of the row that it stands in. */
  readonly version: Version
  /** Tells it from others of this version: a merge may add some to a row whose own are carried out already. */
  readonly name: Key
  /** In this order. */
  readonly effects: readonly Effect[]
}

/** The rows that carry intents. */
export interface Primary {
  /** What is open under key, flushed or not, oldest first; none for a key that is no primary, or not owned here. */
  open (key: Key): readonly OpenIntent[]
  /** Take the intents of these names from the row if it still has this version, wherever it is owned now. */
  close (key: Key, version: Version, names: readonly Key[], options: { deadlineMs: number }): Promise<unknown>
}

export interface IntentsInit {
  readonly updateMsMax: number
  readonly closeDelayMs: number
  readonly drivenMax: number
  readonly drivesWaitingMax: number
  readonly driveAgainMsMin: number
  readonly driveAgainMsMax: number
}

interface Drive { readonly key: Key, tries: number }
/** By name, all of one version: a row's intents are of its newest. */
interface Answered { readonly key: Key, readonly version: Version, readonly names: Map<string, Key>, tries: number }

/** Tries to close an intent that is carried out. Guess: an hour with doubling waits. */
const closeTriesMax = 16

export class Intents {
  readonly #host: Host
  readonly #primary: Primary
  readonly #turns: Turns
  readonly #init: IntentsInit
  /** Carried out, and to be closed soon. */
  readonly #answered = new Map<string, Answered>()
  /** To be driven in the background. */
  readonly #waiting = new Map<string, Drive>()
  #driving = 0
  #isClosing = false
  #isStopped = false

  constructor ({ host, primary, turns }: { host: Host, primary: Primary, turns: Turns }, init: IntentsInit) {
    this.#host = host
    this.#primary = primary
    this.#turns = turns
    this.#init = init
  }

  stop (): void {
    this.#isStopped = true
    this.#waiting.clear()
  }

  /** Are all intents under key carried out, as far as this node knows? */
  isSettled (key: Key): boolean {
    return this.unanswered(key, this.#primary.open(key)).length === 0
  }

  /** Those of open that are not carried out, as far as this node knows. */
  unanswered<Open extends Pick<OpenIntent, 'version' | 'name'>> (key: Key, open: readonly Open[]): Open[] {
    const done = this.#answered.get(keyName(key))
    return open.filter(({ version, name }) => done === undefined || compareVersions(version, done.version) !== 0 || !done.names.has(keyName(name)))
  }

  /**
   * Carry out what is open under key, in order. To be called by who has the key's turn, after the row is flushed; with
   * the intents it wrote, since the row may have gone to another owner meanwhile.
   *
   * @throws UnfinishedError when an effect does not answer in time; it is tried again in the background
   */
  async settle (key: Key, open = this.#primary.open(key)): Promise<void> {
    const endMs = this.#host.now() + this.#init.updateMsMax
    for (const intent of this.unanswered(key, open)) {
      try {
        for (const effect of intent.effects) await this.#perform(effect, endMs)
      } catch (error) {
        this.driveLater(key)
        throw new UnfinishedError(`update ${versionText(intent.version)} is stored, but a place did not answer: ${String(error)}; it will be carried out later`)
      }
      this.#answer(key, intent)
    }
    this.#closeSoon()
  }

  /** Carry out what is open under key in the background, until it is done. Says whether there was room to remember it. */
  driveLater (key: Key): boolean {
    const name = keyName(key)
    if (this.#isStopped || this.#waiting.has(name)) return true
    if (this.#waiting.size >= this.#init.drivesWaitingMax) {
      this.#host.metrics.count(storageMetrics.intents, { outcome: 'full' })
      return false
    }
    this.#waiting.set(name, { key, tries: 0 })
    this.#driveNext()
    return true
  }

  /** Those of an older version went out of the row with it. */
  #answer (key: Key, { version, name }: OpenIntent): void {
    const known = this.#answered.get(keyName(key))
    if (known !== undefined && compareVersions(known.version, version) === 0) known.names.set(keyName(name), name)
    else this.#answered.set(keyName(key), { key, version, names: new Map([[keyName(name), name]]), tries: 0 })
  }

  async #perform (effect: Effect, endMs: number): Promise<void> {
    for (let waitMs = this.#init.driveAgainMsMin; ; waitMs *= 2) {
      const deadlineMs = endMs - this.#host.now()
      try {
        await effect({ deadlineMs })
        return
      } catch (error) {
        if (this.#host.now() + waitMs >= endMs || this.#isStopped) throw error
      }
      await this.#host.sleep(waitMs)
    }
  }

  #driveNext (): void {
    for (const [name, drive] of this.#waiting) {
      if (this.#driving >= this.#init.drivenMax) return
      if (drive.tries === 0) this.#drive(name, drive)
    }
  }

  #drive (name: string, drive: Drive): void {
    drive.tries++
    this.#driving++
    void this.#settleInTurn(name, drive.key).then(() => {
      this.#host.metrics.count(storageMetrics.intents, { outcome: 'done' })
    }, error => {
      this.#host.metrics.count(storageMetrics.intents, { outcome: 'again' })
      this.#host.log.debug({ error: String(error) }, 'an intent is tried again later')
      this.#driveAgain(name, drive)
    }).finally(() => {
      this.#driving--
      this.#driveNext()
    })
  }

  /** While it waits, driveLater of the same key changes nothing; it is forgotten before the turn goes to another. */
  async #settleInTurn (name: string, key: Key): Promise<void> {
    const turn = await this.#turns.take(name)
    try {
      await this.settle(key)
      this.#waiting.delete(name)
    } finally {
      turn.release()
    }
  }

  #driveAgain (name: string, drive: Drive): void {
    if (this.#isStopped) return
    const waitMs = Math.min(this.#init.driveAgainMsMin * 2 ** drive.tries, this.#init.driveAgainMsMax)
    this.#host.after(waitMs, () => {
      if (this.#waiting.get(name) === drive) this.#drive(name, drive)
    })
  }

  #closeSoon (waitMs = this.#init.closeDelayMs): void {
    if (this.#isClosing || this.#answered.size === 0 || this.#isStopped) return
    this.#isClosing = true
    this.#host.after(waitMs, () => {
      void Promise.all([...this.#answered].map(async ([name, answered]) => await this.#close(name, answered))).then(closed => {
        this.#isClosing = false
        this.#closeSoon(closed.every(isClosed => isClosed) ? undefined : Math.min(waitMs * 2, this.#init.driveAgainMsMax))
      })
    })
  }

  /** What cannot be closed is tried a few times more; then it is left to whoever drives the row next. */
  async #close (name: string, answered: Answered): Promise<boolean> {
    const { key, version } = answered
    const names = [...answered.names.values()]
    const isClosed = await this.#primary.close(key, version, names, { deadlineMs: this.#init.updateMsMax }).then(() => true, (error: unknown) => {
      if (!this.#isStopped) this.#host.log.debug({ error: String(error) }, 'an intent was not closed')
      return ++answered.tries >= closeTriesMax
    })
    if (isClosed) for (const closed of names) answered.names.delete(keyName(closed))
    if (answered.names.size === 0 && this.#answered.get(name) === answered) this.#answered.delete(name)
    return isClosed
  }
}
