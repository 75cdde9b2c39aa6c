// What a verb needs while it asks owners: one deadline for the whole, one trace of what it cost.

import type { Host } from '../../overlay/host.ts'
import type { AskOptions, Routing, Trace } from '../../overlay/routing/routing.ts'
import type { Cost, VerbOptions } from '../storage-api.ts'

export interface AskerComponents {
  readonly host: Host
  readonly routing: Routing
}

/** The course of one verb, from its start. */
export class Course {
  readonly trace: Trace = { hops: 0, peers: new Set() }
  readonly #host: Host
  readonly #startMs: number
  readonly #options: VerbOptions

  constructor (host: Host, options: VerbOptions) {
    this.#host = host
    this.#startMs = host.now()
    this.#options = options
  }

  get remainingMs (): number {
    return this.#startMs + this.#options.deadlineMs - this.#host.now()
  }

  get signal (): AbortSignal | undefined {
    return this.#options.signal
  }

  ask (options: { repeatable: boolean, deadlineMs?: number, signal?: AbortSignal | undefined }): AskOptions {
    return {
      deadlineMs: options.deadlineMs ?? this.remainingMs,
      signal: options.signal ?? this.#options.signal,
      repeatable: options.repeatable,
      trace: this.trace
    }
  }

  /** @throws AbortError */
  async pause (ms: number, signal: AbortSignal): Promise<void> {
    await this.#host.sleep(ms, signal)
  }

  cost (): Cost {
    return { hops: this.trace.hops, peers: this.trace.peers.size, tookMs: this.#host.now() - this.#startMs }
  }
}
