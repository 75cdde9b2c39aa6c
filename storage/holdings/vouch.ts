// An entry at a place that comes from anybody but its object's orderer speaks of the past: the mark that would refuse it
// is long swept when an old disk returns. So it is never believed by itself. The id record says whether the object is
// there, and then its present state arrives, as any arrival does; else there is nothing to keep.
// It does not ask about marks: one that is too late changes nothing.

import type { Key } from '../../overlay/interval.ts'
import { compareKeys } from '../../overlay/interval.ts'
import type { Routing } from '../../overlay/routing/routing.ts'
import { arriveMethod, getMethod } from '../messages.ts'
import { collectionOf, collectionPrefix, idKey, idOf } from '../records/key-layout.ts'
import { decodeHeld } from '../records/record.ts'

/** Steps below that are asked one after the other. */
const asksCount = 2

/**
 * Have the object whose entry was offered for place arrive there, if it is there. Nothing is known of the place's owner
 * after the first answer, so the arrival is routed anew.
 *
 * @param waitMs - for all of it
 * @throws errors of Routing.ask; then nothing is known
 */
export async function vouch (routing: Routing, place: Key, { waitMs }: { waitMs: number }): Promise<void> {
  const options = { deadlineMs: waitMs / asksCount, repeatable: true }
  const key = idKeyAt(place)
  const { answer } = await routing.ask({ key, below: false }, getMethod, { key }, options)
  const record = answer.row === undefined ? undefined : decodeHeld(answer.row)
  if (record?.kind !== 'id' || record.state === undefined || record.place === undefined || compareKeys(record.place, place) !== 0) return
  const { state, version } = record
  await routing.ask({ key: place, below: false }, arriveMethod, { place, state, version }, options)
}

function idKeyAt (place: Key): Key {
  const name = collectionOf(place)
  if (name === undefined) throw new TypeError('an entry at a place lies outside of any collection')
  return idKey(name, idOf(place, collectionPrefix(name).length))
}
