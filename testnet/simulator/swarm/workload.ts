// What clients do: which records there are, and what a client does next. Few hot records are written by all clients at once, so
// that operations race; cold ones spread over the line; some are written once, with
// a request id and again until that is answered (solo); objects lie on the map and move.

import { fromString } from 'uint8arrays/from-string'
import type { Key } from '../../../overlay/interval.ts'
import type { Extent } from '../../../overlay/space/extent.ts'
import type { Point } from '../../../overlay/space/point.ts'
import { curveKey, orderedKey } from '../../../storage/records/key-layout.ts'
import { curveLength } from '../../../overlay/space/curve.ts'
import { chance, integer, pick, pickWeighted } from '../draw.ts'
import type { Random } from '../random.ts'

export const ordered = 'kv'
export const spatial = 'places'

export type Deed =
  | { readonly kind: 'put' | 'delete' | 'get', readonly collection: string, readonly key: string }
  /** A few puts and gets begun at once. */
  | { readonly kind: 'burst', readonly deeds: ReadonlyArray<Extract<Deed, { key: string }>> }
  | { readonly kind: 'solo put' | 'solo delete' }
  | { readonly kind: 'range', readonly gte: string, readonly lt: string, readonly reverse: boolean, readonly limit: number }
  | { readonly kind: 'find', readonly box: Extract<Extent, { kind: 'box' }>, readonly word: string | undefined, readonly limit: number }

export interface KeyCounts { readonly hot: number, readonly cold: number, readonly objects: number }

const words = ['red', 'blue']
const weights = { put: 24, get: 20, delete: 5, burst: 5, 'solo put': 6, 'solo delete': 1, range: 8, find: 8, place: 16, 'place get': 4, 'place delete': 3 }
const hotShare = 0.6
const limits = [1, 3, 1000, 1000]
const burstMax = 4

/** Texts of two digits, evenly over aa to zz. */
function spread (index: number, count: number): string {
  const place = Math.floor((index + 0.5) * 676 / count)
  return String.fromCharCode(97 + Math.floor(place / 26), 97 + place % 26)
}

export class Workload {
  readonly hot: readonly string[]
  readonly cold: readonly string[]
  readonly objects: readonly string[]

  constructor ({ hot, cold, objects }: KeyCounts) {
    this.hot = Array.from({ length: hot }, (_, index) => `${spread(index, hot)}-hot`)
    this.cold = Array.from({ length: cold }, (_, index) => spread(index, cold))
    this.objects = Array.from({ length: objects }, (_, index) => `o${index}`)
  }

  /** Of the records that are shared. */
  everyPut (): Deed[] { return this.#every('put') }

  everyGet (): Deed[] { return this.#every('get') }

  next (random: Random): Deed {
    const kind = pickWeighted(random, weights)
    switch (kind) {
      case 'put': case 'get': case 'delete': return { kind, collection: ordered, key: this.#key(random) }
      case 'place': return { kind: 'put', collection: spatial, key: pick(random, this.objects) }
      case 'place get': return { kind: 'get', collection: spatial, key: pick(random, this.objects) }
      case 'place delete': return { kind: 'delete', collection: spatial, key: pick(random, this.objects) }
      case 'solo put': case 'solo delete': return { kind }
      case 'burst': return { kind, deeds: Array.from({ length: integer(random, 2, burstMax) }, () => ({ kind: chance(random, 0.6) ? 'put' : 'get', collection: ordered, key: this.#key(random) })) }
      case 'range': return { kind, ...drawBounds(random), reverse: chance(random, 0.4), limit: pick(random, limits) }
      case 'find': return { kind, box: drawBox(random), word: chance(random, 0.3) ? pick(random, words) : undefined, limit: pick(random, limits) }
    }
  }

  #every (kind: 'put' | 'get'): Deed[] {
    return [
      ...[...this.hot, ...this.cold].map((key): Deed => ({ kind, collection: ordered, key })),
      ...this.objects.map((key): Deed => ({ kind, collection: spatial, key }))
    ]
  }

  #key (random: Random): string {
    return pick(random, chance(random, hotShare) ? this.hot : this.cold)
  }
}

/** All objects on the map. */
export const wholeMap: Deed = { kind: 'find', box: { kind: 'box', west: -180, south: -90, east: 180, north: 90 }, word: undefined, limit: 1000 }

/** All there is, ordered records both ways. */
export const wholeScans: readonly Deed[] = [
  { kind: 'range', gte: '', lt: '', reverse: false, limit: 1000 },
  { kind: 'range', gte: '', lt: '', reverse: true, limit: 1000 },
  wholeMap
]

/** Where an object is, or nowhere on the map; and the word that it is found by. */
export function drawPlace (random: Random): { point: Point | undefined, word: string } {
  const point: Point = [integer(random, -180, 179), integer(random, -90, 90)]
  return { point: chance(random, 0.9) ? point : undefined, word: pick(random, words) }
}

/** Boundaries of a prepared ring: some among the ordered keys, some on the map. */
export function drawBoundaries (random: Random, count: number): Key[] {
  const drawn = new Map<string, Key>()
  while (drawn.size < count) {
    const key = chance(random, 0.5)
      ? orderedKey(ordered, fromString(spread(integer(random, 0, 675), 676)))
      : curveKey(spatial, Math.floor(random.next() * curveLength()))
    drawn.set(key.join(), key)
  }
  return [...drawn.values()].sort((a, b) => Buffer.compare(a, b))
}

/** From the lowest to the highest, or a part. */
function drawBounds (random: Random): { gte: string, lt: string } {
  if (chance(random, 0.5)) return { gte: '', lt: '' }
  const [a, b] = [integer(random, 0, 675), integer(random, 0, 675)]
  return { gte: spread(Math.min(a, b), 676), lt: spread(Math.max(a, b), 676) + '~' }
}

function drawBox (random: Random): Extract<Extent, { kind: 'box' }> {
  if (chance(random, 0.4)) return { kind: 'box', west: -180, south: -90, east: 180, north: 90 }
  const [a, b] = [integer(random, -90, 90), integer(random, -90, 90)]
  // west beyond east crosses the antimeridian
  return { kind: 'box', west: integer(random, -180, 180), south: Math.min(a, b), east: integer(random, -180, 180), north: Math.max(a, b) }
}
