// The receiving end of a fill. A learner that holds a copy is brought in line with the source (reconcile.ts). Any other
// never mixes: what it held of the interval goes to its present owner first, or is known to be there, then the interval is
// cleared, in its turn among batches, and only then do the source's rows come (docs/ownership.md, "A fill replaces").
// Each round answers when its rows are flushed, so "done" can be built upon. A round that fails fails the session. Rows
// that stay when nobody says what became of the session are strays: they are offered (offer.ts).

import { BusyError } from '../../overlay/errors.ts'
import type { Host } from '../../overlay/host.ts'
import type { Interval } from '../../overlay/interval.ts'
import { intersect, sameInterval } from '../../overlay/interval.ts'
import type { Member, MemberId } from '../../overlay/member.ts'
import type { Operation, Store } from '../../overlay/store.ts'
import { FillError } from '../errors.ts'
import { learnMethod } from '../messages.ts'
import type { LearnMessage, LearnReply } from '../messages.ts'
import { storageMetrics } from '../metrics.ts'
import type { FrameRow } from '../records/row-frame.ts'
import { fillFrames, Flushes } from './fill-frames.ts'
import type { FullParts } from './full-parts.ts'
import { Reconciliation } from './reconcile.ts'
import type { ReconciliationInit } from './reconcile.ts'
import type { Writer } from './writer.ts'

export interface LearnersComponents {
  readonly host: Host
  readonly store: Store
  readonly writer: Writer
  /** Bring what lies in interval to its owner, unless it is known to be there. */
  readonly makeRoom: (interval: Interval, signal: AbortSignal) => Promise<void>
  /** Drop what lies in interval once its owner confirms it; source has all of it. */
  readonly letGo: (interval: Interval, source: Member) => void
  /** Is it a member of any of interval? Then it must not be cleared. */
  readonly holds: (interval: Interval) => boolean
  /** Does this node own any of interval? Then it is nobody's learner there. */
  readonly owns: (interval: Interval) => boolean
  readonly ownsAll: (interval: Interval) => boolean
  /** Is it a member of all of interval? Then the claim that the fill was for has come, or it held a copy before. */
  readonly holdsAll: (interval: Interval) => boolean
  /** Parts that this store was filled with. */
  readonly full: FullParts
}

export interface LearnersInit extends ReconciliationInit {
  readonly memberId: MemberId
  readonly sessionMs: number
  readonly sessionsMax: number
  readonly learnWaitMs: number
}

interface Session {
  readonly interval: Interval
  readonly source: Member
  readonly stopping: AbortController
  readonly holds: boolean
  /** Of a learner that holds a copy, or was filled before for a claim that may still come. */
  readonly copy: Reconciliation | undefined
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

  /** End the sessions whose claim has come: their rows are this node's by it, and whoever held a copy is the owner now. */
  claimed (): void {
    for (const [name, { interval, copy }] of this.#sessions) {
      const has = copy === undefined ? this.#components.holdsAll : this.#components.ownsAll
      if (has(interval)) this.release(name, true)
    }
  }

  start (): void {
    this.#components.host.handle(learnMethod, message => this.#learn(message))
  }

