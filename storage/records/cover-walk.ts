// Where a walk over an extent goes on: the first key at or above a given one that may hold a place inside. Tornado's
// neighbor-based search on a curve: a walk that continues here visits each overlapping owner once, whatever the extent's
// size, since an owner's keys are one run (docs/places.md, "Routing an extent"). Boundaries lie on whole curve indices;
// should one lie inside an index all the same, the walk goes on at that very key and cannot loop.

import type { Key } from '../../overlay/interval.ts'
import { compareHighs, compareKeys } from '../../overlay/interval.ts'
import type { PreparedExtent } from '../../overlay/space/cover.ts'
import { collectionInterval, curveIndexOf, curveKey } from './key-layout.ts'

export interface CoverKeys {
  /** The first key ≥ key at an index whose cell meets the extent; undefined when there is none. */
  from (key: Key): Key | undefined
  /** Does the cell at this index meet the extent? If not, the first key that may. */
  after (index: number): Key | 'inside' | undefined
}

export function coverKeys (prepared: Pick<PreparedExtent, 'next'>, collection: string, prefixBytes: number): CoverKeys {
  const end = collectionInterval(collection).high
  return {
    from (key) {
      if (compareHighs(key, end) >= 0) return undefined
      const index = curveIndexOf(key, prefixBytes)
      const inside = prepared.next(index)
      if (inside === undefined) return undefined
      const start = curveKey(collection, inside)
      return inside === index && compareKeys(key, start) > 0 ? key : start
    },
    after (index) {
      const inside = prepared.next(index)
      if (inside === undefined) return undefined
      return inside === index ? 'inside' : curveKey(collection, inside)
    }
  }
}
