// The order in which a store flushes: batches wait in turn, and those that arrive while a flush runs share the next one
// (group commit; DeWitt et al., "Implementation techniques for main memory database systems", 1984, section 5).
// A clear is a turn of its own, between the batches given before it and after it.
//
// When a flush fails, the turns waiting behind it fail with the same error, for whoever gave them believed that it would
// succeed; so what is on disk is always a prefix of what was acknowledged or in doubt. Later batches are tried anew.
// Does not copy: keys and values must stay as they are until the batch's promise settles.

import { BusyError } from '../overlay/errors.ts'
import type { Interval } from '../overlay/interval.ts'
import type { Operation } from '../overlay/store.ts'

/** What one flush carries: batches in order, or one clear. */
export type Turn =
  | { readonly type: 'batches', readonly batches: ReadonlyArray<readonly Operation[]> }
  | { readonly type: 'clear', readonly interval: Interval }

export interface FlushQueueInit {
  /** Bytes of keys and values in one flush, at most; a larger batch flushes alone. */
  readonly flushBytesMax: number
  /** Bytes of keys and values that may wait behind the running flush. One batch may always wait, whatever its size. */
  readonly waitingBytesMax: number
}

/** What both stores take, so that a simulated one is as busy as a real one. Guesses: a flush of 20 ms, a second of waiting. */
export const storeQueueInit: FlushQueueInit = { flushBytesMax: 1 << 20, waitingBytesMax: 64 << 20 }

interface Waiting {
  readonly turn: Turn
  bytes: number
  readonly settled: PromiseWithResolvers<void>
}

/** Taken for what an operation or a clear costs beside its bytes. Guess. */
const operationOverheadBytes = 64

export class FlushQueue {
  readonly #flush: (turn: Turn, bytes: number) => Promise<void>
  readonly #init: FlushQueueInit
  #waiting: Waiting[] = []
  #waitingBytes = 0
  /** Undefined while nothing runs or waits; else resolves when the queue is empty. */
  #running: Promise<void> | undefined

  /** flush carries out one turn of so many bytes, all or nothing for batches; calls to it never overlap. */
  constructor (flush: (turn: Turn, bytes: number) => Promise<void>, init: FlushQueueInit) {
    this.#flush = flush
    this.#init = init
  }

  /**
   * Resolves when the batch is flushed.
   *
   * @throws BusyError, or what the flush threw
   */
  batch (operations: readonly Operation[]): Promise<void> {
    const bytes = batchBytes(operations)
    const last = this.#waiting.at(-1)
    if (last?.turn.type !== 'batches' || last.bytes + bytes > this.#init.flushBytesMax) {
      return this.#push({ type: 'batches', batches: [operations] }, bytes)
    }
    if (this.#isBusy(bytes)) return Promise.reject(this.#busy())
    const batches = last.turn.batches as Array<readonly Operation[]>
    batches.push(operations)
    last.bytes += bytes
    this.#waitingBytes += bytes
    return last.settled.promise
  }

  /** Resolves when the clear is flushed. Errors as of batch. */
  clear (interval: Interval): Promise<void> {
    return this.#push({ type: 'clear', interval }, operationOverheadBytes)
  }

  /** Resolves when nothing runs or waits. */
  async idle (): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  #push (turn: Turn, bytes: number): Promise<void> {
    if (this.#isBusy(bytes)) return Promise.reject(this.#busy())
    const settled = Promise.withResolvers<void>()
    this.#waiting.push({ turn, bytes, settled })
    this.#waitingBytes += bytes
    this.#running ??= this.#run()
    return settled.promise
  }

  #isBusy (bytes: number): boolean {
    return this.#waitingBytes > 0 && this.#waitingBytes + bytes > this.#init.waitingBytesMax
  }

  #busy (): BusyError {
    return new BusyError(`${this.#waitingBytes} bytes wait for the disk, the most is ${this.#init.waitingBytesMax}`)
  }

  async #run (): Promise<void> {
    await undefined // batches given in one go share the flush
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#waitingBytes -= next.bytes
      try {
        await this.#flush(next.turn, next.bytes)
        next.settled.resolve()
      } catch (error) {
        next.settled.reject(error)
        this.#rejectWaiting(error)
      }
    }
    this.#running = undefined
  }

  #rejectWaiting (error: unknown): void {
    for (const { settled } of this.#waiting) settled.reject(error)
    this.#waiting = []
    this.#waitingBytes = 0
  }
}

function batchBytes (operations: readonly Operation[]): number {
  let bytes = operationOverheadBytes
  for (const operation of operations) {
    bytes += operationOverheadBytes + operation.key.length + (operation.type === 'put' ? operation.value.length : 0)
  }
  return bytes
}
