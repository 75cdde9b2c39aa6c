// Turns: of all who want to change one thing, one at a time, in the order of their coming, and not too many waiting.
// A turn has a name, so its holder may come back through another door (routing to itself) and is known there.
// It knows nothing of time: who holds a turn gives it back, whatever happens.

import { BusyError } from '../overlay/errors.ts'

export interface Turn {
  readonly id: string
  /** Give it back. Once. */
  release (): void
}

interface Line {
  holder: string
  readonly waiting: Array<(turn: Turn) => void>
}

export class Turns {
  readonly #waitingMax: number
  readonly #idOf: () => string
  readonly #lines = new Map<string, Line>()

  /** idOf makes a random id for each turn. */
  constructor (waitingMax: number, idOf: () => string) {
    this.#waitingMax = waitingMax
    this.#idOf = idOf
  }

  holds (what: string, turnId: string | undefined): boolean {
    return turnId !== undefined && this.#lines.get(what)?.holder === turnId
  }

  /** The turn, if nobody has it. */
  takeNow (what: string): Turn | undefined {
    if (this.#lines.has(what)) return undefined
    const line: Line = { holder: this.#idOf(), waiting: [] }
    this.#lines.set(what, line)
    return this.#turn(what, line)
  }

  /** @throws BusyError when too many wait */
  take (what: string): Promise<Turn> {
    const now = this.takeNow(what)
    if (now !== undefined) return Promise.resolve(now)
    const { waiting } = this.#lines.get(what)!
    if (waiting.length >= this.#waitingMax) return Promise.reject(new BusyError(`${this.#waitingMax} updates of this id wait already; try again`))
    return new Promise(resolve => { waiting.push(resolve) })
  }

  #turn (what: string, line: Line): Turn {
    const { holder } = line
    return {
      id: holder,
      release: () => {
        if (line.holder !== holder) return
        const next = line.waiting.shift()
        if (next === undefined) {
          line.holder = ''
          this.#lines.delete(what)
          return
        }
        line.holder = this.#idOf()
        next(this.#turn(what, line))
      }
    }
  }
}
