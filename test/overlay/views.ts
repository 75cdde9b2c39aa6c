// Owners on a line of one-byte keys, for tests of routing: 0 is the lowest key, 256 the end of the line.

import type { Interval, Key } from '../../overlay/interval.ts'
import type { GraphNode } from '../../overlay/messages.ts'
import type { OwnerView, Target } from '../../overlay/routing/routing.ts'

export const lineEnd = 256

export function key (at: number): Key {
  return at === 0 ? new Uint8Array(0) : Uint8Array.of(at)
}

export function span (from: number, to: number): Interval {
  return { low: key(from), high: to === lineEnd ? undefined : key(to) }
}

/** The ends of an interval, as span takes them. */
export function ends ({ low, high }: Interval): [number, number] {
  return [low[0] ?? 0, high === undefined ? lineEnd : high[0] ?? 0]
}

export function on (at: number): Target {
  return { key: key(at), below: false }
}

export function below (at: number): Target {
  return { key: key(at), below: true }
}

export interface ViewInit {
  readonly epoch?: number
  readonly chain?: string
}

/** What is told of a node: its contact has the same id as its member. */
export function view (id: string, from: number, to: number, { epoch = 1, chain = 'main' }: ViewInit = {}): OwnerView {
  return { interval: span(from, to), chain, epoch, owner: { id, contact: { id, addresses: [`/memory/${id}`] } } }
}

export function graphNode (id: string, from: number, to: number, vector: number, placement = 1): GraphNode {
  return { view: view(id, from, to), vector, placement }
}
