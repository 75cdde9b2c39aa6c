// Is a history of puts, deletes and gets linearizable: is there, for each key, an order of its operations, in which each lies
// between its invocation and its return, that a single copy of the record would have answered so? Each key by itself, since
// linearizability is local (Herlihy and Wing, "Linearizability", TOPLAS 1990, section 3.3). The search is in order-search.ts.
// An operation that failed for sure takes no part. An indefinite one may be placed anywhere behind its invocation, or nowhere.

import { InvariantError } from './checker.ts'
import { textOf, type Operation } from './history.ts'
import { OrderSearch } from './order-search.ts'

export interface LinearizableOptions {
  /** Keys that are not looked at, such as those of chains that forked. */
  readonly excused?: ReadonlySet<string>
  /** States of the search for one key; where more are needed, that counts as a fault. */
  readonly statesMax?: number
}

/** Guess: some hundred megabytes, and far beyond what a search takes that finds an order. */
const statesMaxDefault = 2_000_000

/** @throws InvariantError */
export function assertLinearizable (operations: readonly Operation[], { excused = new Set(), statesMax = statesMaxDefault }: LinearizableOptions = {}): void {
  for (const [key, history] of byKey(operations)) {
    if (excused.has(key)) continue
    const reason = unwritten(history) ?? new OrderSearch(history.filter(takesPart)).run(statesMax)
    if (reason !== undefined) throw new InvariantError(`${key} is not linearizable: ${reason}`)
  }
}

function byKey (operations: readonly Operation[]): Map<string, Operation[]> {
  const keys = new Map<string, Operation[]>()
  for (const operation of operations) {
    const history = keys.get(operation.key)
    if (history === undefined) keys.set(operation.key, [operation])
    else history.push(operation)
  }
  return keys
}

/** Reads without an answer say nothing, and failed writes did nothing. */
function takesPart ({ kind, outcome }: Operation): boolean {
  return outcome === 'ok' || (outcome === 'indefinite' && kind !== 'get')
}

/** The first thing to say of a value that nobody wrote: no search is needed. */
function unwritten (history: readonly Operation[]): string | undefined {
  const puts = new Map(history.filter(({ kind }) => kind === 'put').map(put => [put.value, put]))
  for (const read of history) {
    if (read.kind !== 'get' || read.outcome !== 'ok' || read.value === undefined) continue
    const put = puts.get(read.value)
    if (put === undefined) return `${textOf(read)}, which nobody wrote`
    if (put.outcome === 'failed') return `${textOf(read)}, whose put had failed for sure: ${textOf(put)}`
  }
  return undefined
}
