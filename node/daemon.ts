// A node on a real machine: data directory, identity, LevelDB store, libp2p host and HTTP API around node/node.ts, made
// in that order and undone in the reverse one. Each step that fails undoes those before it, so no lock or port is left.

import './promise-with-resolvers.ts'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { Registry, collectDefaultMetrics } from 'prom-client'
import type { Logger } from '../overlay/host.ts'
import { overlayDefaults } from '../overlay/init.ts'
import type { Store } from '../overlay/store.ts'
import { MemoryStore } from '../storage/memory-store.ts'
import { keyBytesMax, storageDefaults, textBytesMax, valueBytesMax } from '../storage/init.ts'
import { parseHostPort, toMultiaddr } from './config/listen.ts'
import type { Settings } from './config/settings.ts'
import { readToken } from './config/token.ts'
import { cannotWrite, openDataDir, type DataDir } from './data-dir.ts'
import { DataDirError } from './errors.ts'
import { surviveOutsideFaults } from './faults.ts'
import { createHttpServer } from './http/server.ts'
import { loadIdentity } from './identity.ts'
import { openLevelStore } from './level-store.ts'
import { createLibp2pHost } from './libp2p-host.ts'
import { createLog, type Log } from './log.ts'
import { createMetrics } from './metrics.ts'
import { Node, recordsPrefix } from './node.ts'
import { openFilesLimit, shareOpenFiles, warnOfLimit, watchOpenFiles, type OpenFileShares } from './open-files.ts'
import { p2pListenFailure } from './p2p-listen-failure.ts'
import { Undo } from './undo.ts'
import { version } from './version.ts'

/** A daemon that runs. */
export interface RunningDaemon {
  /** Base URL of its HTTP API. */
  readonly rpc: string
  /** Settles when it stopped by itself, after a leave or by a fault. */
  readonly stopped: Promise<void>
  /** Keeps claims and data; ends within 10 s. A second call waits for the first. */
  stop (): Promise<void>
  /** Take over what can change while it runs: the log level. */
  reload (settings: Settings): void
}

/** @throws ConfigError, DataDirError, IdentityError, StoreLockedError, StoreCorruptError, ListenError: one line each, with the remedy */
export async function startDaemon (settings: Settings): Promise<RunningDaemon> {
  const log = createLog({ level: settings.logLevel, format: settings.logFormat })
  const undo = new Undo()
  try {
    return await start(settings, log, undo)
  } catch (error) {
    await undo.run(log)
    throw error
  }
}

async function start (settings: Settings, log: Log, undo: Undo): Promise<RunningDaemon> {
  undo.add(surviveOutsideFaults(log))
  const token = settings.rpcTokenFile === undefined ? undefined : readToken(settings.rpcTokenFile)
  const dataDir = await openDataDir({ path: settings.dataDir, inMemory: settings.inMemory })
  undo.add(async () => { await dataDir.close() })
  const shares = shareFiles(log.area('files'), undo)
  const diskStore = settings.inMemory ? undefined : await openLevelStore(dataDir.storeDir, { log: log.area('store'), openFilesMax: shares?.tables, isRecord: key => key[0] === recordsPrefix[0] })
  const store: Store = diskStore ?? new MemoryStore()
  undo.add(async () => { await store.close() })
  const { privateKey, peerId, created } = await loadIdentity({ file: dataDir.identityFile, dataPresent: dataDir.dataPresent, log })
  if (!created && !dataDir.dataPresent) log.info({ area: 'store', directory: dataDir.storeDir }, 'there was no store beside the identity: this peer begins with an empty one, as a new member')

  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const metrics = createMetrics(registry)
  const host = await createLibp2pHost({ privateKey, listen: settings.p2pListen, bootstrap: settings.join, connectionsMax: shares?.peerConnections, log: log.area('net'), metrics })
  undo.add(async () => { await host.stop() })
  await host.start().catch((error: unknown) => { throw p2pListenFailure(error, settings.p2pListen) })

  const node = new Node({ host, store, introduce: address => { host.introduce(toMultiaddr(address, 'address')) } }, {
    overlay: { ...overlayDefaults, copies: settings.copies },
    storage: storageDefaults,
    unicodeVersion: process.versions.unicode ?? 'none',
    version,
    founding: settings.new || settings.join.length === 0 ? 'now' : 'after meeting',
    limits: { keyBytesMax, valueBytesMax, textBytesMax }
  })
  undo.add(() => { node.stop() })
  await node.start()

  const ended = Promise.withResolvers<void>()
  let stopping: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    stopping ??= undo.run(log).then(() => { ended.resolve() })
    await stopping
  }
  const http = await createHttpServer({
    node,
    log: log.area('http'),
    metrics,
    registry,
    token,
    connectionsMax: shares?.httpConnections,
    limits: { bodyBytesMax: settings.bodyBytesMax, requestDeadlineMs: settings.requestDeadlineMs, requestsMax: settings.requestsMax, requestsQueuedMax: settings.requestsQueuedMax },
    disk: diskStore === undefined ? undefined : async () => await diskStore.health(),
    onLeft: () => { void stop() }
  })
  undo.add(async () => { await http.close() })
  const rpc = await http.listen(parseHostPort(settings.rpcListen, 'rpc-listen'))
  node.rpc = rpc
  await announce({ dataDir, rpc, peerId, settings, undo })
  log.info({ area: 'ready', rpc, peerId, p2p: host.self.addresses.map(address => `${address}/p2p/${peerId}`).join(' '), dataDir: dataDir.path }, 'isobar listens')
  node.overlay.onState = state => { log.info({ area: 'ring', state }, `this peer is ${state}`) }
  return { rpc, stopped: ended.promise, stop, reload: ({ logLevel }) => { log.level = logLevel } }
}

/** What the system allows this process, shared out. */
function shareFiles (log: Logger, undo: Undo): OpenFileShares | undefined {
  const limit = openFilesLimit()
  if (limit === undefined) return undefined
  warnOfLimit(limit, log)
  undo.add(watchOpenFiles(limit, log))
  return shareOpenFiles(limit)
}

/** Files by which others find this daemon. */
async function announce ({ dataDir, rpc, peerId, settings, undo }: { dataDir: DataDir, rpc: string, peerId: string, settings: Settings, undo: Undo }): Promise<void> {
  await dataDir.writeRpc({ rpc, peerId })
  const { pidFile } = settings
  if (pidFile === undefined) return
  await writeFile(pidFile, `${process.pid}\n`).catch((error: unknown) => { throw new DataDirError(cannotWrite(pidFile, error)) })
  undo.add(async () => {
    const written = await readFile(pidFile, 'utf8').catch(() => '')
    if (written.trim() === String(process.pid)) await rm(pidFile, { force: true })
  })
}
