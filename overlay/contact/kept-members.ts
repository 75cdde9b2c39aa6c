// Members on disk: how to call those to whom this store has given keys. Claims name members by their ids alone, and a
// giver that dies between the decision and the telling is the only one who can tell it after its restart.

import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import type { Contact } from '../host.ts'
import { prefixInterval } from '../interval.ts'
import type { Member, MemberId } from '../member.ts'
import type { Store } from '../store.ts'

const prefix = 'member/'
const pageRows = 256

/** Resolves when flushed: before the change that names the member is decided. */
export async function keepMember (store: Store, { id, contact }: Member): Promise<void> {
  await store.batch([{ type: 'put', key: fromString(prefix + id), value: fromString(JSON.stringify(contact)) }])
}

/** The members that were kept; those that no claim names any more are dropped. */
export async function restoreMembers (store: Store, isNamed: (id: MemberId) => boolean): Promise<Member[]> {
  const members: Member[] = []
  const snapshot = store.snapshot()
  try {
    for await (const page of snapshot.pages(prefixInterval(fromString(prefix)), { pageRows })) {
      for (const { key, value } of page) members.push({ id: toString(key).slice(prefix.length), contact: JSON.parse(toString(value)) as Contact })
    }
  } finally {
    snapshot.close()
  }
  const gone = members.filter(({ id }) => !isNamed(id))
  if (gone.length > 0) await store.batch(gone.map(({ id }) => ({ type: 'delete', key: fromString(prefix + id) })))
  return members.filter(({ id }) => isNamed(id))
}
