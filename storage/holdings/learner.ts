// The receiving end of a fill. A learner never mixes: what it held of the interval goes to its present owner first, or is
// known to be there, then the interval is cleared, in its turn among batches, and only then do the source's rows come
// (docs/ownership.md, "A fill replaces"). Each round answers when its rows are flushed, so "done" can be built upon. A
// round that fails fails the session. Rows that stay when nobody says what became of the session are strays: they are
// offered (offer.ts).

import { BusyError } from '../../overlay/errors.ts'
import type { Host } from '../../overlay/host.ts'
import type { Interval } from '../../overlay/interval.ts'
import { intersect, sameInterval } from '../../overlay/interval.ts'
import type { Member } from '../../overlay/member.ts'
import type { Operation, Store } from '../../overlay/store.ts'
import { FillError } from '../errors.ts'
import { fillMethod, learnMethod } from '../messages.ts'
import type { LearnMessage, LearnReply } from '../messages.ts'
import { storageMetrics } from '../metrics.ts'
import type { FrameRow } from '../records/row-frame.ts'

export interface LearnersComponents {
  readonly host: Host
  readonly store: Store
  /** Bring what lies in interval to its owner, unless it is known to be there. */
  readonly makeRoom: (interval: Interval, signal: AbortSignal) => Promise<void>
  /** Drop what lies in interval once its owner confirms it; source has all of it. */
  readonly letGo: (interval: Interval, source: Member) => void
  /** Does this node own any of interval? Then it must not be cleared. */
  readonly owns: (interval: Interval) => boolean
  /** Does it own all of interval? Then the claim that the fill was for has come. */
  readonly ownsAll: (interval: Interval) => boolean
}

export interface LearnersInit {
  readonly sessionMs: number
  readonly sessionsMax: number
  readonly learnWaitMs: number
  readonly callMs: number
}

interface Session {
  readonly interval: Interval
  readonly source: Member
  readonly stopping: AbortController
  /** Has the order to clear the interval been given? Until then what lies there is not the source's. */
  isCleared: boolean
  round: number
  running: Promise<void>
  isDone: boolean
  error: unknown
  left: number
  rows: number
  usedMs: number
}

export class Learners {
  readonly #components: LearnersComponents
  readonly #init: LearnersInit
  readonly #sessions = new Map<string, Session>()
  #isRefusing = false

  constructor (components: LearnersComponents, init: LearnersInit) {
    this.#components = components
    this.#init = init
  }

