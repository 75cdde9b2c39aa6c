// The owner's end of copies: rows go to every other member of their claims before they go to the own disk. What waits for
// one member goes in one message with what was decided meanwhile. A member that does not answer is told to ownership,
// which replaces it by a change of the claim; the write then goes on under the new claim, so it is delayed and not
// failed (docs/ownership.md, "Copies").

import type { Copies } from '../../overlay/copies.ts'
import { TimeoutError, errorName } from '../../overlay/errors.ts'
import type { Host } from '../../overlay/host.ts'
import type { MemberId } from '../../overlay/member.ts'
import { claimName, sameClaim, type Claim } from '../../overlay/ownership/claim.ts'
import { copyMethod } from '../messages.ts'
import type { CopyGroup } from '../messages.ts'
import type { FrameRow } from '../records/row-frame.ts'

export interface SpreadInit {
  /** ms that a member has to flush a message of copies before it is asked again. */
  readonly copyMs: number
  /** ms for which a write waits for its members. */
  readonly spreadMsMax: number
  /** Bytes of one message of copies, roughly. */
  readonly frameBytesMax: number
}

interface Part { readonly claim: Claim, readonly rows: FrameRow[] }

/** First wait in ms before members that did not take a write are asked again, and the last. Guess: a change takes tens of ms. */
const againMsMin = 20
const againMsMax = 500
/** Messages on their way to one member. Guess: while one is flushed the next is read. */
const messagesMax = 2

export class Spreader {
  readonly #host: Host
  readonly #copies: Copies
  readonly #init: SpreadInit
  readonly #outboxes = new Map<MemberId, Outbox>()

  constructor ({ host, copies }: { host: Host, copies: Copies }, init: SpreadInit) {
    this.#host = host
    this.#copies = copies
    this.#init = init
  }

  /** As Spread of writer.ts. */
  spread (rows: readonly FrameRow[], order: number): Promise<() => boolean> | undefined {
    const parts = this.#parts(rows)
    if (parts?.every(({ claim }) => claim.members.length === 1) === true) return undefined
    return this.#untilTaken(rows, order, parts)
  }

  async #untilTaken (rows: readonly FrameRow[], order: number, first: readonly Part[] | undefined): Promise<() => boolean> {
    const endMs = this.#host.now() + this.#init.spreadMsMax
    let parts = first
    for (let waitMs = againMsMin; ; waitMs = Math.min(waitMs * 2, againMsMax)) {
      if (parts !== undefined && await this.#taken(parts, order)) {
        const taken = parts
        return () => taken.every(({ claim, rows }) => rows.every(({ key }) => {
          const present = this.#copies.writableAt(key)
          return present !== undefined && sameClaim(present, claim)
        }))
      }
      if (!rows.every(({ key }) => this.#copies.isOwner(key))) throw new TimeoutError('the owner changed while the copies were written; the write may or may not have been done')
      if (this.#host.now() + waitMs >= endMs) throw new TimeoutError('the members that keep copies did not all answer; the write may or may not have been done')
      await this.#host.sleep(waitMs)
      parts = this.#parts(rows)
    }
  }

  async #taken (parts: readonly Part[], order: number): Promise<boolean> {
    const answers = await Promise.all(parts.flatMap(({ claim, rows }) => {
      const { chain, epoch, by } = claim
      const others = claim.members.filter(member => member !== this.#copies.self)
      return others.map(async member => await this.#outbox(member).push({ chain, epoch, by, order, rows }))
    }))
    return answers.every(isTaken => isTaken)
  }

  /** Rows by the claim that their keys are written under now; undefined when one of them cannot be written. */
  #parts (rows: readonly FrameRow[]): Part[] | undefined {
    const parts = new Map<string, Part>()
    for (const row of rows) {
      const claim = this.#copies.writableAt(row.key)
      if (claim === undefined) return undefined
      const name = claimName(claim)
      const part = parts.get(name)
      if (part === undefined) parts.set(name, { claim, rows: [row] })
      else part.rows.push(row)
    }
    return [...parts.values()]
  }

  #outbox (member: MemberId): Outbox {
    let outbox = this.#outboxes.get(member)
    if (outbox === undefined) {
      outbox = new Outbox(async groups => await this.#send(member, groups), this.#init.frameBytesMax, () => { this.#outboxes.delete(member) })
      this.#outboxes.set(member, outbox)
    }
    return outbox
  }

  /** Which of the groups the member has flushed. */
  async #send (id: MemberId, groups: readonly CopyGroup[]): Promise<ReadonlySet<number>> {
    const member = this.#copies.contactOf(id)
    try {
      if (member === undefined) throw new TimeoutError('nobody knows how to call this member')
      const { refused } = await this.#host.call(member.contact, copyMethod, { owner: this.#copies.self, boot: this.#copies.boot, groups }, { deadlineMs: this.#init.copyMs })
      if (refused.length > 0) this.#copies.refused(id)
      const left = new Set(refused)
      return new Set(groups.flatMap((_, index) => left.has(index) ? [] : [index]))
    } catch (error) {
      this.#host.log.debug({ member: id, error: errorName(error) }, 'a member does not take copies')
      this.#copies.unanswered(id)
      return new Set()
    }
  }
}

interface Waiting { readonly group: CopyGroup, readonly bytes: number, readonly done: (isTaken: boolean) => void }

/** What waits for one member. Bounded by the writes in flight, which the routing above bounds. */
class Outbox {
  readonly #send: (groups: readonly CopyGroup[]) => Promise<ReadonlySet<number>>
  readonly #bytesMax: number
  readonly #onEmpty: () => void
  #waiting: Waiting[] = []
  #messages = 0

  constructor (send: (groups: readonly CopyGroup[]) => Promise<ReadonlySet<number>>, bytesMax: number, onEmpty: () => void) {
    this.#send = send
    this.#bytesMax = bytesMax
    this.#onEmpty = onEmpty
  }

  push (group: CopyGroup): Promise<boolean> {
    const bytes = group.rows.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), 0)
    return new Promise(resolve => {
      this.#waiting.push({ group, bytes, done: resolve })
      this.#pump()
    })
  }

  #pump (): void {
    while (this.#messages < messagesMax && this.#waiting.length > 0) {
      let bytes = 0
      let count = 0
      while (count < this.#waiting.length && (count === 0 || bytes + this.#waiting[count]!.bytes <= this.#bytesMax)) bytes += this.#waiting[count++]!.bytes
      const message = this.#waiting.splice(0, count)
      this.#messages++
      void this.#send(message.map(({ group }) => group)).then(taken => {
        this.#messages--
        message.forEach(({ done }, index) => { done(taken.has(index)) })
        this.#pump()
        if (this.#messages === 0 && this.#waiting.length === 0) this.#onEmpty()
      })
    }
  }
}
