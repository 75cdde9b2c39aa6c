// The shapes in which LevelDB takes ranges and operations, and a snapshot's rows page by page.

import type { Interval, Key } from '../overlay/interval.ts'
import type { Operation, Row, RowsOptions } from '../overlay/store.ts'
import type { LevelDatabase } from './level-database.ts'

export type LevelSnapshot = ReturnType<LevelDatabase['snapshot']>
export type LevelIterator = ReturnType<typeof iteratorOver>

/** A page ends early when it holds this many bytes. Guess: 16 frames of bulk. */
const pageBytesMax = 1 << 20
/** Stands for the end of the key line where LevelDB wants a key, in estimates and advice only. */
const beyondKeys: Key = new Uint8Array(64).fill(0xff)

/** Both ends as keys, roughly. */
export function levelBounds ({ low, high }: Interval): readonly [Key, Key] {
  return [low, high ?? beyondKeys]
}

export function levelRange ({ low, high }: Interval): { gte: Key, lt?: Key } {
  return high === undefined ? { gte: low } : { gte: low, lt: high }
}

type LevelOperation = { type: 'put', key: Key, value: Uint8Array } | { type: 'del', key: Key }

export function levelOperations (batches: ReadonlyArray<readonly Operation[]>): LevelOperation[] {
  const operations: LevelOperation[] = []
  for (const batch of batches) {
    for (const operation of batch) {
      operations.push(operation.type === 'put' ? operation : { type: 'del', key: operation.key })
    }
  }
  return operations
}

export function iteratorOver (database: LevelDatabase, snapshot: LevelSnapshot, interval: Interval, options: RowsOptions) {
  return database.iterator({ ...levelRange(interval), snapshot, reverse: options.reverse === true, highWaterMarkBytes: pageBytesMax })
}

/** The next page, empty at the end. */
export async function nextPage (iterator: LevelIterator, { pageRows }: RowsOptions): Promise<Row[]> {
  const rows = await iterator.nextv(pageRows)
  return rows.map(([key, value]) => ({ key: plain(key), value: plain(value) }))
}

/** The same bytes without Buffer's habits: its slice is a view where Uint8Array's is a copy. */
export function plain (bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
}
