// A learner that holds a copy: it is brought in line with its source and never cleared, for it may be one of few. First
// both compare a digest, and the source sends the rows of the parts that differ; each round ends with what was noted.
//
// Until the source has promised, a write may be acknowledged that this copy has and the source's snapshot lacks. So
// before the tail only what is missing or newer by version is taken. Keys that stay different are *surplus*. In the
// tail nothing is written any more and the source has all that was acknowledged: there it answers for the surplus, and
// for what was written here meanwhile, and its word replaces, deletes too.
//
// The invariant: the own row of a key is what the source had at some moment of the session, or the key is among those
// that the source noted since, or it is here among the surplus or what was written here.

import { equals } from 'uint8arrays/equals'
import type { Host } from '../../overlay/host.ts'
import type { Interval, Key } from '../../overlay/interval.ts'
import { nextKey } from '../../overlay/interval.ts'
import type { Member } from '../../overlay/member.ts'
import type { Store } from '../../overlay/store.ts'
import { FillError } from '../errors.ts'
import { digestMethod } from '../messages.ts'
import type { DigestFrame, FillFrame, FillMessage } from '../messages.ts'
import { keyName } from '../records/key-layout.ts'
import { versionOf } from '../records/record.ts'
import { frames } from '../records/row-frame.ts'
import type { FrameRow } from '../records/row-frame.ts'
import { compareVersions } from '../records/version.ts'
import { differing } from './digest.ts'
import type { Stretch } from './digest.ts'
import { fillFrames, Flushes } from './fill-frames.ts'
import { pagesOf, RowReader } from './row-reader.ts'
import type { Follower, Writer } from './writer.ts'

export interface ReconciliationComponents {
  readonly host: Host
  readonly store: Store
  readonly writer: Writer
  /** Asked in the step of each write: is this still a copy that somebody else may replace? */
  readonly mayWrite: () => boolean
}

export interface ReconciliationInit {
  readonly frameBytesMax: number
  readonly scanPageRows: number
  readonly surplusKeysMax: number
  readonly callMs: number
}

export interface ReconciledFill {
  readonly session: string
  readonly interval: Interval
  readonly source: Member
}

export interface Round {
  readonly round: number
  /** Has the source promised? */
  readonly isTail: boolean
  readonly signal: AbortSignal
  readonly onRows: (count: number) => void
}

export class Reconciliation {
  readonly #components: ReconciliationComponents
  readonly #init: ReconciliationInit
  readonly #fill: ReconciledFill
  readonly #follower: Follower
  /** Written here since the session began, and not compared since. */
  readonly #written = new Map<string, Key>()
  /** Compared, and not what the source has. */
  readonly #surplus = new Map<string, Key>()
  /** Keys that the source had noted when its last round ended. */
  #leftThere = 0

  constructor (components: ReconciliationComponents, fill: ReconciledFill, init: ReconciliationInit) {
    this.#components = components
    this.#init = init
    this.#fill = fill
    this.#follower = components.writer.follow(fill.interval)
  }

  /** Keys that a next round would bring; surplus that only the tail can settle does not count. */
  get left (): number {
    this.#note()
    return this.#leftThere + this.#written.size
  }

