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

export function ownersNear (atlas: Atlas, neighbors: Neighbors, target: Target, { nearEachSide }: NearInit): OwnerView[] {
  const lower: OwnerView[] = []
  const upper: OwnerView[] = []
  const place = (view: OwnerView): void => {
    const order = compareKeys(view.interval.low, target.key)
    if (order < 0 || (order === 0 && !target.below)) insert(lower, view, nearEachSide, isHigher)
    else insert(upper, view, nearEachSide, isLower)
  }
  for (const view of atlas.around(target.key, nearEachSide)) place(view)
  for (const { view } of neighbors.all()) place(view)
  return [...lower, ...upper]
}

function isHigher (a: OwnerView, b: OwnerView): boolean {
  return compareKeys(a.interval.low, b.interval.low) > 0
}

function isLower (a: OwnerView, b: OwnerView): boolean {
  return compareKeys(a.interval.low, b.interval.low) < 0
}

/** Keep the nearest count views in order, each owner once; of two as near the first stays first. */
function insert (nearest: OwnerView[], view: OwnerView, count: number, isNearer: (a: OwnerView, b: OwnerView) => boolean): void {
  let at = nearest.length
  while (at > 0 && isNearer(view, nearest[at - 1]!)) at--
  const same = nearest.findIndex(({ owner }) => owner.id === view.owner.id)
  if (same >= 0 && same < at) return
  if (same >= 0) nearest.splice(same, 1)
  nearest.splice(at, 0, view)
  if (nearest.length > count) nearest.pop()
}
