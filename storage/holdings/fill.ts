// Filling: bring all rows of an interval from one holder to others while it is served, then, once writing has stopped, the
// rest. Who changes a claim calls it, and may be neither: it tells the learners to pull from the source, round by round,
// until a round leaves few keys behind. See docs/ownership.md, "Fill sessions".

import { isDefinite } from '../../overlay/errors.ts'
import type { FillRequest, Learner } from '../../overlay/holdings.ts'
import type { Host } from '../../overlay/host.ts'
import type { Member } from '../../overlay/member.ts'
import { FillError } from '../errors.ts'
import { learnMethod, releaseNotice } from '../messages.ts'

export interface FillInit {
  readonly tailKeysMax: number
  readonly fillRoundsMax: number
  readonly callMs: number
  readonly sessionsMax: number
}

export class Fills {
  readonly #host: Host
  readonly #init: FillInit
  /** Rounds that each learner has had, by session and learner. */
  readonly #rounds = new Map<string, number>()

  constructor ({ host }: { host: Host }, init: FillInit) {
    this.#host = host
    this.#init = init
  }

  /** Resolves when each learner has flushed all but a tail of at most tailKeysMax keys. @throws FillError and errors of call */
  async fill (request: FillRequest, signal: AbortSignal): Promise<void> {
    await this.#each(request, signal, async (learner, either) => {
      for (let round = 0; round < this.#init.fillRoundsMax; round++) {
        const left = await this.#round(request, learner, { round, tail: false }, either)
        if (left <= this.#init.tailKeysMax) return
      }
      throw new FillError(`more is written than a fill brings: after ${this.#init.fillRoundsMax} rounds more than ${this.#init.tailKeysMax} keys are left`)
    })
  }

  /** Resolves when each learner has all. @throws FillError and errors of call; then the fill must begin anew */
  async tail (request: FillRequest, signal: AbortSignal): Promise<void> {
    await this.#each(request, signal, async (learner, either) => {
      const name = roundsName(request, learner)
      for (let tries = 0; tries < this.#init.fillRoundsMax; tries++) {
        const left = await this.#round(request, learner, { round: this.#rounds.get(name) ?? 0, tail: true }, either)
        if (left === 0) return
      }
      throw new FillError('keys of the interval are still written after its source has promised')
    })
  }

  /** With each learner at once; when one fails the others are broken off, and nothing is asked of any of them afterwards. */
  async #each (request: FillRequest, signal: AbortSignal, work: (learner: Learner, either: AbortSignal) => Promise<void>): Promise<void> {
    const failing = new AbortController()
    const either = AbortSignal.any([signal, failing.signal])
    const errors: unknown[] = []
    await Promise.all(request.learners.map(async learner => {
      await work(learner, either).catch((error: unknown) => {
        errors.push(error)
        failing.abort()
      })
    }))
    if (errors.length > 0) throw errors[0]
  }

  /** Tell all who took part that it is over. Lost messages are made up for by the sessions' own end. */
  release (request: FillRequest, kept: boolean): void {
    const message = { session: request.session, kept }
    for (const member of [request.source, ...request.learners]) {
      this.#rounds.delete(roundsName(request, member))
      this.#host.notify(member.contact, releaseNotice, message)
    }
  }

  async #round (request: FillRequest, learner: Learner, { round, tail }: { round: number, tail: boolean }, signal: AbortSignal): Promise<number> {
    const { session, interval, source } = request
    for (let lost = 0; ;) {
      signal.throwIfAborted()
      try {
        const reply = await this.#host.call(learner.contact, learnMethod, { member: learner.id, epoch: request.epoch, session, interval, source, round, holds: learner.holds, tail }, { deadlineMs: this.#init.callMs, signal })
        lost = 0
        if (!reply.done) continue
        this.#rounds.set(roundsName(request, learner), round + 1)
        return reply.left
      } catch (error) {
        // A lost answer: asking again for the same round is harmless.
        if (isDefinite(error) || signal.aborted || ++lost > 1) throw error
      }
    }
  }
}

function roundsName ({ session }: FillRequest, { id }: Member): string {
  return `${session}/${id}`
}
