// Ranges and finds of a client, page after page through one node, and what they ask for in terms of the history: worked out
// here from what was written, apart from the code that answers.

import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { indexOf, lonLat } from '../../../overlay/space/space.ts'
import type { FindRequest, PageAnswer, RangeRequest, StorageVerbs } from '../../../storage/storage-api.ts'
import type { History, Row, Scan } from '../checkers/history.ts'
import type { SimNode } from '../cluster.ts'
import { ask, type AskComponents } from './asking.ts'
import { placeOf, recordText } from './row-text.ts'
import { ordered, spatial, type Deed } from './workload.ts'

export interface ScanComponents extends AskComponents {
  readonly history: History
}

type Wanted = Pick<Scan, 'kind' | 'asksFor' | 'compare'> & { readonly collection: string }
type Page = (storage: StorageVerbs, cursor: string | undefined, deadlineMs: number) => Promise<PageAnswer>

/** A client with a small limit reads so many pages. */
const pagesMax = 5

export async function rangeAll (components: ScanComponents, label: string, node: SimNode, { gte, lt, reverse, limit }: Extract<Deed, { kind: 'range' }>, deadlineMs: number): Promise<boolean> {
  const ascending = (a: Row, b: Row): number => a.key < b.key ? -1 : a.key > b.key ? 1 : 0
  const wanted: Wanted = {
    collection: ordered,
    kind: 'range',
    asksFor: ({ key }) => key.startsWith(`${ordered}/`) && (gte === '' || key >= `${ordered}/${gte}`) && (lt === '' || key < `${ordered}/${lt}`),
    compare: reverse ? (a, b) => ascending(b, a) : ascending
  }
  const request: RangeRequest = { collection: ordered, reverse, limit, ...(gte !== '' && { gte: fromString(gte) }), ...(lt !== '' && { lt: fromString(lt) }) }
  return await scanAll(components, label, node, wanted, deadlineMs, async (storage, cursor, deadlineMs) => await storage.range({ ...request, cursor }, { deadlineMs }))
}

export async function findAll (components: ScanComponents, label: string, node: SimNode, { box, word, limit }: Extract<Deed, { kind: 'find' }>, deadlineMs: number): Promise<boolean> {
  const { west, south, east, north } = box
  const isAcross = (lon: number): boolean => west <= east ? lon >= west && lon <= east : lon >= west || lon <= east
  // a pole has every longitude, and -180 is 180, too
  const isInside = (lon: number, lat: number): boolean => lat >= south && lat <= north && (Math.abs(lat) === 90 || isAcross(lon) || (lon === -180 && isAcross(180)))
  const wanted: Wanted = {
    collection: spatial,
    kind: 'find',
    asksFor: ({ key, value }) => {
      const place = placeOf(value)
      return key.startsWith(`${spatial}/`) && place.point !== undefined && isInside(...place.point) && (word === undefined || place.word === word)
    },
    compare: (a, b) => curveIndexOf(a) - curveIndexOf(b) || (a.key < b.key ? -1 : 1)
  }
  const request: FindRequest = { collection: spatial, extent: box, words: word === undefined ? [] : [word], match: 'all', limit }
  return await scanAll(components, label, node, wanted, deadlineMs, async (storage, cursor, deadlineMs) => await storage.find({ ...request, cursor }, { deadlineMs }))
}

/** @returns whether it was answered in full */
async function scanAll (components: ScanComponents, label: string, node: SimNode, { collection, ...wanted }: Wanted, deadlineMs: number, askPage: Page): Promise<boolean> {
  const end = components.history.scan({ label, ...wanted })
  let rows: Row[] = []
  let complete = true
  let cursor: string | undefined
  for (let pages = 0; pages < pagesMax; pages++) {
    const asked = await ask(components, node, deadlineMs, async (storage, deadlineMs) => await askPage(storage, cursor, deadlineMs))
    if (asked.outcome !== 'ok') {
      end({ outcome: asked.outcome, complete: false, rows, isCut: true })
      return false
    }
    const page = asked.answer.records.map(record => ({ key: `${collection}/${toString(record.key)}`, value: recordText(record) }))
    if (wanted.kind === 'find') rows = rows.filter(({ key }) => !page.some(row => row.key === key)) // told once in a page: it moved between two
    rows.push(...page)
    complete &&= asked.answer.complete
    cursor = asked.answer.cursor
    if (cursor === undefined) break
  }
  end({ outcome: 'ok', complete, rows, isCut: cursor !== undefined })
  return complete
}

function curveIndexOf ({ value }: Row): number {
  const { point } = placeOf(value)
  return point === undefined ? -1 : indexOf(lonLat, point)
}
