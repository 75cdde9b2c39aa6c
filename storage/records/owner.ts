// What the handlers of the verbs stand on at an owner.

import type { Host } from '../../overlay/host.ts'
import type { Key } from '../../overlay/interval.ts'
import type { Routing } from '../../overlay/routing/routing.ts'
import type { Store } from '../../overlay/store.ts'
import type { Writer } from '../holdings/writer.ts'
import type { StorageInit } from '../init.ts'
import type { Version } from '../storage-api.ts'
import type { Objects } from './object.ts'

export interface OwnerComponents {
  readonly host: Host
  readonly store: Store
  readonly routing: Routing
  readonly writer: Writer
  readonly objects: Objects
  /** Told of each request that this node answers as owner. */
  readonly onTouch: (key: Key, verb: string) => void
  /** Ms since the mark of this version was written or found here, where that is remembered. */
  readonly markAgeMs: (key: Key, version: Version) => number | undefined
  /** Told of rows given and rows looked at. */
  readonly onRead: (verb: string, rows: number, scanned: number) => void
}

export type OwnerInit = Pick<StorageInit, 'memberId' | 'unicodeVersion' | 'scanPageRows' | 'scannedRowsMax'>
