// Slips: errors that no fault excuses, such as a failed assertion, wherever one shows: in an answer to a client, or in the log
// of a node, which is where an error ends that a procedure lives through.

import { errorName } from '../../../overlay/errors.ts'
import type { Logger } from '../../../overlay/host.ts'

const names = [
  'Error', 'AssertionError', 'TypeError', 'RangeError', 'ReferenceError', 'SyntaxError', 'InvariantError', 'MalformedMessageError',
  'OversizeError', 'UnreadableRowError', 'InvalidRequestError', 'InvalidSpaceError', 'UnknownCollectionError', 'CollectionConflictError'
]
/** Texts of errors begin with their names. */
const namedAtStart = new RegExp(`^(?:${names.join('|')})(?::| \\[|$)`)

export class Slips {
  /** The first one. */
  first: string | undefined
  count = 0

  /** @param where - who met it, and when */
  note (where: string, error: unknown): void {
    const isSlip = typeof error === 'string' ? namedAtStart.test(error) : names.includes(errorName(error))
    if (!isSlip) return
    this.count++
    this.first ??= `${where}: ${error instanceof Error ? `${errorName(error)}: ${error.message}` : String(error)}`
  }

  /** A node's log, looked through on its way. @param trace - told of each line */
  log (name: string, trace: (line: string) => void): Logger {
    const look = (fields: object, text: string): void => {
      const { error } = fields as { error?: unknown }
      if (error !== undefined) this.note(`${name}, "${text}"`, error)
      trace(`${name} ${text} ${JSON.stringify(fields)}`)
    }
    return { debug: look, info: look, warn: look, error: look }
  }
}
