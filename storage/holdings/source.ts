// The giving end of a fill (docs/ownership.md, "Fill sessions"): a session for each learner, in memory. The first round
// opens it: from one synchronous step on, a snapshot holds what was, and a follower notes what is written; later rounds
// bring what was noted. A round that breaks off ends the session, for nobody knows which of its rows arrived; and a
// source that forgot a session says so, and the fill begins anew. It asks for no ownership: the claims say who may be a
// source.

import type { Contact, Host } from '../../overlay/host.ts'
import type { Interval, Key } from '../../overlay/interval.ts'
import { sameInterval } from '../../overlay/interval.ts'
import type { Store } from '../../overlay/store.ts'
import type { Source } from '../../overlay/stream.ts'
import { BusyError } from '../../overlay/errors.ts'
import { UnknownSessionError } from '../errors.ts'
import { fillMethod } from '../messages.ts'
import type { FillFrame, FillMessage } from '../messages.ts'
import { frames } from '../records/row-frame.ts'
import type { FrameRow } from '../records/row-frame.ts'
import type { Follower, Writer } from './writer.ts'

export interface SourceComponents {
  readonly host: Host
  readonly store: Store
  readonly writer: Writer
}

export interface SourceInit {
  readonly frameBytesMax: number
  readonly scanPageRows: number
  readonly sessionMs: number
  readonly sessionsMax: number
}

interface Session {
  readonly interval: Interval
  readonly follower: Follower
  /** The next round; undefined while one runs. */
  round: number | undefined
  usedMs: number
}

/** Keys looked up at once in a later round, so that a long list does not hold up other work. Guess. */
const keysAtOnce = 256

export class FillSources {
  readonly #components: SourceComponents
  readonly #init: SourceInit
  readonly #sessions = new Map<string, Session>()

  constructor (components: SourceComponents, init: SourceInit) {
    this.#components = components
    this.#init = init
  }

  get size (): number {
    return this.#sessions.size
  }

  start (): void {
    this.#components.host.handlePull(fillMethod, (message, from) => this.#rounds(message, from))
  }

  /** End all sessions of this name. */
  release (session: string): void {
    for (const name of this.#sessions.keys()) if (name.startsWith(`${session}/`)) this.#end(name)
  }

  stop (): void {
    for (const name of this.#sessions.keys()) this.#end(name)
  }

  #rounds (message: FillMessage, from: Contact): Source<FillFrame> {
    const name = `${message.session}/${from.id}`
    return message.round === 0 ? this.#open(name, message.interval) : this.#goOn(name, message)
  }

  #open (name: string, interval: Interval): Source<FillFrame> {
    const { host, store, writer } = this.#components
    this.#endIdle()
    this.#end(name)
    if (this.#sessions.size >= this.#init.sessionsMax) throw new BusyError(`${this.#sessions.size} fills at once; try again`)
    const follower = writer.follow(interval)
    const session: Session = { interval, follower, round: undefined, usedMs: host.now() }
    this.#sessions.set(name, session)
    const snapshot = store.snapshot()
    const pages = snapshot.pages(interval, { pageRows: this.#init.scanPageRows })
    return this.#guarded(name, session, 0, pages, () => { snapshot.close() })
  }

  #goOn (name: string, { interval, round }: FillMessage): Source<FillFrame> {
    const session = this.#sessions.get(name)
    if (session === undefined || session.round !== round || !sameInterval(session.interval, interval)) {
      throw new UnknownSessionError(`no fill waits for round ${round} under this name`)
    }
    session.round = undefined
    return this.#guarded(name, session, round, this.#written(session), () => {})
  }

  /** What was noted, as flushed; a key without a row is told as one. */
  async * #written ({ interval, follower }: Session): AsyncGenerator<FrameRow[]> {
    const keys = follower.take()
    await this.#components.writer.settled(interval)
    for (let at = 0; at < keys.length; at += keysAtOnce) {
      yield keys.slice(at, at + keysAtOnce).map((key: Key) => ({ key, value: this.#components.store.getSync(key) }))
    }
  }

  async * #guarded (name: string, session: Session, round: number, pages: AsyncIterable<FrameRow[]>, close: () => void): AsyncGenerator<FillFrame> {
    const { host } = this.#components
    let isWhole = false
    try {
      for await (const page of pages) {
        for (const rows of frames(page, this.#init.frameBytesMax)) {
          if (this.#sessions.get(name) !== session) throw new UnknownSessionError('this fill has ended')
          session.usedMs = host.now()
          yield { rows, last: false, left: 0 }
        }
      }
      isWhole = true
    } finally {
      close()
      if (!isWhole && this.#sessions.get(name) === session) this.#end(name)
    }
    session.round = round + 1
    session.usedMs = host.now()
    yield { rows: [], last: true, left: session.follower.size }
  }

  #end (name: string): void {
    const session = this.#sessions.get(name)
    if (session === undefined) return
    this.#components.writer.unfollow(session.follower)
    this.#sessions.delete(name)
  }

  #endIdle (): void {
    const before = this.#components.host.now() - this.#init.sessionMs
    for (const [name, { usedMs }] of this.#sessions) if (usedMs < before) this.#end(name)
  }
}
