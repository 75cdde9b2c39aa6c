// What has been started so far, to be ended in the reverse order, each step whether those before it failed or not.

import type { Logger } from '../overlay/host.ts'

export class Undo {
  readonly #steps: Array<() => Promise<void> | void> = []

  add (step: () => Promise<void> | void): void {
    this.#steps.push(step)
  }

  async run (log: Logger): Promise<void> {
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step()
      } catch (error) {
        log.warn({ area: 'stop', error }, 'a part did not stop cleanly')
      }
    }
  }
}
