// What an interval weighs, and where to cut it so that a share of its weight lies at or above the cut. Weight is bytes of
// rows; where there are next to none, the share of the curves of spatial collections, so the first peers split an empty
// space evenly. Within a spatial collection a cut lies on a whole curve index, so a point has exactly one owner and a walk
// over an extent cannot loop (docs/places.md, "Boundaries lie on whole indices"); what lies at one index cannot be cut.
// Large intervals are narrowed by the store's rough sizes first, then a few megabytes are read.

import type { Interval, Key } from '../../overlay/interval.ts'
import { compareKeys, holdsKey, intersect, isBelow, isEmpty } from '../../overlay/interval.ts'
import { curveLength } from '../../overlay/space/curve.ts'
import type { Store } from '../../overlay/store.ts'
import type { CollectionDefinition } from '../records/collection.ts'
import { collectionInterval, collectionOf, collectionPrefix, curveIndexOf, curveKey } from '../records/key-layout.ts'
import { kindOf } from '../records/record.ts'

export interface BoundaryComponents {
  readonly store: Store
  /** Collections known here, ascending by name. */
  readonly collections: () => readonly CollectionDefinition[]
}

export interface BoundaryInit {
  readonly curveWeightBytes: number
  readonly cutBytesMin: number
  readonly cutScanBytesMax: number
  readonly scanPageRows: number
}

/** Steps of the search for the part to read: 2^-48 of the key line. */
const narrowingsMax = 48
/** Bytes of a key that the middle of two keys is computed in; exact in a number. */
const middleBytes = 6
const curveEnd = curveLength()

/** Bytes held and a little for the share of the key space. */
export async function weigh ({ store, collections }: BoundaryComponents, init: BoundaryInit, interval: Interval): Promise<number> {
  if (isEmpty(interval)) return 0
  const share = runsOf(collections(), interval).reduce((sum, { low, high }) => sum + (high - low) / curveEnd, 0)
  return await sizeOf(store, init, interval) + init.curveWeightBytes * share
}

/** As Holdings.boundaryFor. */
export async function boundaryFor (components: BoundaryComponents, init: BoundaryInit, interval: Interval, share: number): Promise<Key | undefined> {
  if (!(share >= 0 && share <= 1)) throw new RangeError(`share ${share} is not in [0, 1]`)
  if (isEmpty(interval)) return undefined
  const byRows = await cutRows(components.store, init, interval, share, init.cutBytesMin)
  const byCurves = byRows ?? cutCurves(runsOf(components.collections(), interval), interval, share)
  // Where no curve is, a few rows are better than nothing: nodes must be able to join a ring of little data.
  return byCurves ?? await cutRows(components.store, init, interval, share, 1) ?? middleOf(interval)
}

async function sizeOf (store: Store, init: BoundaryInit, interval: Interval): Promise<number> {
  const roughly = await store.approximateSize(interval)
  // A store's rough size may miss what it has not yet sorted into files.
  if (roughly >= init.cutScanBytesMax) return roughly
  const read = await readSizes(store, init, interval)
  return Math.max(roughly, read.reduce((sum, { bytes }) => sum + bytes, 0))
}

interface SizedKey { readonly key: Key, readonly bytes: number, readonly isSpatial: boolean }

/** Rows of interval with their bytes, up to cutScanBytesMax. */
async function readSizes (store: Store, init: BoundaryInit, interval: Interval): Promise<SizedKey[]> {
  const sized: SizedKey[] = []
  let total = 0
  const snapshot = store.snapshot()
  try {
    for await (const page of snapshot.pages(interval, { pageRows: init.scanPageRows })) {
      for (const { key, value } of page) {
        const bytes = key.length + value.length
        sized.push({ key, bytes, isSpatial: kindOf(value) !== 'ordered' })
        total += bytes
      }
      if (total >= init.cutScanBytesMax) break
    }
  } finally {
    snapshot.close()
  }
  return sized
}

async function cutRows (store: Store, init: BoundaryInit, interval: Interval, share: number, bytesMin: number): Promise<Key | undefined> {
  const { part, above, within, total } = await narrow(store, init, interval, share)
  const sized = await readSizes(store, init, part)
  const read = sized.reduce((sum, { bytes }) => sum + bytes, 0)
  if (read + above < bytesMin) return undefined
  // Where the part was narrowed by the store's own sizes, its rows count in these.
  const scale = part === interval ? 1 : within / Math.max(read, 1)
  const wanted = share * (part === interval ? read : total)
  let atOrAbove = above + read * scale
  let best: Key | undefined
  let bestError = Infinity
  let last: Key | undefined
  for (const { key, bytes, isSpatial } of sized) {
    const cut = isSpatial ? wholeIndexOf(key) : key
    const isNew = last === undefined || compareKeys(last, cut) !== 0
    const error = Math.abs(atOrAbove - wanted)
    if (isNew && error < bestError && strictlyInside(interval, cut) !== undefined) {
      best = cut
      bestError = error
    }
    last = cut
    atOrAbove -= bytes * scale
  }
  return best
}

