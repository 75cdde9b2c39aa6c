// Is a LevelDB directory whole, seen from its files alone, without opening it: CURRENT, the MANIFEST that it names, the
// tables and the log that this names. LevelDB finds most of this out only when it needs the file, some never, and takes
// a directory without CURRENT for a new one; an emptied store would break the promises that it held.

import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DamagedBytesError } from './byte-cursor.ts'
import { readManifest, type Manifest } from './manifest.ts'
import { checkTable } from './table.ts'

/** What was looked at. */
export interface CheckedFiles {
  readonly tables: number
  readonly bytes: number
  /** Bytes of the tables whose every block was compared with its checksum: the newest ones. */
  readonly comparedBytes: number
}

/**
 * @param comparedBytesMax - how much to read for comparing checksums
 * @returns undefined for a directory without a store, or where the first start of one was cut short
 * @throws DamagedBytesError that names the file
 */
export async function checkLevelFiles (directory: string, comparedBytesMax: number): Promise<CheckedFiles | undefined> {
  const names: string[] = await readdir(directory).catch(() => [])
  if (!names.includes('CURRENT')) {
    if (names.some(isPartOfStore)) throw new DamagedBytesError('the file CURRENT is missing')
    return undefined
  }
  const { tables, logNumber } = await manifestOf(directory)
  const byNumber = new Map(names.map(name => [numberOf(name), name] as const))
  if (logNumber > 0 && !byNumber.get(logNumber)?.endsWith('.log')) throw new DamagedBytesError(`the log ${fileNumber(logNumber)}.log is missing`)
  let bytes = 0
  let comparedBytes = 0
  for (const [number, size] of [...tables].sort(([a], [b]) => b - a)) {
    const name = byNumber.get(number) ?? `${fileNumber(number)}.ldb`
    const compares = comparedBytes + size <= comparedBytesMax
    await within(name, async () => {
      const { size: found } = await stat(join(directory, name))
      if (found !== size) throw new DamagedBytesError(`it has ${found} bytes instead of ${size}`)
      await checkTable(join(directory, name), compares ? 'all' : 'index')
    })
    bytes += size
    if (compares) comparedBytes += size
  }
  return { tables: tables.size, bytes, comparedBytes }
}

async function manifestOf (directory: string): Promise<Manifest> {
  const named = await within('CURRENT', async () => {
    const text = await readFile(join(directory, 'CURRENT'), 'latin1')
    if (!/^MANIFEST-\d+\n$/.test(text)) throw new DamagedBytesError('it names no MANIFEST')
    return text.trim()
  })
  return await within(named, async () => readManifest(await readFile(join(directory, named))))
}

/** @throws DamagedBytesError with the name of the file before its message */
async function within<T> (name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof DamagedBytesError) throw new DamagedBytesError(`${name}: ${error.message}`)
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new DamagedBytesError(`the file ${name} is missing`)
    throw error
  }
}

/** MANIFEST-000001 alone is what a first start leaves that was cut short. */
function isPartOfStore (name: string): boolean {
  return /^(?:\d+\.(?:ldb|sst|log)|MANIFEST-(?!0*1$)\d+)$/.test(name)
}

function numberOf (name: string): number {
  return /^\d+\.(?:ldb|sst|log)$/.test(name) ? parseInt(name, 10) : NaN
}

function fileNumber (number: number): string {
  return String(number).padStart(6, '0')
}
