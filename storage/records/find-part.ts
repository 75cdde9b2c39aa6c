// find at an owner: its entries inside an extent that have the words asked for, from one snapshot. A skip-scan: rows are
// read in key order; at the first row outside the extent's cover the scan jumps to where the cover goes on, within the
// page at hand or by a new seek. Id records lie between the entries on the same curve and are passed over.
// The cover is a superset of the extent; the exact filter decides, on coordinates as given.

import type { Interval, Key } from '../../overlay/interval.ts'
import { compareKeys, intersect, isBelow } from '../../overlay/interval.ts'
import { prepare } from '../../overlay/space/cover.ts'
import type { PreparedExtent } from '../../overlay/space/cover.ts'
import type { Snapshot } from '../../overlay/store.ts'
import { findMethod } from '../messages.ts'
import type { FindMessage, FindReply } from '../messages.ts'
import { matches } from '../words.ts'
import { coverKeys } from './cover-walk.ts'
import type { CoverKeys } from './cover-walk.ts'
import { collectionInterval, collectionPrefix, curveIndexOf, idOf, isPlaceKey } from './key-layout.ts'
import type { OwnerComponents, OwnerInit } from './owner.ts'
import { wordsAt } from './place.ts'
import { decodeHeld, isLive, kindOf, pointOf } from './record.ts'
import { rowBytes } from './row-frame.ts'
import type { FrameRow } from './row-frame.ts'

/** Rows of a page after a jump: most jumps lead to few rows. Guess. */
const shortPageRows = 32
/** Moved objects that one answer names; later ones are missed, as moves during a walk may be. Guess. */
const movedMax = 1_000

export function handleFind ({ routing, store, onTouch, onRead, markAgeMs }: OwnerComponents, init: OwnerInit): void {
  routing.handle(findMethod, ({ from }) => ({ key: from, below: false }), (message, owned) => {
    const part = intersect(owned.interval, { low: message.from, high: collectionInterval(message.collection).high })
    if (part === undefined) throw new RangeError('a find was asked of a node that owns none of its extent')
    onTouch(message.from, 'find')
    const snapshot = store.snapshot()
    const scan = new PartScan(message, part, markAgeMs, init)
    return scan.read(snapshot).finally(() => {
      snapshot.close()
      onRead('find', scan.found, scan.scanned)
    })
  })
}

class PartScan {
  found = 0
  scanned = 0
  readonly #message: FindMessage
  readonly #part: Interval
  readonly #markAgeMs: OwnerComponents['markAgeMs']
  readonly #init: OwnerInit
  readonly #prepared: PreparedExtent
  readonly #prefixBytes: number
  readonly #cover: CoverKeys
  readonly #rows: FrameRow[] = []
  readonly #moved: Key[] = []
  #bytes = 0
  #insideIndex = -1

  constructor (message: FindMessage, part: Interval, markAgeMs: OwnerComponents['markAgeMs'], init: OwnerInit) {
    this.#message = message
    this.#part = part
    this.#markAgeMs = markAgeMs
    this.#init = init
    this.#prepared = prepare(message.space, message.extent)
    this.#prefixBytes = collectionPrefix(message.collection).length
    this.#cover = coverKeys(this.#prepared, message.collection, this.#prefixBytes)
  }

  async read (snapshot: Snapshot): Promise<FindReply> {
    const { high } = this.#part
    let pageRows = this.#init.scanPageRows
    let at = this.#cover.from(this.#part.low)
    while (at !== undefined && isBelow(at, high)) {
      const run = await this.#readRun(snapshot, { low: at, high }, pageRows)
      if (run.fullAt !== undefined) return this.#reply(run.fullAt)
      at = run.skipTo
      pageRows = Math.min(shortPageRows, this.#init.scanPageRows)
    }
    return this.#reply(high!)
  }

  /** Rows until the limits are reached or the scan must jump beyond the page at hand. */
  async #readRun (snapshot: Snapshot, run: Interval, pageRows: number): Promise<{ fullAt?: Key, skipTo?: Key }> {
    let skipTo: Key | undefined
    for await (const page of snapshot.pages(run, { pageRows })) {
      for (const { key, value } of page) {
        if (skipTo !== undefined && compareKeys(key, skipTo) < 0) continue
        if (this.#isFull()) return { fullAt: key }
        this.scanned++
        const index = curveIndexOf(key, this.#prefixBytes)
        if (index !== this.#insideIndex) {
          const next = this.#cover.after(index)
          if (next === undefined) return {}
          if (next !== 'inside') {
            skipTo = next
            continue
          }
          this.#insideIndex = index
        }
        skipTo = undefined
        if (isPlaceKey(key, this.#prefixBytes)) this.#take(key, value)
      }
      if (skipTo !== undefined) return { skipTo }
    }
    return {}
  }

  #take (key: Key, value: Uint8Array): void {
    if (kindOf(value) !== 'place') return
    if (!isLive(value)) {
      this.#takeMark(key, value)
      return
    }
    const { collection, countOnly } = this.#message
    const point = pointOf(value)
    if (point === undefined) throw new TypeError(`an entry at a place of ${collection} has no point`)
    if (!this.#prepared.holds(point) || !this.#hasWords(value)) return
    this.found++
    if (countOnly) return
    const row = { key, value }
    this.#rows.push(row)
    this.#bytes += rowBytes(row)
  }

  /**
   * An object that went from here to where the walk has been already. When, its owner alone can say, by how long it has
   * the mark: clocks differ. A mark of unknown age may be young.
   */
  #takeMark (key: Key, value: Uint8Array): void {
    const { from, countOnly, movedMs } = this.#message
    if (countOnly || this.#moved.length >= movedMax) return
    const mark = decodeHeld(value)
    if (mark.kind !== 'place' || mark.movedTo === undefined || (this.#markAgeMs(key, mark.version) ?? 0) > movedMs) return
    const movedBack = compareKeys(mark.movedTo, from) < 0 && this.#cover.after(curveIndexOf(mark.movedTo, this.#prefixBytes)) === 'inside'
    if (movedBack) this.#moved.push(idOf(key, this.#prefixBytes))
  }

  /** The whole entry is read only where words are asked for. */
  #hasWords (value: Uint8Array): boolean {
    const { words, any } = this.#message
    if (words.length === 0) return true
    const entry = decodeHeld(value)
    return entry.kind === 'place' && matches(wordsAt(entry, this.#init.unicodeVersion), words, any ? 'any' : 'all')
  }

  #isFull (): boolean {
    const { rowsMax, bytesMax } = this.#message
    return this.#rows.length >= rowsMax || this.#bytes >= bytesMax || this.scanned >= this.#init.scannedRowsMax
  }

  #reply (next: Key): FindReply {
    return { rows: this.#rows, count: this.found, next, moved: this.#moved }
  }
}
