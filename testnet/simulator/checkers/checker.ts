// A checker sees all nodes at once, which no node does, and asserts an invariant of ownership or storage. It runs at
// every event, so it must be cheap: it looks anew only at nodes whose claims have changed since.

import type { SimNode } from '../cluster.ts'

export interface Checker {
  readonly name: string
  /** Called after each event with the nodes that are up. Throws InvariantError. */
  check (nodes: ReadonlyMap<string, SimNode>): void
}

/** An invariant does not hold: a fault of the protocol, to be kept as a scenario with its seed. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}