/** A part small enough to read that the cut lies in, the bytes above it, within it, and of all. */
async function narrow (store: Store, init: BoundaryInit, interval: Interval, share: number): Promise<{ part: Interval, above: number, within: number, total: number }> {
  let part = interval
  let above = 0
  let size = await store.approximateSize(interval)
  const total = size
  for (let step = 0; step < narrowingsMax && size >= init.cutScanBytesMax; step++) {
    const middle = middleKey(part)
    if (middle === undefined) break
    const upper = await store.approximateSize({ low: middle, high: part.high })
    if (above + upper > share * total) {
      part = { low: middle, high: part.high }
      size = upper
    } else {
      above += upper
      part = { low: part.low, high: middle }
      size -= upper
    }
  }
  return { part, above, within: size, total }
}

interface CurveRun { readonly name: string, readonly low: number, readonly high: number }

/** The runs of curves that lie in interval, by ascending name; parts of an index count as none of it. */
function runsOf (collections: readonly CollectionDefinition[], interval: Interval): CurveRun[] {
  const runs: CurveRun[] = []
  for (const { name, kind } of collections) {
    const whole = collectionInterval(name)
    const part = kind === 'spatial' ? intersect(whole, interval) : undefined
    if (part === undefined) continue
    const prefixBytes = collectionPrefix(name).length
    const low = curveIndexOf(part.low, prefixBytes)
    const high = part.high === undefined || compareKeys(part.high, whole.high!) === 0 ? curveEnd : curveIndexOf(part.high, prefixBytes)
    if (low < high) runs.push({ name, low, high })
  }
  return runs
}

function cutCurves (runs: readonly CurveRun[], interval: Interval, share: number): Key | undefined {
  const total = runs.reduce((sum, { low, high }) => sum + high - low, 0)
  let above = Math.round(share * total)
  for (const { name, low, high } of [...runs].reverse()) {
    if (above <= high - low) {
      const index = Math.min(Math.max(high - above, low + 1), high - 1)
      return strictlyInside(interval, curveKey(name, Math.max(index, low)))
    }
    above -= high - low
  }
  return undefined
}

/** Where a cut lies that keeps all rows at the key's curve index together. */
function wholeIndexOf (key: Key): Key {
  const name = collectionOf(key)
  if (name === undefined) throw new TypeError('a row of an object lies outside of any collection')
  return curveKey(name, curveIndexOf(key, collectionPrefix(name).length))
}

function strictlyInside (interval: Interval, key: Key): Key | undefined {
  return compareKeys(key, interval.low) > 0 && holdsKey(interval, key) ? key : undefined
}

/** The middle, if it lies between collections: one inside might be spatial and unknown here. */
function middleOf (interval: Interval): Key | undefined {
  const middle = middleKey(interval)
  return middle === undefined || middle.includes(0) ? undefined : middle
}

/** A key about half way, by the bytes behind the common prefix; strictly inside, or undefined. */
function middleKey ({ low, high }: Interval): Key | undefined {
  let shared = 0
  if (high !== undefined) while (shared < low.length && shared < high.length && low[shared] === high[shared]) shared++
  const from = numberAt(low, shared)
  const to = high === undefined ? 256 ** middleBytes : numberAt(high, shared)
  let middle = Math.floor((from + to) / 2)
  const bytes: number[] = []
  for (let at = 0; at < middleBytes; at++) {
    bytes.unshift(middle % 256)
    middle = Math.floor(middle / 256)
  }
  while (bytes.at(-1) === 0) bytes.pop()
  const key = new Uint8Array(shared + bytes.length)
  key.set(low.subarray(0, shared))
  key.set(bytes, shared)
  return compareKeys(key, low) > 0 && isBelow(key, high) ? key : undefined
}

function numberAt (key: Key, at: number): number {
  let number = 0
  for (let byte = at; byte < at + middleBytes; byte++) number = number * 256 + (key[byte] ?? 0)
  return number
}
