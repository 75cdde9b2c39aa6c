// The member's end of copies: it takes rows from the owner of a claim that is the newest it knows, and answers when they
// are flushed. From its promise to anybody else on it takes nothing. Messages may come late, twice or in another order:
// of one boot of an owner the later decision stays, else the greater version.

import type { Copies } from '../../overlay/copies.ts'
import type { Host } from '../../overlay/host.ts'
import { copyMethod } from '../messages.ts'
import type { CopyGroup } from '../messages.ts'
import { keyName } from '../records/key-layout.ts'
import { versionOf } from '../records/record.ts'
import { compareVersions } from '../records/version.ts'
import type { FrameRow } from '../records/row-frame.ts'
import type { Writer } from './writer.ts'

export interface CopyComponents {
  readonly host: Host
  readonly writer: Writer
  readonly copies: Copies
}

/** Keys whose last decision is remembered. Guess: far more than are in flight between two nodes. */
const ordersMax = 16_384

interface Order { readonly boot: string, readonly order: number }

export function handleCopies ({ host, writer, copies }: CopyComponents): void {
  const orders = new Map<string, Order>()

  host.handle(copyMethod, async ({ owner, boot, groups }) => {
    const refused: number[] = []
    const rows: FrameRow[] = []
    groups.forEach((group, index) => {
      if (group.rows.every(({ key }) => copies.mayTake(key, group))) rows.push(...newer(group, `${owner}/${boot}`))
      else refused.push(index)
    })
    // also when nothing is new: what the answer speaks of may still be on its way to the disk
    await writer.copy(rows)
    return { refused }
  })

  function newer (group: CopyGroup, boot: string): FrameRow[] {
    return group.rows.filter(row => {
      const name = keyName(row.key)
      const last = orders.get(name)
      const isNewer = last?.boot === boot ? group.order > last.order : isGreater(row)
      if (isNewer) remember(name, { boot, order: group.order })
      return isNewer
    })
  }

  function isGreater ({ key, value }: FrameRow): boolean {
    const stored = writer.latest(key)
    return value === undefined || stored === undefined || compareVersions(versionOf(value), versionOf(stored)) >= 0
  }

  function remember (name: string, order: Order): void {
    orders.delete(name)
    orders.set(name, order)
    if (orders.size > ordersMax) orders.delete(orders.keys().next().value!)
  }
}
