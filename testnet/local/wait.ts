// Waiting for a condition outside of this process: look, wait a little, look again, up to a deadline.

import { setTimeout as sleep } from 'node:timers/promises'
import { pollMs } from './init.ts'

/** A condition that did not come true in time. */
export class WaitError extends Error {
  override readonly name = 'WaitError'
  readonly definite = true
}

export interface WaitOptions {
  readonly deadlineMs: number
  readonly signal?: AbortSignal | undefined
}

/**
 * @param look - gives the value, or undefined while it is not there; what it throws ends the waiting
 * @param what - of the message when time is up: "no X within 5 s"
 * @throws WaitError, the reason of signal
 */
export async function waitFor<T> (what: string, look: () => Promise<T | undefined>, { deadlineMs, signal }: WaitOptions): Promise<T> {
  const endMs = performance.now() + deadlineMs
  for (;;) {
    signal?.throwIfAborted()
    const value = await look()
    if (value !== undefined) return value
    if (performance.now() > endMs) throw new WaitError(`no ${what} within ${deadlineMs / 1_000} s`)
    await sleep(pollMs, undefined, { signal }).catch(() => { signal?.throwIfAborted() })
  }
}
