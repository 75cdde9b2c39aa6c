// Counts what one stream asks for that is unknown here or cannot be read. Some of it is another version of the program,
// and gets its answer; a flood is no use to anyone, and ends the connection.

import { errorName } from '../../overlay/errors.ts'
import { strangeMax, strangeMs } from './init.ts'

const strangeNames = ['UnknownMethodError', 'MalformedMessageError']

export class Strangeness {
  readonly #now: () => number
  #sinceMs = -Infinity
  #count = 0

  /** @param now - milliseconds that never go back */
  constructor (now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Was it the request's fault? Counts it then. @throws RangeError when there were too many */
  note (error: unknown): boolean {
    if (!strangeNames.includes(errorName(error))) return false
    const now = this.#now()
    if (now - this.#sinceMs >= strangeMs) {
      this.#sinceMs = now
      this.#count = 0
    }
    if (++this.#count > strangeMax) throw new RangeError(`more than ${strangeMax} requests within ${strangeMs} ms were unknown or could not be read`)
    return true
  }
}
