// The owner's end of offers: rows that another node holds and does not own. It merges them by version and answers when
// they are flushed; then the other may drop them. Merging is a write: it goes through the writer, and primaries with open
// intents are driven from here.

import type { Key } from '../../overlay/interval.ts'
import { compareHighs, holdsKey } from '../../overlay/interval.ts'
import type { Routing } from '../../overlay/routing/routing.ts'
import { confirmMethod, offerMethod } from '../messages.ts'
import { mergeRow } from '../records/merge.ts'
import type { FrameRow } from '../records/row-frame.ts'
import type { Writer } from './writer.ts'

export interface AdoptComponents {
  readonly routing: Routing
  readonly writer: Writer
  /** Told of each row that came in, when it is flushed. */
  readonly onRow: (key: Key, value: Uint8Array) => unknown
}

export function handleOffers ({ routing, writer, onRow }: AdoptComponents): void {
  routing.handle(confirmMethod, ({ interval }) => ({ key: interval.low, below: false }), ({ interval }, { interval: own }) => {
    return { until: compareHighs(own.high, interval.high) < 0 ? own.high : undefined }
  })

  routing.handle(offerMethod, ({ rows }) => ({ key: firstKey(rows), below: false }), async ({ rows }, { interval: own }) => {
    let accepted = 0
    const merged: Array<{ key: Key, value: Uint8Array }> = []
    const unchanged: Key[] = []
    for (const { key, value } of rows) {
      if (!holdsKey(own, key)) break
      accepted++
      const standing = value === undefined ? undefined : mergeRow(writer.latest(key), value)
      if (standing === undefined) unchanged.push(key)
      else merged.push({ key, value: standing })
    }
    const waiting = unchanged.map(async key => { await writer.flushed(key) })
    if (merged.length > 0) waiting.push(writer.write(merged))
    await Promise.all(waiting)
    for (const { key, value } of merged) onRow(key, value)
    return { accepted }
  })
}

function firstKey (rows: readonly FrameRow[]): Key {
  const first = rows[0]
  if (first === undefined) throw new RangeError('an offer without rows')
  return first.key
}