  /** What is being received now. */
  intervals (): Interval[] {
    this.#forgetIdle()
    return [...this.#sessions.values()].map(({ interval }) => interval)
  }

  get isFilling (): boolean {
    return this.intervals().length > 0
  }

  /** Sessions that would begin from now on are refused, or no longer; those that have begun go on. */
  refuse (isRefusing: boolean): void {
    this.#isRefusing = isRefusing
  }

  /** End the sessions whose claim has come: their rows are this node's own now. */
  gained (): void {
    for (const [name, { interval }] of this.#sessions) if (this.#components.ownsAll(interval)) this.release(name, true)
  }

  start (): void {
    this.#components.host.handle(learnMethod, message => this.#learn(message))
  }

  /**
   * End a session; without `kept`, what it received is let go of. Not cleared at once: who gave up may be in doubt, and
   * the claim decided all the same, so the owner is asked first, which may be this node. A session that failed before it
   * cleared anything received nothing: what lies there are strays, as before.
   */
  release (name: string, kept: boolean): void {
    const session = this.#sessions.get(name)
    if (session === undefined) return
    session.stopping.abort()
    this.#sessions.delete(name)
    if (!kept) void session.running.then(() => { this.#letGo(session) })
  }

  stop (): void {
    for (const session of this.#sessions.values()) session.stopping.abort()
    this.#sessions.clear()
  }

  #letGo ({ interval, source, isCleared }: Session): void {
    if (isCleared && !this.#components.owns(interval)) this.#components.letGo(interval, source)
  }

  /** Begin the round, or go on waiting for it. Answers after learnWaitMs at the latest. */
  async #learn (message: LearnMessage): Promise<LearnReply> {
    const session = this.#session(message)
    session.usedMs = this.#components.host.now()
    const waiting = new AbortController()
    const isOver = session.running.then(() => { waiting.abort() })
    await Promise.race([isOver, this.#components.host.sleep(this.#init.learnWaitMs, waiting.signal).catch(() => {})])
    if (session.error !== undefined) {
      this.release(message.session, false)
      throw session.error
    }
    return { done: session.isDone && session.round === message.round, left: session.left, rows: session.rows }
  }

  #session (message: LearnMessage): Session {
    const { session: name, interval, round } = message
    const known = this.#sessions.get(name)
    if (known !== undefined && sameInterval(known.interval, interval)) {
      if (known.round === round) return known
      if (!known.isDone || known.round !== round - 1) throw new FillError(`round ${round} was asked for while round ${known.round} is ${known.isDone ? 'done' : 'running'}`)
      known.round = round
      this.#run(known, message)
      return known
    }
    if (known !== undefined || round !== 0) throw new FillError(`this learner knows no such fill; it restarted, or waited longer than ${this.#init.sessionMs} ms`)
    if (this.#isRefusing) throw new FillError('this node is leaving and is filled with nothing more; choose another')
    this.#forgetIdle()
    if (this.#sessions.size >= this.#init.sessionsMax) throw new BusyError(`${this.#sessions.size} fills at once; try again`)
    if (this.#meetsSession(interval)) throw new BusyError('another fill of this interval is running; try again')
    if (this.#components.owns(interval)) throw new FillError('this node owns a part of the interval and cannot learn it')
    const session: Session = { interval, source: message.source, stopping: new AbortController(), isCleared: false, round, running: Promise.resolve(), isDone: false, error: undefined, left: 0, rows: 0, usedMs: 0 }
    this.#sessions.set(name, session)
    this.#run(session, message)
    return session
  }

  #run (session: Session, message: LearnMessage): void {
    session.isDone = false
    session.running = this.#round(session, message).then(() => { session.isDone = true }, error => { session.error = error })
  }

  async #round (session: Session, { session: name, interval, source, round }: LearnMessage): Promise<void> {
    const { host, store } = this.#components
    const { signal } = session.stopping
    const flushed: Array<Promise<void>> = []
    if (round === 0) {
      await this.#components.makeRoom(interval, signal)
      if (this.#components.owns(interval)) throw new FillError('this node came to own a part of the interval')
      session.isCleared = true
      flushed.push(handled(store.clear(interval)))
    }
    let isWhole = false
    for await (const frame of host.pull(source.contact, fillMethod, { session: name, interval, round }, { deadlineMs: this.#init.callMs, signal })) {
      signal.throwIfAborted()
      session.usedMs = host.now()
      session.rows += frame.rows.length
      session.left = frame.left
      isWhole = frame.last
      if (frame.rows.length > 0) flushed.push(handled(store.batch(frame.rows.map(operationOf))))
      // One frame behind the store's queue, so that memory stays bounded by it.
      if (flushed.length > 1) await flushed.shift()
    }
    await Promise.all(flushed)
    if (!isWhole) throw new FillError('the source ended before its last row')
    host.metrics.count(storageMetrics.filled, {}, session.rows)
  }

  #meetsSession (interval: Interval): boolean {
    return [...this.#sessions.values()].some(session => intersect(session.interval, interval) !== undefined)
  }

  #forgetIdle (): void {
    const before = this.#components.host.now() - this.#init.sessionMs
    for (const [name, { usedMs, isDone, error }] of this.#sessions) if ((isDone || error !== undefined) && usedMs < before) this.#sessions.delete(name)
  }
}

function operationOf ({ key, value }: FrameRow): Operation {
  return value === undefined ? { type: 'delete', key } : { type: 'put', key, value }
}

/** Awaited later, or not at all when an earlier one fails. */
function handled (promise: Promise<void>): Promise<void> {
  promise.catch(() => {})
  return promise
}
