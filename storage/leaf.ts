// A leaf of the in-memory store: a few dozen rows in key order, packed into one buffer, so that a row costs its bytes
// and eight more instead of two objects of a hundred bytes each. Leaves never change; a write packs a new one.
// Layout: for each row the end of its key and the end of its value (u32 each, offsets into the bytes), then the bytes.

import type { Key } from '../overlay/interval.ts'
import type { Row } from '../overlay/store.ts'

export interface Leaf {
  readonly rowsCount: number
  /** End of key i at 2 i, end of value i at 2 i + 1. */
  readonly ends: Uint32Array
  readonly bytes: Uint8Array
}

/** Rows from (inclusive) to to (exclusive) of a leaf, or one row that is given as it is. */
export type Run =
  | { readonly leaf: Leaf, readonly from: number, readonly to: number }
  | { readonly row: Row }

export function pack (runs: readonly Run[]): Leaf {
  let rowsCount = 0
  let bytesCount = 0
  for (const run of runs) {
    rowsCount += 'row' in run ? 1 : run.to - run.from
    bytesCount += 'row' in run ? run.row.key.length + run.row.value.length : runBytes(run.leaf, run.from, run.to)
  }
  const buffer = new ArrayBuffer(rowsCount * 8 + bytesCount)
  const ends = new Uint32Array(buffer, 0, rowsCount * 2)
  const bytes = new Uint8Array(buffer, rowsCount * 8)
  let endsAt = 0
  let bytesAt = 0
  for (const run of runs) {
    if ('row' in run) {
      bytes.set(run.row.key, bytesAt)
      ends[endsAt++] = bytesAt += run.row.key.length
      bytes.set(run.row.value, bytesAt)
      ends[endsAt++] = bytesAt += run.row.value.length
      continue
    }
    const start = rowStart(run.leaf, run.from)
    const shift = bytesAt - start
    for (let index = run.from * 2; index < run.to * 2; index++) ends[endsAt++] = run.leaf.ends[index]! + shift
    const length = runBytes(run.leaf, run.from, run.to)
    bytes.set(run.leaf.bytes.subarray(start, start + length), bytesAt)
    bytesAt += length
  }
  return { rowsCount, ends, bytes }
}

/** Bytes of the keys and values of rows from to to. */
export function runBytes (leaf: Leaf, from: number, to: number): number {
  return rowStart(leaf, to) - rowStart(leaf, from)
}

/** Index of the first row whose key is at least key; rowsCount when there is none. */
export function firstRowFrom (leaf: Leaf, key: Key): number {
  let low = 0
  let high = leaf.rowsCount
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareRowKey(leaf, middle, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Order of the key of row index and key, as compareKeys gives it. */
export function compareRowKey (leaf: Leaf, index: number, key: Key): number {
  const { bytes } = leaf
  const start = rowStart(leaf, index)
  const length = leaf.ends[index * 2]! - start
  const shared = Math.min(length, key.length)
  for (let at = 0; at < shared; at++) {
    const difference = bytes[start + at]! - key[at]!
    if (difference !== 0) return difference
  }
  return length - key.length
}

/** A copy of row index, which the caller may keep. */
export function rowOf (leaf: Leaf, index: number): Row {
  const keyEnd = leaf.ends[index * 2]!
  return { key: leaf.bytes.slice(rowStart(leaf, index), keyEnd), value: leaf.bytes.slice(keyEnd, leaf.ends[index * 2 + 1]) }
}

/** A copy of the value of key, or undefined. */
export function valueOf (leaf: Leaf, key: Key): Uint8Array | undefined {
  const index = firstRowFrom(leaf, key)
  if (index === leaf.rowsCount || compareRowKey(leaf, index, key) !== 0) return undefined
  return leaf.bytes.slice(leaf.ends[index * 2], leaf.ends[index * 2 + 1])
}

/** The rows of leaf in pieces of at most rowsMax rows, and of at most bytesMax bytes where more than one row is in it. */
export function cut (leaf: Leaf, rowsMax: number, bytesMax: number): Leaf[] {
  if (leaf.rowsCount === 0) return []
  if (leaf.rowsCount <= rowsMax && (leaf.bytes.length <= bytesMax || leaf.rowsCount === 1)) return [leaf]
  const pieces: Leaf[] = []
  const piecesCount = Math.max(Math.ceil(leaf.rowsCount / rowsMax), Math.ceil(leaf.bytes.length / bytesMax))
  const rowsAim = Math.ceil(leaf.rowsCount / piecesCount)
  let from = 0
  for (let to = 1; to <= leaf.rowsCount; to++) {
    const isFull = to - from === rowsAim || to === leaf.rowsCount || runBytes(leaf, from, to + 1) > bytesMax
    if (!isFull) continue
    pieces.push(pack([{ leaf, from, to }]))
    from = to
  }
  return pieces
}

function rowStart (leaf: Leaf, index: number): number {
  return index === 0 ? 0 : leaf.ends[index * 2 - 1]!
}
