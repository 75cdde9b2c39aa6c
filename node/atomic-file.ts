// A file that is there whole or not at all, also after power loss: written beside its place, flushed, renamed over it,
// and the folder flushed, since on Linux the rename itself lives in the folder.

import { randomBytes } from 'node:crypto'
import { open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'

/** @throws what node:fs throws; then the old file is untouched */
export async function writeAtomically (file: string, content: Uint8Array | string, mode: number): Promise<void> {
  const besides = `${file}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`
  try {
    const handle = await open(besides, 'wx', mode)
    try {
      await handle.writeFile(content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(besides, file)
  } catch (error) {
    await unlink(besides).catch(() => {})
    throw error
  }
  await flushFolder(dirname(file))
}

async function flushFolder (folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
