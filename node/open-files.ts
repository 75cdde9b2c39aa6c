// The files and sockets that this process may have open, and who may have how many of them. A process at its limit accepts
// connections only to drop them, and can open no table of its store; so each part gets a share, and what goes beyond it
// is turned away while the rest has enough.

import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import type { Logger } from '../overlay/host.ts'
import { LimitedLog } from './limited-log.ts'

/** What the process itself takes: 31 were seen, with an empty store and no connection; LevelDB's logs and some room. */
const ownFiles = 64
/** LevelDB's least and default number of tables to hold open (options.h, db_impl.cc of LevelDB). */
const tablesMin = 64
const tablesMax = 1_000
/** Connections that each door has in any case. A guess. */
const connectionsMin = 16
/** Below that a peer that is used by many turns some away. What systems give by default. */
export const openFilesAdvised = 1_024
/** Between two counts, and the part of the limit that is worth a word. Guesses. */
const countMs = 10_000
const usedPart = 0.9

export interface OpenFileShares {
  readonly tables: number
  readonly httpConnections: number
  readonly peerConnections: number
}

/** How many files this process may have open; undefined where the system does not tell or has no bound. */
export function openFilesLimit (pid: number | 'self' = 'self'): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'latin1'))?.[1]
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}

/** Half of what is left for tables, half for connections, most of these for users. */
export function shareOpenFiles (limit: number): OpenFileShares {
  const left = Math.max(0, limit - ownFiles)
  const tables = Math.min(tablesMax, Math.max(tablesMin, Math.floor(left / 2)))
  const connections = Math.max(0, left - tables)
  const httpConnections = Math.max(connectionsMin, Math.floor(connections * 0.6))
  return { tables, httpConnections, peerConnections: Math.max(connectionsMin, connections - httpConnections) }
}

/** One line where the limit is low. */
export function warnOfLimit (limit: number, log: Logger): void {
  if (limit < openFilesAdvised) log.warn({ limit, advised: openFilesAdvised }, 'this process may have few files open: beyond its share of connections it turns some away; raise the limit (ulimit -n)')
}

/** Looks from time to time, and says so when nearly all are in use. @returns what ends it */
export function watchOpenFiles (limit: number, log: Logger): () => void {
  const limited = new LimitedLog(log)
  const timer = setInterval(() => {
    countOpenFiles(limit).then(count => {
      if (count >= limit * usedPart) limited.warn('files', { open: count, limit }, 'nearly all files that this process may have open are; raise the limit (ulimit -n)')
    }, () => {})
  }, countMs)
  timer.unref()
  return () => { clearInterval(timer) }
}

/** No directory can be read when none is left. */
async function countOpenFiles (limit: number): Promise<number> {
  try {
    return (await readdir('/proc/self/fd')).length
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EMFILE') return limit
    throw error
  }
}