  /** Resolves when all that came is flushed. @throws FillError, errors of pull and of the store */
  async round (at: Round): Promise<void> {
    if (at.round === 0) {
      const parts = await this.#compare(at.signal)
      for (const some of frames(parts.map(part => ({ key: part.low, value: part.high, part })), this.#init.frameBytesMax)) {
        await this.#takeParts(some.map(({ part }) => part), at)
      }
    }
    await this.#settle(at)
  }

  end (): void {
    this.#components.writer.unfollow(this.#follower)
  }

  /** The parts of the interval where the source's snapshot is not what is here. */
  async #compare (signal: AbortSignal): Promise<Interval[]> {
    const { host, store } = this.#components
    const { session, interval, source } = this.#fill
    const snapshot = store.snapshot()
    const own = new RowReader(snapshot.pages(interval, { pageRows: this.#init.scanPageRows }))
    try {
      const digest = host.pull(source.contact, digestMethod, { session, interval }, { deadlineMs: this.#init.callMs, signal })
      return await differing(interval, stretchesIn(digest), own)
    } finally {
      await own.close()
      snapshot.close()
    }
  }

  /** Take the source's rows of parts; own rows that it does not have are surplus. */
  async #takeParts (parts: readonly Interval[], at: Round): Promise<void> {
    const snapshot = this.#components.store.snapshot()
    const own = new RowReader(pagesOf(snapshot, parts, this.#init.scanPageRows))
    const flushes = new Flushes()
    try {
      for await (const frame of this.#pull({ parts, keys: [], more: true }, at)) {
        const end = frame.rows.at(-1)
        if (end === undefined && !frame.last) continue
        const there = new Set(frame.rows.map(({ key }) => keyName(key)))
        for await (const page of own.below(end === undefined ? undefined : nextKey(end.key))) {
          for (const { key } of page) if (!there.has(keyName(key))) this.#addSurplus(key)
        }
        await flushes.add(this.#take(frame.rows, at))
      }
      await flushes.all()
    } finally {
      await own.close()
      snapshot.close()
    }
  }

  /** The end of a round: what the source noted, and its word for the keys that are open here. */
  async #settle (at: Round): Promise<void> {
    this.#note()
    // surplus found just now would get the same answer again, unless that is the last word
    const open = at.round === 0 && !at.isTail ? [] : [...new Map([...this.#surplus, ...this.#written]).values()]
    const lists = [...frames(open.map(key => ({ key, value: undefined })), this.#init.frameBytesMax)]
    const last = lists.pop() ?? []
    for (const list of lists) await this.#takeKeys({ parts: [], keys: keysOf(list), more: true }, at)
    await this.#takeKeys({ parts: [], keys: keysOf(last), more: false }, at)
    if (at.isTail && this.#surplus.size > 0) throw new FillError(`the source left ${this.#surplus.size} keys without an answer`)
  }

  async #takeKeys (asked: Pick<FillMessage, 'parts' | 'keys' | 'more'>, at: Round): Promise<void> {
    const flushes = new Flushes()
    for await (const frame of this.#pull(asked, at)) {
      this.#leftThere = frame.left
      await flushes.add(this.#take(frame.rows, at))
    }
    await flushes.all()
  }

  async * #pull (asked: Pick<FillMessage, 'parts' | 'keys' | 'more'>, { round, signal, onRows }: Round): AsyncGenerator<FillFrame, void, undefined> {
    const { session, interval, source } = this.#fill
    // at the source the digest was a round of its own
    const message = { session, interval, round: round + 1, ...asked }
    for await (const frame of fillFrames(this.#components.host, source, message, { deadlineMs: this.#init.callMs, signal })) {
      onRows(frame.rows.length)
      yield frame
    }
  }

  /** Compare and write in one step, so that no write of others comes in between. Resolves when flushed. */
  #take (rows: readonly FrameRow[], { isTail, signal }: Round): Promise<void> {
    signal.throwIfAborted()
    if (!this.#components.mayWrite()) throw new FillError('this node came to own a part of the interval')
    this.#note()
    const taken: FrameRow[] = []
    for (const row of rows) {
      const name = keyName(row.key)
      const order = this.#compareRow(row)
      this.#written.delete(name)
      this.#surplus.delete(name)
      if (order === 'newer' || (order === 'other' && isTail)) taken.push(row)
      else if (order === 'other') this.#addSurplus(row.key)
    }
    if (taken.length === 0) return Promise.resolve()
    const flushed = this.#components.writer.copy(taken)
    this.#follower.take() // what the fill itself writes is the source's and needs no second look
    return flushed
  }

  /** What the source's row is beside the own one. */
  #compareRow ({ key, value }: FrameRow): 'same' | 'newer' | 'other' {
    const { store, writer } = this.#components
    const own = writer.latest(key)
    // what is on its way to the disk may still fail
    if (isSame(own, value)) return isSame(store.getSync(key), value) ? 'same' : 'other'
    if (value === undefined) return 'other'
    // deleted here while the session ran: the source may not have heard of it yet
    if (own === undefined) return this.#isOpen(key) ? 'other' : 'newer'
    return compareVersions(versionOf(own), versionOf(value)) < 0 ? 'newer' : 'other'
  }

  #isOpen (key: Key): boolean {
    const name = keyName(key)
    return this.#written.has(name) || this.#surplus.has(name)
  }

  #addSurplus (key: Key): void {
    this.#surplus.set(keyName(key), key)
    if (this.#surplus.size > this.#init.surplusKeysMax) throw new FillError(`this copy has more than ${this.#init.surplusKeysMax} keys otherwise than its source`)
  }

  #note (): void {
    for (const key of this.#follower.take()) this.#written.set(keyName(key), key)
  }
}

async function * stretchesIn (digest: AsyncIterable<DigestFrame>): AsyncGenerator<Stretch, void, undefined> {
  for await (const { stretches } of digest) yield * stretches
}

function keysOf (rows: readonly FrameRow[]): Key[] {
  return rows.map(({ key }) => key)
}

function isSame (a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : equals(a, b)
}
