// The gate before the verbs: so many requests at once, so many waiting in line, the rest told to come back. A request
// that passed is a job: its signal aborts when its client goes away or when the server must end, so that work which
// nobody waits for stops everywhere. (A bound instead of failures further in: js-libp2p-gossipsub#306.)

import type { FastifyReply } from 'fastify'
import { AbortError } from '../../overlay/errors.ts'
import type { VerbOptions } from '../../storage/storage-api.ts'
import { Problem } from './problem.ts'

export interface Job extends VerbOptions {
  /** To be called once, when the answer is complete or has failed. */
  end (): void
}

interface Waiter {
  admit (): void
  refuse (error: Error): void
}

export class Gate {
  readonly #running = new Set<AbortController>()
  readonly #waiting = new Set<Waiter>()

  constructor (private readonly init: { requestsMax: number, requestsQueuedMax: number }) {}

  get runningCount (): number { return this.#running.size }
  get waitingCount (): number { return this.#waiting.size }

  /**
   * @param deadlineMs - for waiting and work together
   * @throws Problem 503 when the line is full or the time was spent in it; AbortError when the client went away
   */
  async enter (reply: FastifyReply, deadlineMs: number): Promise<Job> {
    let leftMs = deadlineMs
    if (this.#running.size >= this.init.requestsMax) {
      const since = performance.now()
      await this.#wait(reply, deadlineMs)
      leftMs = Math.max(1, Math.round(deadlineMs - (performance.now() - since)))
    }
    return this.#start(reply, leftMs)
  }

  /** End what runs and waits: the server stops. */
  abortAll (): void {
    for (const waiter of this.#waiting) waiter.refuse(busy('this peer is stopping'))
    for (const controller of this.#running) controller.abort(new AbortError('the server is stopping'))
  }

  #start (reply: FastifyReply, deadlineMs: number): Job {
    const controller = new AbortController()
    const onClose = (): void => {
      if (!reply.raw.writableFinished) controller.abort(new AbortError('the client went away'))
    }
    this.#running.add(controller)
    reply.raw.once('close', onClose)
    return {
      deadlineMs,
      signal: controller.signal,
      end: () => {
        reply.raw.off('close', onClose)
        if (!this.#running.delete(controller)) return
        const [next] = this.#waiting
        next?.admit()
      }
    }
  }

  async #wait (reply: FastifyReply, deadlineMs: number): Promise<void> {
    if (this.#waiting.size >= this.init.requestsQueuedMax) throw busy(`${this.#waiting.size} requests wait already`)
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(waiter)
        clearTimeout(timer)
        reply.raw.off('close', onClose)
      }
      const waiter: Waiter = {
        admit: () => { leave(); resolve() },
        refuse: error => { leave(); reject(error) }
      }
      const onClose = (): void => { waiter.refuse(new AbortError('the client went away')) }
      const timer = setTimeout(() => { waiter.refuse(busy(`the request waited ${deadlineMs} ms for its turn`)) }, deadlineMs)
      reply.raw.once('close', onClose)
      this.#waiting.add(waiter)
    })
  }
}

function busy (reason: string): Problem {
  return new Problem(503, 'busy', `${reason}; try again later, or ask another peer`, { retryAfterS: 1, definite: true })
}
