// The records of a file in LevelDB's log format (doc/log_format of LevelDB), which MANIFEST has: blocks of 32 KiB with
// records or fragments of them, each behind its checksum. A record that the end of the file cuts off was never finished,
// and is left out; anything else that does not fit is damage.

import { DamagedBytesError } from './byte-cursor.ts'
import { maskedCrc32c } from './crc32c.ts'

const blockBytes = 32_768
/** Checksum u32, length u16, type u8. */
const headerBytes = 7
const types = { zero: 0, full: 1, first: 2, middle: 3, last: 4 } as const

/** @throws DamagedBytesError */
export function * logRecords (file: Buffer): Generator<Buffer, void, undefined> {
  let fragments: Buffer[] = []
  for (let at = 0; at + headerBytes <= file.length;) {
    const blockEnd = (Math.floor(at / blockBytes) + 1) * blockBytes
    if (blockEnd - at < headerBytes) {
      at = blockEnd
      continue
    }
    const length = file.readUInt16LE(at + 4)
    const type = file[at + 6]!
    const end = at + headerBytes + length
    if (type === types.zero && length === 0) {
      at = blockEnd
      continue
    }
    if (end > blockEnd) throw new DamagedBytesError(`the record at byte ${at} goes beyond its block`)
    if (end > file.length) return
    if (file.readUInt32LE(at) !== maskedCrc32c(file.subarray(at + 6, end))) throw new DamagedBytesError(`the record at byte ${at} does not fit its checksum`)
    fragments.push(file.subarray(at + headerBytes, end))
    if (type === types.full || type === types.last) {
      yield fragments.length === 1 ? fragments[0]! : Buffer.concat(fragments)
      fragments = []
    }
    at = end
  }
}
