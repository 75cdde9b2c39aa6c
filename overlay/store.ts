// The one door from protocol code to the disk: an ordered map from bytes to bytes, after LevelDB. node/level-store.ts
// and storage/memory-store.ts implement it and pass test/conformance/store.ts. It stands in overlay/ because claims are flushed too.
//
// Batches are atomic and are flushed in the order in which they were given; a batch's promise resolves when it is on
// disk, and several batches may share one flush (group commit). Reads see flushed batches only.

import type { Interval, Key } from './interval.ts'

export type Operation =
  | { readonly type: 'put', readonly key: Key, readonly value: Uint8Array }
  | { readonly type: 'delete', readonly key: Key }

export interface Row {
  readonly key: Key
  readonly value: Uint8Array
}

export interface RowsOptions {
  /** From the highest key down. Default false. */
  readonly reverse?: boolean
  /** Rows a page, at most. A page may be shorter, also before the last. */
  readonly pageRows: number
}

/** The store as it was when the snapshot was taken, whatever is written since. Must be closed. */
export interface Snapshot {
  /** Pages of rows of interval in key order. Ending the iteration early releases its cursor. */
  pages (interval: Interval, options: RowsOptions): AsyncIterable<Row[]>
  close (): void
}

export interface Store {
  /** The flushed value, or undefined. */
  getSync (key: Key): Uint8Array | undefined
  snapshot (): Snapshot
  /**
   * Apply all or nothing. Resolves when flushed; until then the bytes given must not change.
   *
   * @throws StoreFullError (definite) when the disk is full; StoreError otherwise
   */
  batch (operations: readonly Operation[]): Promise<void>
  /** Delete each key of interval, in its turn among batches. Resolves when flushed. */
  clear (interval: Interval): Promise<void>
  /** Bytes that interval takes on disk, roughly. */
  approximateSize (interval: Interval): Promise<number>
  /** Flush what was given, then close. Later calls throw StoreError. */
  close (): Promise<void>
}
