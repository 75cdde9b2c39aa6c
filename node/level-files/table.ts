// Is a table file of LevelDB whole? Its footer leads to its index, and that to its blocks, each behind a checksum
// (LevelDB's doc/table_format). LevelDB itself compares none of them when it reads, and would copy a damaged block into
// the next table with a new checksum.

import { open, type FileHandle } from 'node:fs/promises'
import { ByteCursor, DamagedBytesError } from './byte-cursor.ts'
import { maskedCrc32c } from './crc32c.ts'

const footerBytes = 48
const magic = 0xdb4775248b80fb57n
/** Behind each block: its kind of compression and its checksum. */
const trailerBytes = 5
const uncompressed = 0

interface Handle { readonly offset: number, readonly size: number }

/** Footer and index; with blocks 'all' each block too. @throws DamagedBytesError, and what node:fs throws */
export async function checkTable (path: string, blocks: 'index' | 'all'): Promise<void> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    if (size < footerBytes) throw new DamagedBytesError(`it has ${size} bytes, too few for a table`)
    const footer = await read(file, { offset: size - footerBytes, size: footerBytes })
    if (footer.readBigUInt64LE(footerBytes - 8) !== magic) throw new DamagedBytesError('it does not end as a table does')
    const cursor = new ByteCursor(footer)
    const metaIndex = handleAt(cursor)
    const index = await readBlock(file, handleAt(cursor))
    if (blocks === 'index') return
    // The second names the filter, by which LevelDB skips tables without looking.
    for (const block of [index, await readBlock(file, metaIndex)]) {
      if (block[block.length - 1] !== uncompressed) continue
      for (const handle of handlesOf(block.subarray(0, -1))) await readBlock(file, handle)
    }
  } finally {
    await file.close()
  }
}

/** A block with its kind of compression as the last byte. */
async function readBlock (file: FileHandle, { offset, size }: Handle): Promise<Buffer> {
  const bytes = await read(file, { offset, size: size + trailerBytes })
  const checked = bytes.subarray(0, size + 1)
  if (bytes.readUInt32LE(size + 1) !== maskedCrc32c(checked)) throw new DamagedBytesError(`the block at byte ${offset} does not fit its checksum`)
  return checked
}

async function read (file: FileHandle, { offset, size }: Handle): Promise<Buffer> {
  const { size: fileBytes } = await file.stat()
  if (offset + size > fileBytes) throw new DamagedBytesError(`a block goes to byte ${offset + size} of ${fileBytes}`)
  const bytes = Buffer.allocUnsafe(size)
  const { bytesRead } = await file.read(bytes, 0, size, offset)
  if (bytesRead !== size) throw new DamagedBytesError(`${size} bytes are expected at byte ${offset} and ${bytesRead} can be read`)
  return bytes
}

/** The blocks that an index names: entries of a key and a handle, then the places where keys are written in full. */
function * handlesOf (index: Buffer): Generator<Handle, void, undefined> {
  const restarts = index.length < 4 ? 0 : index.readUInt32LE(index.length - 4)
  const entriesEnd = index.length - 4 * (restarts + 1)
  if (entriesEnd < 0) throw new DamagedBytesError('its index is cut off')
  const cursor = new ByteCursor(index.subarray(0, entriesEnd))
  while (!cursor.isAtEnd) {
    cursor.varint() // bytes shared with the key before
    const keyBytes = cursor.varint()
    const valueBytes = cursor.varint()
    cursor.bytes(keyBytes)
    yield handleAt(new ByteCursor(cursor.bytes(valueBytes)))
  }
}

function handleAt (cursor: ByteCursor): Handle {
  return { offset: cursor.varint(), size: cursor.varint() }
}
