// How many live records this node holds as owner: for status, so cheap and nearly right. Each flushed write changes the
// counts; after a change of holdings they are counted anew in the background, from a snapshot, and what is flushed
// meanwhile is added. Records are those that users know: ordered records and objects, not entries at places.

import type { Host } from '../../overlay/host.ts'
import { holdsKey, type Interval } from '../../overlay/interval.ts'
import type { Store } from '../../overlay/store.ts'
import { storageMetrics } from '../metrics.ts'
import { keyName } from '../records/key-layout.ts'
import { isLive, kindOf } from '../records/record.ts'
import type { FrameRow } from '../records/row-frame.ts'
import type { Writer } from './writer.ts'

export interface Counts {
  /** Live records of ordered collections. */
  readonly ordered: number
  /** Live objects whose id lies here. */
  readonly objects: number
  /** Live entries of objects whose place lies here. */
  readonly places: number
  /** Tombstones and marks. */
  readonly dead: number
}

export interface CensusInit {
  readonly scanPageRows: number
  readonly recountMs: number
}

type Tally = { -readonly [name in keyof Counts]: number }

const none: Counts = { ordered: 0, objects: 0, places: 0, dead: 0 }

export class Census {
  readonly #host: Host
  readonly #store: Store
  readonly #owned: () => readonly Interval[]
  readonly #writer: () => Writer
  readonly #init: CensusInit
  #tally: Tally = { ...none }
  /** Writes flushed since a recount's snapshot. */
  #since: Tally | undefined
  #hasCounted = false
  #isAsked = false
  #isStopped = false

  constructor ({ host, store, owned, writer }: { host: Host, store: Store, owned: () => readonly Interval[], writer: () => Writer }, init: CensusInit) {
    this.#host = host
    this.#store = store
    this.#owned = owned
    this.#writer = writer
    this.#init = init
  }

  get counts (): Counts {
    return this.#tally
  }

  stop (): void {
    this.#isStopped = true
  }

  flushed (before: Uint8Array | undefined, { value }: FrameRow): void {
    for (const tally of this.#since === undefined ? [this.#tally] : [this.#tally, this.#since]) {
      if (before !== undefined) tally[groupOf(before)]--
      if (value !== undefined) tally[groupOf(value)]++
    }
    this.#tell()
  }

  /** Count anew, soon. */
  recountLater (): void {
    if (this.#isAsked) return
    this.#isAsked = true
    this.#host.after(this.#hasCounted ? this.#init.recountMs : 0, () => {
      this.#isAsked = false
      if (this.#isStopped || this.#since !== undefined) return
      this.#recount().catch((error: unknown) => {
        this.#host.log.debug({ error: String(error) }, 'records were not counted')
      })
    })
  }

  async #recount (): Promise<void> {
    const counted: Tally = { ...none }
    this.#hasCounted = true
    this.#since = { ...none }
    // the snapshot may show these writes or not; as known so far, they are told later
    const unsettled = this.#writer().unsettled()
    const snapshot = this.#store.snapshot()
    const owned = [...this.#owned()]
    for (const { key, settled } of unsettled.values()) {
      if (settled !== undefined && owned.some(interval => holdsKey(interval, key))) counted[groupOf(settled)]++
    }
    try {
      for (const interval of owned) {
        for await (const page of snapshot.pages(interval, { pageRows: this.#init.scanPageRows })) {
          if (this.#isStopped) return
          for (const { key, value } of page) if (!unsettled.has(keyName(key))) counted[groupOf(value)]++
        }
      }
      for (const name of Object.keys(none) as Array<keyof Counts>) this.#tally[name] = counted[name] + this.#since[name]
      this.#tell()
    } finally {
      this.#since = undefined
      snapshot.close()
    }
    if (this.#isAsked) this.recountLater()
  }

  #tell (): void {
    this.#host.metrics.gauge(storageMetrics.records, this.#tally.ordered + this.#tally.objects)
  }
}

function groupOf (row: Uint8Array): keyof Counts {
  if (!isLive(row)) return 'dead'
  const kind = kindOf(row)
  return kind === 'ordered' ? 'ordered' : kind === 'id' ? 'objects' : 'places'
}
