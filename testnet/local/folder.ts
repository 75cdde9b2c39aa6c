// The data directory of a testnet: a given one, which stays and may hold the peers of an earlier run, or a temporary one,
// which goes at the end; and what a testnet that was killed has left behind.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { Failure, exitCodes } from '../../node/cli/failure.ts'
import { dataSets } from './data-set.ts'
import { peersMax, p2pPortOffset, stopMsMax, testnetDefaults } from './init.ts'
import { readKept, type Kept } from './kept-file.ts'
import { freePorts, mustBeFree } from './ports.ts'
import { isAlive, readRunning, removeRunning, temporaryPrefix } from './running-file.ts'
import { isForeign } from './testnet.ts'
import { waitFor } from './wait.ts'

export interface FolderOptions {
  readonly dataDir?: string | undefined
  /** Undefined where the user gave none. */
  readonly peers?: number | undefined
  readonly basePort?: number | undefined
  readonly load: string
}

export interface Folder {
  readonly dataDir: string
  readonly temporary: boolean
  readonly kept: Kept
  /** Remove what is temporary. */
  remove (): void
}

/** Attempts at a run of ports that are all free (guess). */
const attemptsMax = 20

/** @throws Failure, one line with the remedy */
export async function openFolder (options: FolderOptions): Promise<Folder> {
  const dataDir = options.dataDir === undefined ? undefined : resolve(options.dataDir)
  const old = dataDir === undefined ? undefined : readKept(dataDir)
  const peersCount = Math.max(options.peers ?? testnetDefaults.peers, 0)
  const kept: Kept = old === undefined
    ? { basePort: await basePortFor(options.basePort, peersCount), peersCount, founded: false, loaded: [] }
    : continued(old, options, dataDir as string)
  await clearUp(kept.basePort)
  if (dataDir === undefined) {
    const made = mkdtempSync(temporaryPrefix)
    return { dataDir: made, temporary: true, kept, remove: () => { rmSync(made, { recursive: true, force: true }) } }
  }
  if (old === undefined && isForeign(dataDir)) throw new Failure(exitCodes.failed, `${dataDir} holds other things than a testnet; choose an empty or new --data-dir`)
  make(dataDir)
  return { dataDir, temporary: false, kept, remove: () => {} }
}

/** Peers know one another by their addresses, and each owns a part of what was stored: so ports stay, and no peer stays away. */
function continued (old: Kept, { basePort, peers, load }: FolderOptions, dataDir: string): Kept {
  if (basePort !== undefined && basePort !== old.basePort) throw new Failure(exitCodes.usage, `the peers in ${dataDir} know each other by base port ${old.basePort}; leave out --base-port, or choose another --data-dir`)
  if (peers !== undefined && peers < old.peersCount) throw new Failure(exitCodes.usage, `${dataDir} holds ${old.peersCount} peers, each with a part of the data; leave out --peers, or choose another --data-dir`)
  const other = old.loaded.find(name => name !== load && load !== 'none' && dataSets[name]?.collection === dataSets[load]?.collection)
  if (other !== undefined) throw new Failure(exitCodes.usage, `${dataDir} is loaded with ${other}; use --load ${other} or none, or choose another --data-dir`)
  return { ...old, peersCount: peers ?? old.peersCount }
}

async function basePortFor (given: number | undefined, peersCount: number): Promise<number> {
  if (given !== 0) return given ?? testnetDefaults.basePort
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const [base = 0] = await freePorts(1)
    const ports = Array.from({ length: peersCount }, (_, at) => base + at)
    const isFree = await mustBeFree(ports.flatMap(port => [port, port + p2pPortOffset]), '--base-port').then(() => true, () => false)
    if (isFree) return base
  }
  throw new Failure(exitCodes.failed, `no ${peersMax} ports in a row are free; give --base-port`)
}

/** A testnet that was killed could not remove its files. Its peers end by themselves, since their stdin has. */
async function clearUp (basePort: number): Promise<void> {
  const left = readRunning(basePort)
  if (left === undefined) return
  if (isAlive(left.pid)) throw new Failure(exitCodes.failed, `a testnet runs on port ${basePort} (process ${left.pid}); end it with \`isobar testnet down --base-port ${basePort}\`, or choose another --base-port`)
  await waitFor('end of the peers of an earlier run', async () => left.peers.some(isAlive) ? undefined : true, { deadlineMs: stopMsMax }).catch(() => {})
  if (left.temporary && left.dataDir.startsWith(temporaryPrefix)) rmSync(left.dataDir, { recursive: true, force: true })
  removeRunning(basePort)
}

function make (dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new Failure(exitCodes.failed, `the data directory ${dataDir} cannot be made (${(error as NodeJS.ErrnoException).code}); choose another with --data-dir`)
  }
}
