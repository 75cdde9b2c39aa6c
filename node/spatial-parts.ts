// What an interval of the key line is on the map: per spatial collection, the smallest box around its part and its
// share of the whole. For tables.

import { intersect, type Interval } from '../overlay/interval.ts'
import { curveLength } from '../overlay/space/curve.ts'
import { boxOfInterval, shareOfInterval } from '../overlay/space/interval-box.ts'
import { builtInCollections, type CollectionDefinition } from '../storage/records/collection.ts'
import { collectionInterval, collectionPrefix, curveIndexOf } from '../storage/records/key-layout.ts'
import type { SpatialPart } from './node-view.ts'

export function spatialParts (interval: Interval, collections: readonly CollectionDefinition[] = builtInCollections): SpatialPart[] {
  return collections.flatMap(collection => {
    if (collection.kind !== 'spatial') return []
    const whole = collectionInterval(collection.name)
    const part = intersect(interval, whole)
    if (part === undefined) return []
    const prefixBytes = collectionPrefix(collection.name).length
    const low = part.low === whole.low ? 0 : curveIndexOf(part.low, prefixBytes)
    const high = part.high === whole.high || part.high === undefined ? curveLength() : curveIndexOf(part.high, prefixBytes)
    const box = boxOfInterval(collection.space, low, high)
    if (box === undefined) return []
    return [{ collection: collection.name, bbox: [box.west, box.south, box.east, box.north] as const, share: shareOfInterval(low, high) }]
  })
}
