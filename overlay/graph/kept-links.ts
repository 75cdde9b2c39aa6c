// Links on disk: a node that restarts has its neighbors of all levels at once, finds its ring without a bootstrap list,
// and can route before it has repaired anything. Written only when they change, a level's worth at each refresh.

import { fromString } from 'uint8arrays/from-string'
import { equals } from 'uint8arrays/equals'
import { codec } from '../codec.ts'
import type { Codec } from '../host.ts'
import type { GraphNode } from '../messages.ts'
import type { Store } from '../store.ts'
import * as wire from '../wire/overlay.ts'
import type { Neighbors } from './neighbors.ts'

interface LinksRow {
  readonly levels: ReadonlyArray<{ readonly left?: GraphNode | undefined, readonly right?: GraphNode | undefined }>
}

const row = fromString('links')
const rowCodec: Codec<LinksRow> = codec(wire.KeptLinks)

/** Put the links that were kept into neighbors. */
export function restoreLinks (store: Store, neighbors: Neighbors): void {
  const bytes = store.getSync(row)
  if (bytes === undefined) return
  rowCodec.decode(bytes).levels.forEach(({ left, right }, level) => {
    if (left !== undefined) neighbors.set(level, 'left', left)
    if (right !== undefined) neighbors.set(level, 'right', right)
  })
}

export async function keepLinks (store: Store, neighbors: Neighbors): Promise<void> {
  const value = rowCodec.encode({ levels: neighbors.levels() })
  const kept = store.getSync(row)
  if (kept !== undefined && equals(kept, value)) return
  await store.batch([{ type: 'put', key: row, value }])
}
