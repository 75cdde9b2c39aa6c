// When the testnet is to end: a signal, a starter that is gone, or `testnet down`. The first asks for an orderly stop; a
// second signal, if it is not the same Ctrl-C passed on by another process of the chain, forces it.

import { sameSignalMs } from './init.ts'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export class StopRequest {
  readonly #controller = new AbortController()
  #askedMs = 0

  /** @param force - called for the second signal */
  constructor (private readonly force: () => void) {
    for (const signal of signals) process.on(signal, this.#onSignal)
    // Our starter holds the other end of this channel.
    if (process.channel !== undefined) {
      process.once('disconnect', () => { this.ask() })
      process.channel.unref()
    }
    // A reader that has gone away (`… | head`) wants no more.
    process.stdout.on('error', () => { this.ask() })
    process.stderr.on('error', () => { this.ask() })
  }

  get signal (): AbortSignal { return this.#controller.signal }

  ask (): void {
    if (this.signal.aborted) return
    this.#askedMs = performance.now()
    this.#controller.abort(new Error('the testnet was told to stop'))
  }

  /** Settles when a stop is asked for. */
  async asked (): Promise<void> {
    if (this.signal.aborted) return
    await new Promise<void>(resolve => { this.signal.addEventListener('abort', () => { resolve() }, { once: true }) })
  }

  close (): void {
    for (const signal of signals) process.off(signal, this.#onSignal)
  }

  readonly #onSignal = (): void => {
    if (!this.signal.aborted) this.ask()
    else if (performance.now() - this.#askedMs > sameSignalMs) this.force()
  }
}
