// The gate before the verbs: so many requests at once, so many waiting in line, the rest told to come back. A request
// that passed is a job: its signal aborts when its client goes away or when the server must end, so that work which
// nobody waits for stops everywhere. (A bound instead of failures further in: js-libp2p-gossipsub#306.)

import { setMaxListeners } from 'node:events'
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

/** Controllers kept. As many as requests that run side by side on a busy day; a guess. */
const sparesMax = 64

export class Gate {
  readonly #running = new Set<AbortController>()
  /** Controllers of jobs that ended unaborted, to be used again: making one costs more than all else here, measured. */
  readonly #spare: AbortController[] = []
  readonly #waiting = new Set<Waiter>()

  constructor (private readonly init: { requestsMax: number, requestsQueuedMax: number }) {}

  get runningCount (): number { return this.#running.size }
  get waitingCount (): number { return this.#waiting.size }

  /**
   * @param deadlineMs - for waiting and work together
   * @throws Problem 503 when the line is full or the time was spent in it; AbortError when the client went away
   */
  enter (reply: FastifyReply, deadlineMs: number): Job | Promise<Job> {
    return this.#running.size < this.init.requestsMax ? this.#start(reply, deadlineMs) : this.#enterLater(reply, deadlineMs)
  }

  /** End what runs and waits: the server stops. */
  abortAll (): void {
    for (const waiter of this.#waiting) waiter.refuse(busy('this peer is stopping'))
    for (const controller of this.#running) controller.abort(new AbortError('the server is stopping'))
  }

  async #enterLater (reply: FastifyReply, deadlineMs: number): Promise<Job> {
    const since = performance.now()
    await this.#wait(reply, deadlineMs)
    return this.#start(reply, Math.max(1, Math.round(deadlineMs - (performance.now() - since))))
  }

  #start (reply: FastifyReply, deadlineMs: number): Job {
    const controller = this.#spare.pop() ?? createController()
    const { signal } = controller
    let ended = false
    this.#running.add(controller)
    // It comes for every reply, at its end too, so it need not be taken off.
    reply.raw.on('close', () => {
      if (!ended) controller.abort(new AbortError('the client went away'))
    })
    return {
      deadlineMs,
      signal,
      end: () => {
        if (ended) return
        ended = true
        this.#running.delete(controller)
        if (!signal.aborted && this.#spare.length < sparesMax) this.#spare.push(controller)
        if (this.#waiting.size > 0) this.#admitNext()
      }
    }
  }

  #admitNext (): void {
    const [next] = this.#waiting
    next?.admit()
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

/** The lines of a batch all listen to the one signal of their job. */
function createController (): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  return controller
}

function busy (reason: string): Problem {
  return new Problem(503, 'busy', `${reason}; try again later, or ask another peer`, { retryAfterS: 1, definite: true })
}
