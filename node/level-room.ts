// Which writes a store takes while its disk is short of room. Below what is kept free (disk-space.ts) no records are
// taken; the rest of that room is for what gives room back or keeps promises: deletes, clears, and rows that are no
// records, such as claims, so that a full peer can still start, hand over and leave. Below a part of it nothing is taken.
//
// Records are refused before they are queued, by what the last look said, for one that waited for a look would come
// behind those given after it. While any are refused, a timer looks, so writes go on by themselves.

import type { Logger } from '../overlay/host.ts'
import type { Key } from '../overlay/interval.ts'
import type { Operation } from '../overlay/store.ts'
import type { Turn } from '../storage/flush-queue.ts'
import { isFull, type DiskSpace, type Space } from './disk-space.ts'
import { storeErrorFrom, storeFullError } from './level-errors.ts'
import type { LimitedLog } from './limited-log.ts'

/** Of what is kept free: below that nothing is written. A guess: LevelDB needs some to turn its logs into tables. */
const lastPart = 1 / 4
/** Between two looks while records are refused. A guess. */
const lookAgainMs = 1_000

export interface LevelRoomComponents {
  readonly space: DiskSpace
  readonly log: Logger | undefined
  readonly limitedLog: LimitedLog | undefined
}

export interface LevelRoomInit {
  readonly directory: string
  readonly isRecord: (key: Key) => boolean
}

export class LevelRoom {
  readonly #components: LevelRoomComponents
  readonly #init: LevelRoomInit
  /** While it is set, records are refused. */
  #short: Space | undefined
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor (components: LevelRoomComponents, init: LevelRoomInit) {
    this.#components = components
    this.#init = init
  }

  /** @throws StoreFullError for records while there is no room for them */
  admit (operations: readonly Operation[]): void {
    if (this.#short !== undefined && operations.some(operation => this.#takesRoom(operation))) throw storeFullError(this.#init.directory, this.#short)
  }

  /** Just before a write. @throws StoreFullError, StoreError */
  async assertRoom (turn: Turn): Promise<void> {
    const space = await this.#components.space.now().catch((error: unknown) => { throw storeErrorFrom(error, this.#init.directory) })
    this.#note(space)
    if (this.#short === undefined) return
    const takesRoom = turn.type === 'batches' && turn.batches.some(batch => batch.some(operation => this.#takesRoom(operation)))
    if (takesRoom || space.freeBytes < space.reservedBytes * lastPart) throw storeFullError(this.#init.directory, space)
  }

  stop (): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #takesRoom (operation: Operation): boolean {
    return operation.type === 'put' && this.#init.isRecord(operation.key)
  }

  #note (space: Space): void {
    const { log, limitedLog } = this.#components
    const { directory } = this.#init
    if (isFull(space)) {
      this.#short = space
      limitedLog?.warn('room', { directory, ...space }, 'the disk is full: no more records are taken, reads go on; free some space')
      this.#lookAgain()
    } else if (this.#short !== undefined) {
      this.#short = undefined
      limitedLog?.forget('room')
      log?.info({ directory, ...space }, 'the disk has room again: records are taken')
    }
  }

  #lookAgain (): void {
    if (this.#timer !== undefined || this.#isStopped) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#components.space.now().then(space => { this.#note(space) }, () => { this.#lookAgain() })
    }, lookAgainMs)
    this.#timer.unref()
  }
}
