// How another terminal finds a testnet that runs: a file in the temporary folder, named by the base port, with the
// address and token of its control (control.ts). It goes when the testnet ends; after a kill -9 the next run clears up.

import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeAtomically } from '../../node/atomic-file.ts'

export interface Running {
  /** Process id of the testnet itself, and of its peers. */
  readonly pid: number
  readonly peers: readonly number[]
  readonly control: string
  readonly token: string
  readonly dataDir: string
  /** The data directory goes when the testnet ends. */
  readonly temporary: boolean
}

const secretMode = 0o600

/** Begin of the names of all temporary files and folders of testnets. */
export const temporaryPrefix = join(tmpdir(), 'isobar-testnet-')

export function readRunning (basePort: number): Running | undefined {
  try {
    const { pid, peers, control, token, dataDir, temporary } = JSON.parse(readFileSync(fileOf(basePort), 'utf8')) as Partial<Running>
    const right = typeof pid === 'number' && Array.isArray(peers) && typeof control === 'string' && typeof token === 'string' && typeof dataDir === 'string' && typeof temporary === 'boolean'
    return right ? { pid, peers, control, token, dataDir, temporary } as Running : undefined
  } catch {
    return undefined
  }
}

export async function writeRunning (basePort: number, running: Running): Promise<void> {
  await writeAtomically(fileOf(basePort), JSON.stringify(running) + '\n', secretMode)
}

export function removeRunning (basePort: number): void {
  rmSync(fileOf(basePort), { force: true })
}

export function isAlive (pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function fileOf (basePort: number): string {
  return `${temporaryPrefix}${basePort}.json`
}
