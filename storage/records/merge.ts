// Two copies of one row become one: the greater version stays. Commutative, associative and idempotent, so copies may
// meet in any order and any number of times. Two id records with different places need more: the
// place of the one that loses still holds an entry, so the winner gets an intent to take it away
// (docs/places.md, "Two id records that meet"). And an id record that comes to stand here brings its entry to its place:
// the place may have lost it, and an entry is believed only on its id record's word (holdings/vouch.ts).

import { keyName } from './key-layout.ts'
import { decodeHeld, encodeHeld, kindOf, versionOf } from './record.ts'
import type { IdRecord, Intent, Spot } from './record.ts'
import { compareVersions } from './version.ts'

/** The row that stands; undefined when it is the stored one, unchanged. */
export function mergeRow (stored: Uint8Array | undefined, offered: Uint8Array): Uint8Array | undefined {
  if (stored === undefined) return kindOf(offered) === 'id' ? encodeHeld(arriving(decodeHeld(offered) as IdRecord)) : offered
  const order = compareVersions(versionOf(stored), versionOf(offered))
  if (order === 0) return undefined
  if (kindOf(stored) !== 'id' || kindOf(offered) !== 'id') return order < 0 ? offered : undefined
  const winner = decodeHeld(order < 0 ? offered : stored) as IdRecord
  const loser = decodeHeld(order < 0 ? stored : offered) as IdRecord
  const open = inheritIntents(winner, loser)
  if (order < 0) return encodeHeld(arriving({ ...winner, open }))
  return open.length === winner.open.length ? undefined : encodeHeld({ ...winner, open })
}

/** Each open intent of a live record arrives at its place; one without any needs one for that. */
function arriving (record: IdRecord): IdRecord {
  const { version, place, open } = record
  return place === undefined || open.length > 0 ? record : { ...record, open: [{ version, from: undefined, to: place }] }
}

/**
 * The winner's intents, and one for each place that the loser's object may lie at. All have the winner's version: where
 * they take the object from tells them apart.
 */
export function inheritIntents (winner: IdRecord, loser: IdRecord): Intent[] {
  const open = [...winner.open]
  const kept = new Set(open.flatMap(({ from }) => from === undefined ? [] : [keyName(from.place)]))
  if (winner.place !== undefined) kept.add(keyName(winner.place))
  for (const spot of spotsOf(loser)) {
    const name = keyName(spot.place)
    if (kept.has(name)) continue
    kept.add(name)
    open.push({ version: winner.version, from: spot, to: winner.place })
  }
  return open
}

function spotsOf ({ place, state, open }: IdRecord): Spot[] {
  const spots = open.flatMap(({ from }) => from === undefined ? [] : [from])
  if (place !== undefined && state?.point !== undefined) spots.push({ place, point: state.point, text: state.text })
  return spots
}
