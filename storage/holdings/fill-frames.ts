// What both kinds of learners do with a source's frames: a pull that did not bring its last frame is an error, and no more
// waits for the disk than one frame behind the store's queue, so that memory stays bounded by that.

import type { Host } from '../../overlay/host.ts'
import type { Member } from '../../overlay/member.ts'
import { FillError } from '../errors.ts'
import { fillMethod } from '../messages.ts'
import type { FillFrame, FillMessage } from '../messages.ts'

export interface PullOptions {
  /** For each frame. */
  readonly deadlineMs: number
  readonly signal: AbortSignal
}

/** The frames that answer message. @throws FillError and errors of pull */
export async function * fillFrames (host: Host, source: Member, message: FillMessage, options: PullOptions): AsyncGenerator<FillFrame, void, undefined> {
  let isWhole = false
  for await (const frame of host.pull(source.contact, fillMethod, message, options)) {
    options.signal.throwIfAborted()
    isWhole = frame.last
    yield frame
  }
  if (!isWhole) throw new FillError('the source ended before its last row')
}

/** Writes on their way to the disk. */
export class Flushes {
  readonly #waiting: Array<Promise<void>> = []

  /** Resolves when the next one may be given. @throws what an earlier one threw */
  async add (flushed: Promise<void>): Promise<void> {
    flushed.catch(() => {}) // awaited later, or not at all when an earlier one fails
    this.#waiting.push(flushed)
    if (this.#waiting.length > 1) await this.#waiting.shift()
  }

  async all (): Promise<void> {
    await Promise.all(this.#waiting)
  }
}
