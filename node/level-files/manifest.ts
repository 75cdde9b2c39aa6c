// What LevelDB's MANIFEST says that a store consists of: its tables with their sizes, and the oldest log that still
// matters. The file is a log of edits (LevelDB's version_edit.cc), which add up to the present.

import { ByteCursor, DamagedBytesError } from './byte-cursor.ts'
import { logRecords } from './log-records.ts'

const tags = { comparator: 1, logNumber: 2, nextFileNumber: 3, lastSequence: 4, compactPointer: 5, deletedFile: 6, newFile: 7, prevLogNumber: 9 } as const

export interface Manifest {
  /** Bytes of each table, by its number. */
  readonly tables: ReadonlyMap<number, number>
  /** 0 where it names none. */
  readonly logNumber: number
}

/** @throws DamagedBytesError */
export function readManifest (file: Buffer): Manifest {
  const tables = new Map<number, number>()
  let logNumber = 0
  let edits = 0
  for (const record of logRecords(file)) {
    edits++
    const cursor = new ByteCursor(record)
    while (!cursor.isAtEnd) {
      const tag = cursor.varint()
      switch (tag) {
        case tags.comparator:
          cursor.text()
          break
        case tags.logNumber:
          logNumber = cursor.varint()
          break
        case tags.nextFileNumber:
        case tags.lastSequence:
        case tags.prevLogNumber:
          cursor.varint()
          break
        case tags.compactPointer:
          cursor.varint()
          cursor.text()
          break
        case tags.deletedFile:
          cursor.varint()
          tables.delete(cursor.varint())
          break
        case tags.newFile: {
          cursor.varint()
          const number = cursor.varint()
          tables.set(number, cursor.varint())
          cursor.text()
          cursor.text()
          break
        }
        default: throw new DamagedBytesError(`an edit has the unknown tag ${tag}`)
      }
    }
  }
  if (edits === 0) throw new DamagedBytesError('it holds no edit')
  return { tables, logNumber }
}
