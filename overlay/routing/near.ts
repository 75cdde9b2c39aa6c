// What a node can tell of the owners near a key: its links of all levels on both sides, and its atlas. The nearest few
// on each side go into every reply; that is what closes the bracket of a lookup.

import { compareKeys } from '../interval.ts'
import type { Neighbors } from '../graph/neighbors.ts'
import type { Atlas } from './atlas.ts'
import type { OwnerView, Target } from './routing.ts'

export interface NearInit {
  /** Owners told on each side of a key at most. */
  readonly nearEachSide: number
}

export function ownersNear (atlas: Atlas, neighbors: Neighbors, target: Target, init: NearInit): OwnerView[] {
  const lower: OwnerView[] = []
  const upper: OwnerView[] = []
  for (const view of [...atlas.around(target.key, init.nearEachSide), ...neighbors.all().map(node => node.view)]) {
    const order = compareKeys(view.interval.low, target.key)
    ;(order < 0 || (order === 0 && !target.below) ? lower : upper).push(view)
  }
  return [
    ...nearest(lower, (a, b) => compareKeys(b.interval.low, a.interval.low), init.nearEachSide),
    ...nearest(upper, (a, b) => compareKeys(a.interval.low, b.interval.low), init.nearEachSide)
  ]
}

/** The first count in order, each owner once. */
function nearest (views: OwnerView[], order: (a: OwnerView, b: OwnerView) => number, count: number): OwnerView[] {
  views.sort(order)
  const chosen: OwnerView[] = []
  for (const view of views) {
    if (chosen.length === count) break
    if (!chosen.some(({ owner }) => owner.id === view.owner.id)) chosen.push(view)
  }
  return chosen
}
