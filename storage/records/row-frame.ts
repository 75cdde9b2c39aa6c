// Many rows as one run of bytes, for pages, bulk and offers: {key, value} {key, value} …, each a varint length and its
// bytes. By hand, because rows are most of what peers send: decoding makes two slices a row and copies nothing.
// A row without a value says that nothing is stored under its key (lengths of values are sent plus one, 0 is none).

import type { Codec } from '../../overlay/host.ts'
import type { Key } from '../../overlay/interval.ts'
import { ByteReader, ByteWriter } from './bytes.ts'

export interface FrameRow {
  readonly key: Key
  /** Undefined: nothing is stored here. */
  readonly value: Uint8Array | undefined
}

export const rowFrame: Codec<readonly FrameRow[]> = {
  encode (rows) {
    const writer = new ByteWriter()
    for (const { key, value } of rows) {
      writer.bytes(key).varint(value === undefined ? 0 : value.length + 1)
      if (value !== undefined) writer.raw(value)
    }
    return writer.finish()
  },

  /** @throws UnreadableRowError */
  decode (bytes) {
    const reader = new ByteReader(bytes)
    const rows: FrameRow[] = []
    while (!reader.isAtEnd) {
      const key = reader.bytes()
      const length = reader.varint()
      rows.push({ key, value: length === 0 ? undefined : reader.raw(length - 1) })
    }
    return rows
  }
}

/** Bytes of a row in a frame, roughly. */
export function rowBytes (row: FrameRow): number {
  return row.key.length + (row.value?.length ?? 0) + 4
}

/** Rows in frames of at most bytesMax each; a larger row has its own. */
export function * frames<Row extends FrameRow> (rows: Iterable<Row>, bytesMax: number): Generator<Row[]> {
  let frame: Row[] = []
  let bytes = 0
  for (const row of rows) {
    const more = rowBytes(row)
    if (frame.length > 0 && bytes + more > bytesMax) {
      yield frame
      frame = []
      bytes = 0
    }
    frame.push(row)
    bytes += more
  }
  if (frame.length > 0) yield frame
}
