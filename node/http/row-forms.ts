// The forms of a long answer: JSON page, NDJSON, GeoJSON FeatureCollection, GeoJSON text sequence (RFC 8142). Each says
// how it opens, how a row looks, and how it closes with what every read carries: complete, missing, hops, peers, tookMs.

import type { Missing, ReadEnd, StoredRecord } from '../../storage/storage-api.ts'
import { textOfBound } from '../key-text.ts'
import { featureText, keyText, recordText } from './row-text.ts'

export const jsonType = 'application/json'
export const ndjsonType = 'application/x-ndjson'
export const geojsonType = 'application/geo+json'
export const geojsonSeqType = 'application/geo+json-seq'

export interface RowForm {
  readonly contentType: string
  readonly open: string
  /** @param at - rows before this one */
  row (record: StoredRecord, at: number): string
  close (end: ReadEnd, rows: number): string
}

/** What a read cost and what it lacks, as JSON carries it. */
export function endFields (end: ReadEnd): Record<string, unknown> {
  return {
    complete: end.complete,
    missing: end.missing.map(missingFields),
    hops: end.hops,
    peers: end.peers,
    tookMs: shownMs(end.tookMs),
    ...(end.cursor === undefined ? {} : { cursor: end.cursor })
  }
}

/** Microseconds are enough for anybody. */
export function shownMs (ms: number): number {
  return Math.round(ms * 1_000) / 1_000
}

/** An open end is null; see textOfBound for bounds that are no text. */
function missingFields ({ from, to, peer, reason }: Missing): object {
  return { from: textOfBound(from), to: to === undefined ? null : textOfBound(to), peer: peer ?? null, reason }
}

/** @param keysOnly - 'keys' leaves values out */
export function jsonForm (shows: 'records' | 'keys'): RowForm {
  const row = rowOf(shows)
  return {
    contentType: 'application/json; charset=utf-8',
    open: '{"records":[',
    row: (record, at) => at === 0 ? row(record) : ',' + row(record),
    close: (end, rows) => `],"returned":${rows},${JSON.stringify(endFields(end)).slice(1)}`
  }
}

export function ndjsonForm (shows: 'records' | 'keys'): RowForm {
  const row = rowOf(shows)
  return {
    contentType: 'application/x-ndjson; charset=utf-8',
    open: '',
    row: record => row(record) + '\n',
    close: (end, rows) => JSON.stringify({ end: { returned: rows, ...endFields(end) } }) + '\n'
  }
}

/** @param nextLink - the URL that goes on at a cursor, where the request can be said as one */
export function geojsonForm (nextLink: ((cursor: string) => string) | undefined): RowForm {
  return {
    contentType: geojsonType,
    open: '{"type":"FeatureCollection","features":[',
    row: (record, at) => at === 0 ? featureText(record) : ',' + featureText(record),
    close: (end, rows) => {
      const links = end.cursor === undefined || nextLink === undefined ? [] : [{ rel: 'next', type: geojsonType, href: nextLink(end.cursor) }]
      return `],"numberReturned":${rows},${JSON.stringify({ links, ...endFields(end) }).slice(1)}`
    }
  }
}

/** Its last text is a collection without features that carries the end. */
export const geojsonSeqForm: RowForm = {
  contentType: geojsonSeqType,
  open: '',
  row: record => '\x1e' + featureText(record) + '\n',
  close: (end, rows) => '\x1e' + JSON.stringify({ type: 'FeatureCollection', features: [], numberReturned: rows, ...endFields(end) }) + '\n'
}

function rowOf (shows: 'records' | 'keys'): (record: StoredRecord) => string {
  return shows === 'records' ? recordText : keyText
}
