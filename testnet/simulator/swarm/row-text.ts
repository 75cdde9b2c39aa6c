// A record as one text, for histories: its value, and for an object also where it is and its word, so that a state put together
// from two writes is like none that was written.

import { toString } from 'uint8arrays/to-string'
import type { Point } from '../../../overlay/space/point.ts'
import type { StoredRecord } from '../../../storage/storage-api.ts'

export interface Place {
  readonly point: Point | undefined
  readonly word: string
}

/** `<value>`, or `<value> <lon>,<lat> <word>` with `-` for no point. */
export function rowText (value: string, place?: Place): string {
  return place === undefined ? value : `${value} ${place.point?.join() ?? '-'} ${place.word}`
}

export function recordText ({ value, point, text }: StoredRecord): string {
  return rowText(toString(value), text === undefined ? undefined : { point, word: text })
}

/** What rowText was given. */
export function placeOf (text: string): Place {
  const [, point = '-', word = ''] = text.split(' ')
  const [lon, lat] = point.split(',').map(Number)
  return { point: lat === undefined ? undefined : [lon!, lat], word }
}
