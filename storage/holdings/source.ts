// The giving end of a fill (docs/ownership.md, "Fill sessions"): a session for each learner, in memory. The first round
// opens it, with all rows or with a digest of them: from one synchronous step on, a snapshot holds what was, and a
// follower notes what is written; later rounds bring what was noted, and what the learner asks for. A round that breaks off ends the session, for nobody knows which of its rows arrived; and a
// source that forgot a session says so, and the fill begins anew. It asks for no ownership: the claims say who may be a
// source.

import type { Contact, Host } from '../../overlay/host.ts'
import type { Interval, Key } from '../../overlay/interval.ts'
import { holdsInterval, holdsKey, sameInterval } from '../../overlay/interval.ts'
import type { Row, Store } from '../../overlay/store.ts'
import type { Source } from '../../overlay/stream.ts'
import { BusyError } from '../../overlay/errors.ts'
import { FillError, UnknownSessionError } from '../errors.ts'
import { digestMethod, fillMethod } from '../messages.ts'
import type { DigestFrame, DigestMessage, FillFrame, FillMessage } from '../messages.ts'
import { storageMetrics } from '../metrics.ts'
import { keyName } from '../records/key-layout.ts'
import { frames } from '../records/row-frame.ts'
import type { FrameRow } from '../records/row-frame.ts'
import { stretchesOf } from './digest.ts'
import type { Stretch } from './digest.ts'
import { pagesOf } from './row-reader.ts'
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
  /** What it noted, and no round has brought yet. */
  readonly noted: Map<string, Key>
  /** The next round; undefined while one runs. */
  round: number | undefined
  usedMs: number
}

/** Keys looked up at once in a later round, so that a long list does not hold up other work. Guess. */
const keysAtOnce = 256
/** Stretches of a digest in one frame. Guess: each stands for up to 64 KiB that are read, and a reader waits for a frame. */
const stretchesAtOnce = 32

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
    this.#components.host.handlePull(digestMethod, (message, from) => this.#digest(message, from))
  }

  /** End all sessions of this name. */
  release (session: string): void {
    for (const name of this.#sessions.keys()) if (name.startsWith(`${session}/`)) this.#end(name)
  }

  stop (): void {
    for (const name of this.#sessions.keys()) this.#end(name)
  }

  #rounds (message: FillMessage, from: Contact): Source<FillFrame> {
    const name = nameOf(message, from)
    if (message.round > 0) return this.#goOn(name, message)
    const { session, pages, close } = this.#open(name, message.interval)
    return this.#guarded(name, session, 1, this.#frames(pages), close, () => lastFrame(session))
  }

  #digest (message: DigestMessage, from: Contact): Source<DigestFrame> {
    const name = nameOf(message, from)
    const { session, pages, close } = this.#open(name, message.interval)
    return this.#guarded(name, session, 1, digestFrames(stretchesOf(pages)), close, () => undefined)
  }

  #open (name: string, interval: Interval): { session: Session, pages: AsyncIterable<Row[]>, close: () => void } {
    const { host, store, writer } = this.#components
    this.#endIdle()
    this.#end(name)
    if (this.#sessions.size >= this.#init.sessionsMax) throw new BusyError(`${this.#sessions.size} fills at once; try again`)
    const session: Session = { interval, follower: writer.follow(interval), noted: new Map(), round: undefined, usedMs: host.now() }
    this.#sessions.set(name, session)
    const snapshot = store.snapshot()
    const pages = snapshot.pages(interval, { pageRows: this.#init.scanPageRows })
    return { session, pages, close: () => { snapshot.close() } }
  }

  #goOn (name: string, message: FillMessage): Source<FillFrame> {
    const { interval, round, parts, keys, more } = message
    const session = this.#sessions.get(name)
    if (session === undefined || session.round !== round || !sameInterval(session.interval, interval)) {
      throw new UnknownSessionError(`no fill waits for round ${round} under this name`)
    }
    if (!parts.every(part => holdsInterval(interval, part)) || !keys.every(key => holdsKey(interval, key))) throw new FillError('asked for rows outside of the interval of the fill')
    session.round = undefined
    return this.#guarded(name, session, more ? round : round + 1, this.#frames(this.#asked(session, message)), () => {}, () => lastFrame(session))
  }

  /** Rows of parts as of now; then what was asked for by key and, in the last request of a round, what was noted. */
  async * #asked (session: Session, { parts, keys, more }: FillMessage): AsyncGenerator<FrameRow[], void, undefined> {
    if (parts.length > 0) yield * this.#parts(parts)
    note(session)
    const asked = new Map(keys.map(key => [keyName(key), key]))
    // what is answered now need not be told again as noted
    for (const name of asked.keys()) session.noted.delete(name)
    if (!more) {
      for (const [name, key] of session.noted) asked.set(name, key)
      session.noted.clear()
    }
    yield * this.#values(session.interval, [...asked.values()])
  }

  async * #parts (parts: readonly Interval[]): AsyncGenerator<FrameRow[], void, undefined> {
    const snapshot = this.#components.store.snapshot()
    try {
      yield * pagesOf(snapshot, parts, this.#init.scanPageRows)
    } finally {
      snapshot.close()
    }
  }

  /** The rows of keys, as flushed; a key without a row is told as one. */
  async * #values (interval: Interval, keys: readonly Key[]): AsyncGenerator<FrameRow[], void, undefined> {
    await this.#components.writer.settled(interval)
    for (let at = 0; at < keys.length; at += keysAtOnce) {
      yield keys.slice(at, at + keysAtOnce).map((key: Key) => ({ key, value: this.#components.store.getSync(key) }))
    }
  }

  async * #frames (pages: AsyncIterable<readonly FrameRow[]>): AsyncGenerator<FillFrame, void, undefined> {
    for await (const page of pages) {
      for (const rows of frames(page, this.#init.frameBytesMax)) {
        this.#components.host.metrics.count(storageMetrics.sent, {}, rows.length)
        yield { rows, last: false, left: 0 }
      }
    }
  }

  /** A round that brings frames and then what `last` gives; the session waits for round `next` after it, or is over if it breaks off. */
  async * #guarded<Frame> (name: string, session: Session, next: number, given: AsyncIterable<Frame>, close: () => void, last: () => Frame | undefined): AsyncGenerator<Frame, void, undefined> {
    const { host } = this.#components
    let isWhole = false
    try {
      for await (const frame of given) {
        if (this.#sessions.get(name) !== session) throw new UnknownSessionError('this fill has ended')
        session.usedMs = host.now()
        yield frame
      }
      isWhole = true
    } finally {
      close()
      if (!isWhole && this.#sessions.get(name) === session) this.#end(name)
    }
    session.round = next
    session.usedMs = host.now()
    const end = last()
    if (end !== undefined) yield end
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

function nameOf ({ session }: { readonly session: string }, from: Contact): string {
  return `${session}/${from.id}`
}

function note ({ follower, noted }: Session): void {
  for (const key of follower.take()) noted.set(keyName(key), key)
}

/** Tells how many keys a next round would bring. */
function lastFrame (session: Session): FillFrame {
  note(session)
  return { rows: [], last: true, left: session.noted.size }
}

async function * digestFrames (stretches: AsyncIterable<Stretch>): AsyncGenerator<DigestFrame, void, undefined> {
  let some: Stretch[] = []
  for await (const stretch of stretches) {
    some.push(stretch)
    if (some.length < stretchesAtOnce) continue
    yield { stretches: some }
    some = []
  }
  if (some.length > 0) yield { stretches: some }
}
