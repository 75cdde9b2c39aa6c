// Registers on disk: one row a segment, under its low key. A step's changes are written as one batch, before the reply
// that rests on them leaves.

import { concat } from 'uint8arrays/concat'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { codec } from '../codec.ts'
import type { Codec } from '../host.ts'
import { everything, prefixInterval, type Interval, type Key } from '../interval.ts'
import type { Changes, Segment } from '../interval-map.ts'
import { prefixed, type PrefixedStore } from '../prefixed-store.ts'
import type { Operation, Row, Store } from '../store.ts'
import * as wire from '../wire/overlay.ts'
import { newRegisters, type Register, type Registers } from './register.ts'

interface RegisterRow extends Partial<Register> {
  readonly high: Uint8Array | undefined
}

const rowCodec: Codec<RegisterRow> = codec(wire.RegisterRow, ['claim', 'claim.by'])

const pageRows = 256

/** Bytes behind a chain's id in the key of a register that is put aside. */
const separator = 0x2f

/** Where registers lie: `o` and the low key; those of a ring that this store has left, `a`, the chain, `/` and the low key. */
export class RegisterStore {
  /** Chains of rings that this store has left, and whose registers it keeps for a return. */
  readonly asideChains = new Set<string>()
  readonly #present: PrefixedStore
  readonly #aside: PrefixedStore

  constructor (store: Store) {
    this.#present = prefixed(store, fromString('o'))
    this.#aside = prefixed(store, fromString('a'))
  }

  async open (): Promise<Registers> {
    for (const { key } of await rowsIn(this.#aside, everything)) this.asideChains.add(toString(key.subarray(0, key.indexOf(separator))))
    return newRegisters((await rowsIn(this.#present, everything)).map(({ key, value }) => segmentOf(key, value)))
  }

  /** What turns the stored registers into later ones, as operations on the whole store. */
  operations (changed: Changes<Register>): Operation[] {
    return rowsOf(changed).map(operation => this.#present.operation(operation))
  }

  async readAside (chain: string): Promise<Array<Segment<Register>>> {
    const prefix = asidePrefix(chain)
    return (await rowsIn(this.#aside, prefixInterval(prefix))).map(({ key, value }) => segmentOf(key.subarray(prefix.length), value))
  }

  putAside (segments: ReadonlyArray<Segment<Register>>): Operation[] {
    return segments.map(({ interval, value }) => {
      this.asideChains.add(value.claim.chain)
      return this.#aside.operation({ type: 'put', key: concat([asidePrefix(value.claim.chain), interval.low]), value: rowCodec.encode({ high: interval.high, ...value }) })
    })
  }

  async dropAside (chain: string): Promise<Operation[]> {
    const rows = await rowsIn(this.#aside, prefixInterval(asidePrefix(chain)))
    this.asideChains.delete(chain)
    return rows.map(({ key }) => this.#aside.operation({ type: 'delete', key }))
  }
}

/** The rows that turn what is stored into the new registers. */
export function rowsOf (changed: Changes<Register>): Operation[] {
  return [
    ...changed.remove.map(key => ({ type: 'delete' as const, key })),
    ...changed.put.map(({ interval, value }) => ({ type: 'put' as const, key: interval.low, value: rowCodec.encode({ high: interval.high, ...value }) }))
  ]
}

function asidePrefix (chain: string): Key {
  return concat([fromString(chain), Uint8Array.of(separator)])
}

function segmentOf (low: Key, row: Uint8Array): Segment<Register> {
  const { high, claim, promised, accepted, ceiling } = rowCodec.decode(row)
  return { interval: { low, high }, value: { claim: claim!, promised, accepted, ceiling: ceiling! } }
}

async function rowsIn (store: Store, interval: Interval): Promise<Row[]> {
  const snapshot = store.snapshot()
  try {
    const rows: Row[] = []
    for await (const page of snapshot.pages(interval, { pageRows })) rows.push(...page)
    return rows
  } finally {
    snapshot.close()
  }
}
