// The folder that makes a peer the same one after a restart:
//
//   identity.key   who it is (0600)            config.toml   what it was told
//   store/         LevelDB, and its lock       rpc.json      how its running daemon is called; only while it runs
//
// An in-memory node has one in the temporary folder, which goes when it stops. Two daemons are kept apart by the
// store's own lock, which the system drops when a process dies; rpc.json is no lock.

import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeAtomically } from './atomic-file.ts'
import { DataDirError } from './errors.ts'

/** How to call the daemon that has this folder open. After kubo's `api` file. */
export interface RpcFile {
  /** Base URL, e.g. http://127.0.0.1:7700 */
  readonly rpc: string
  readonly peerId: string
  readonly pid: number
}

export interface DataDir {
  readonly path: string
  readonly identityFile: string
  readonly configFile: string
  readonly storeDir: string
  readonly rpcFile: string
  /** Is there a store from an earlier run? */
  readonly dataPresent: boolean
  writeRpc (rpc: Omit<RpcFile, 'pid'>): Promise<void>
  /** Remove rpc.json if it is this process's, and the folder if it is temporary. */
  close (): Promise<void>
}

/** @throws DataDirError, one line with the remedy */
export async function openDataDir (init: { path: string, inMemory: boolean }): Promise<DataDir> {
  const path = await make(init)
  const at = (name: string): string => join(path, name)
  const dataPresent = await readdir(at('store')).then(files => files.length > 0, () => false)
  return {
    path,
    identityFile: at('identity.key'),
    configFile: at('config.toml'),
    storeDir: at('store'),
    rpcFile: at('rpc.json'),
    dataPresent,
    writeRpc: async rpc => {
      await writeAtomically(at('rpc.json'), JSON.stringify({ ...rpc, pid: process.pid }) + '\n', 0o600).catch((error: unknown) => { throw new DataDirError(cannotWrite(at('rpc.json'), error)) })
    },
    close: async () => {
      if (init.inMemory) await rm(path, { recursive: true, force: true })
      else if (readRpc(path)?.pid === process.pid) await rm(at('rpc.json'), { force: true })
    }
  }
}

/** What rpc.json of a data directory says, or undefined when there is none that can be read. */
export function readRpc (dataDir: string): RpcFile | undefined {
  try {
    const given = JSON.parse(readFileSync(join(dataDir, 'rpc.json'), 'utf8')) as Partial<RpcFile>
    return typeof given.rpc === 'string' && typeof given.peerId === 'string' && typeof given.pid === 'number' ? given as RpcFile : undefined
  } catch {
    return undefined
  }
}

/** One line with the remedy. */
export function cannotWrite (file: string, error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code ?? String(error)
  const remedy = code === 'ENOSPC' || code === 'EDQUOT' ? 'free some space on its disk' : 'check the folder, its owner and its permissions'
  return `${file} cannot be written (${code}); ${remedy}`
}

async function make ({ path, inMemory }: { path: string, inMemory: boolean }): Promise<string> {
  try {
    if (inMemory) return await mkdtemp(join(tmpdir(), 'isobar-'))
    await mkdir(path, { recursive: true, mode: 0o700 })
    return path
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error)
    throw new DataDirError(`the data directory ${path} cannot be made (${code}); choose another with --data-dir`)
  }
}