  /**
   * End a session; without `kept`, what it received is let go of. Not cleared at once: who gave up may be in doubt, and
   * the claim decided all the same, so the owner is asked first, which may be this node. A session that failed before it
   * cleared anything received nothing: what lies there are strays, as before. A copy that it held stays.
   */
  release (name: string, kept: boolean): void {
    const session = this.#sessions.get(name)
    if (session === undefined) return
    session.stopping.abort()
    this.#forget(name, session)
    if (!kept) void session.running.then(() => { this.#letGo(session) })
  }

  stop (): void {
    for (const [name, session] of this.#sessions) {
      session.stopping.abort()
      this.#forget(name, session)
    }
  }

  #letGo ({ interval, source, isCleared }: Session): void {
    if (isCleared && !this.#components.holds(interval)) this.#components.letGo(interval, source)
  }

  /** Begin the round, or go on waiting for it. Answers after learnWaitMs at the latest. */
  async #learn (message: LearnMessage): Promise<LearnReply> {
    if (message.member !== this.#init.memberId) throw new FillError('another store is open here than the one that is to be filled')
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
    const { session: name, interval, round, holds } = message
    const known = this.#sessions.get(name)
    if (known !== undefined && sameInterval(known.interval, interval) && known.holds === holds) {
      if (known.round === round) return known
      if (!known.isDone || known.round !== round - 1) throw new FillError(`round ${round} was asked for while round ${known.round} is ${known.isDone ? 'done' : 'running'}`)
      known.round = round
      this.#run(known, message)
      return known
    }
    if (known !== undefined || round !== 0) throw new FillError(`this learner knows no such fill; it restarted, or waited longer than ${this.#init.sessionMs} ms`)
    if (this.#isRefusing && !holds) throw new FillError('this node is leaving and is filled with nothing more; choose another')
    this.#forgetIdle()
    if (this.#sessions.size >= this.#init.sessionsMax) throw new BusyError(`${this.#sessions.size} fills at once; try again`)
    this.#forgetOlder(message)
    if (this.#meetsSession(interval)) throw new BusyError('another fill of this interval is running; try again')
    if (this.#components.owns(interval)) throw new FillError('this node owns a part of the interval and cannot learn it')
    if (!holds && this.#components.holds(interval)) throw new FillError('this node has a copy of a part of the interval, by a claim that may be old')
    const { full } = this.#components
    const isFull = full.covers(interval)
    if (!holds && !isFull && full.mayCome(interval, message.epoch)) throw new FillError('this node was filled with a part of the interval for a claim that may still come')
    const copy = holds || isFull ? new Reconciliation({ ...this.#components, mayWrite: () => !this.#components.owns(interval) }, message, this.#init) : undefined
    const session: Session = { interval, source: message.source, stopping: new AbortController(), holds, copy, isCleared: false, round, running: Promise.resolve(), isDone: false, error: undefined, left: 0, rows: 0, usedMs: 0 }
    this.#sessions.set(name, session)
    this.#run(session, message)
    return session
  }

  #run (session: Session, message: LearnMessage): void {
    session.isDone = false
    const running = session.copy === undefined ? this.#replace(session, message) : this.#reconcile(session, session.copy, message)
    session.running = running.then(() => { session.isDone = true }, error => { session.error = error })
  }

  async #reconcile (session: Session, copy: Reconciliation, { interval, round, tail, holds, epoch }: LearnMessage): Promise<void> {
    await copy.round({ round, isTail: tail, signal: session.stopping.signal, onRows: count => { this.#received(session, count) } })
    session.left = copy.left
    if (!holds && tail && session.left === 0) await this.#components.full.add(interval, epoch)
  }

  async #replace (session: Session, { session: name, interval, source, round, tail, epoch }: LearnMessage): Promise<void> {
    const { host, store, full } = this.#components
    const { signal } = session.stopping
    const flushes = new Flushes()
    if (round === 0) {
      await this.#components.makeRoom(interval, signal)
      if (this.#components.holds(interval)) throw new FillError('this node came to have a copy of a part of the interval')
      session.isCleared = true
      void flushes.add(full.remove(interval))
      await flushes.add(store.clear(interval))
    }
    const message = { session: name, interval, round, parts: [], keys: [], more: false }
    for await (const frame of fillFrames(host, source, message, { deadlineMs: this.#init.callMs, signal })) {
      this.#received(session, frame.rows.length)
      session.left = frame.left
      if (frame.rows.length > 0) await flushes.add(store.batch(frame.rows.map(operationOf)))
    }
    await flushes.all()
    if (tail && session.left === 0) await full.add(interval, epoch)
  }

  #received (session: Session, rows: number): void {
    session.usedMs = this.#components.host.now()
    session.rows += rows
    this.#components.host.metrics.count(storageMetrics.filled, {}, rows)
  }

  /** A source fills an interval once at a time: of an older fill it did not tell, or could not, that it is over. */
  #forgetOlder ({ interval, source }: LearnMessage): void {
    for (const [name, session] of this.#sessions) {
      if (session.source.id === source.id && intersect(session.interval, interval) !== undefined) this.release(name, false)
    }
  }

  #meetsSession (interval: Interval): boolean {
    return [...this.#sessions.values()].some(session => intersect(session.interval, interval) !== undefined)
  }

  #forgetIdle (): void {
    const before = this.#components.host.now() - this.#init.sessionMs
    for (const [name, session] of this.#sessions) {
      if ((session.isDone || session.error !== undefined) && session.usedMs < before) this.#forget(name, session)
    }
  }

  #forget (name: string, session: Session): void {
    session.copy?.end()
    this.#sessions.delete(name)
  }
}

function operationOf ({ key, value }: FrameRow): Operation {
  return value === undefined ? { type: 'delete', key } : { type: 'put', key, value }
}
