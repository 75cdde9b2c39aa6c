// The owner of an ordered key: gives its versions and keeps its record. A delete leaves a tombstone, so a late copy of the
// record cannot bring it back. Last writer wins; versions ascend whatever the clock does.

import type { Key } from '../../overlay/interval.ts'
import type { Owned } from '../../overlay/routing/routing.ts'
import type { WriteMessage } from '../messages.ts'
import type { Version } from '../storage-api.ts'
import type { OwnerComponents, OwnerInit } from './owner.ts'
import { decodeHeld, encodeHeld } from './record.ts'
import type { OrderedRecord, State } from './record.ts'
import { giveVersion } from './version.ts'

export interface Written {
  /** Of this write; of no use when there was nothing to delete and nothing was written. */
  readonly version: Version
  /** Was a live record there before? */
  readonly had: boolean
}

/** Decide in this step and resolve when flushed. Without state the record is deleted. */
export async function writeOrdered (
  { host, writer }: Pick<OwnerComponents, 'host' | 'writer'>, { memberId }: Pick<OwnerInit, 'memberId'>,
  { key, requestId }: WriteMessage, owned: Owned, state: State | undefined
): Promise<Written> {
  const stored = readOrdered(writer.latest(key), key)
  const had = stored?.state !== undefined
  if (requestId !== undefined && stored?.requested?.id === requestId && had === (state !== undefined)) {
    await writer.flushed(key)
    return { version: stored.version, had: stored.requested.had }
  }
  const version = giveVersion({ clockMs: host.wallClock(), floorMs: Math.max(owned.floorMs, writer.floorMs), ceilingMs: owned.ceilingMs, onShort: writer.wantCeiling, stored: stored?.version, member: memberId })
  if (state === undefined && !had && requestId === undefined) {
    await writer.flushed(key)
    return { version, had }
  }
  const requested = requestId === undefined ? undefined : { id: requestId, had }
  const record: OrderedRecord = { kind: 'ordered', version, state, requested }
  await writer.write([{ key, value: encodeHeld(record) }])
  return { version, had }
}

function readOrdered (row: Uint8Array | undefined, key: Key): OrderedRecord | undefined {
  if (row === undefined) return undefined
  const held = decodeHeld(row)
  if (held.kind !== 'ordered') throw new TypeError(`a row of kind ${held.kind} lies under an ordered key of ${key.length} bytes`)
  return held
}
