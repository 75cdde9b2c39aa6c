// testnet.json in the data directory: what a later run with the same directory must know, so that each peer finds its
// old store and the others at their old addresses, and nothing is loaded twice.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeAtomically } from '../../node/atomic-file.ts'
import { Failure, exitCodes } from '../../node/cli/failure.ts'

export interface Kept {
  readonly basePort: number
  /** Peers 1 to that number have a folder. */
  readonly peersCount: number
  /** Peer 1 has begun a ring; from now on it only goes on with it or joins. */
  readonly founded: boolean
  /** Names of data sets that were loaded to their end. */
  readonly loaded: readonly string[]
}

const name = 'testnet.json'
const readableMode = 0o644

/** @throws Failure when the file is there but cannot be read */
export function readKept (dataDir: string): Kept | undefined {
  const file = join(dataDir, name)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Failure(exitCodes.failed, `${file} cannot be read (${(error as NodeJS.ErrnoException).code}); choose another --data-dir`)
  }
  const kept = parsed(text)
  if (kept === undefined) throw new Failure(exitCodes.failed, `${file} is no state of a testnet; choose another --data-dir, or remove it with the peer-* folders beside it`)
  return kept
}

export async function writeKept (dataDir: string, kept: Kept): Promise<void> {
  await writeAtomically(join(dataDir, name), JSON.stringify(kept) + '\n', readableMode)
}

function parsed (text: string): Kept | undefined {
  try {
    const { basePort, peersCount, founded, loaded } = JSON.parse(text) as Partial<Kept>
    const right = Number.isSafeInteger(basePort) && Number.isSafeInteger(peersCount) && typeof founded === 'boolean' && Array.isArray(loaded)
    return right ? { basePort, peersCount, founded, loaded } as Kept : undefined
  } catch {
    return undefined
  }
}
