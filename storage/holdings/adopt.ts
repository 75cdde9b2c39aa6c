// The owner's end of offers: rows that another node holds and does not own. It merges them by version and answers when
// they are flushed; then the other may drop them. Merging is a write: it goes through the writer, and primaries with open
// intents are driven from here. Entries at places are no primaries: their id records decide (vouch.ts), so accepted may
// also mean that there is nothing to keep.

import type { Copies } from '../../overlay/copies.ts'
import type { Key } from '../../overlay/interval.ts'
import { compareHighs, holdsKey } from '../../overlay/interval.ts'
import type { Routing } from '../../overlay/routing/routing.ts'
import { confirmMethod, offerMethod } from '../messages.ts'
import { mergeRow } from '../records/merge.ts'
import { isLive, kindOf } from '../records/record.ts'
import type { FrameRow } from '../records/row-frame.ts'
import { vouch } from './vouch.ts'
import type { Writer } from './writer.ts'

/** Entries of one offer whose orderers are asked at once; the rest of the offer is for the next. Guess. */
const vouchesMax = 64
/** Share of the offerer's wait in which the orderers must answer. Guess: leaves time for the flush and the way back. */
const vouchShare = 0.5

export interface AdoptComponents {
  readonly routing: Routing
  readonly writer: Writer
  readonly copies?: Copies | undefined
  /** Told of each row that came in, when it is flushed. */
  readonly onRow: (key: Key, value: Uint8Array) => unknown
}

export interface AdoptInit {
  /** What an offerer waits for its answer. */
  readonly callMs: number
}

export function handleOffers ({ routing, writer, copies, onRow }: AdoptComponents, { callMs }: AdoptInit): void {
  routing.handle(confirmMethod, ({ interval }) => ({ key: interval.low, below: false }), ({ interval, member }, { interval: own }) => {
    const until = compareHighs(own.high, interval.high) < 0 ? own.high : undefined
    const claims = (copies?.claimsIn({ low: interval.low, high: until ?? interval.high }) ?? []).map(({ claim }) => claim)
    return { until, epoch: Math.min(Number.MAX_SAFE_INTEGER, ...claims.map(({ epoch }) => epoch)), names: claims.some(({ members }) => members.includes(member)) }
  })

  routing.handle(offerMethod, ({ rows }) => ({ key: firstKey(rows), below: false }), async ({ rows }, { interval: own }) => {
    let accepted = 0
    const merged: Array<{ key: Key, value: Uint8Array }> = []
    const unchanged: Key[] = []
    const entries: Key[] = []
    for (const { key, value } of rows) {
      if (!holdsKey(own, key) || entries.length >= vouchesMax) break
      accepted++
      const standing = value === undefined ? undefined : mergeRow(writer.latest(key), value)
      if (standing === undefined) unchanged.push(key)
      else if (isEntry(standing)) entries.push(key)
      else merged.push({ key, value: standing })
    }
    const waiting = unchanged.map(async key => { await writer.flushed(key) })
    waiting.push(...entries.map(async place => { await vouch(routing, place, { waitMs: callMs * vouchShare }) }))
    if (merged.length > 0) waiting.push(writer.write(merged))
    await Promise.all(waiting)
    for (const { key, value } of merged) onRow(key, value)
    return { accepted }
  })
}

function isEntry (row: Uint8Array): boolean {
  return kindOf(row) === 'place' && isLive(row)
}

function firstKey (rows: readonly FrameRow[]): Key {
  const first = rows[0]
  if (first === undefined) throw new RangeError('an offer without rows')
  return first.key
}
