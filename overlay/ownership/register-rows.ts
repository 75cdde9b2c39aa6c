// Registers on disk: one row a segment, under its low key. A step's changes are written as one batch, before the reply
// that rests on them leaves.

import { codec } from '../codec.ts'
import type { Codec } from '../host.ts'
import { everything } from '../interval.ts'
import type { Changes } from '../interval-map.ts'
import type { Operation, Store } from '../store.ts'
import * as wire from '../wire/overlay.ts'
import { newRegisters, type Register, type Registers } from './register.ts'

interface RegisterRow extends Partial<Register> {
  readonly high: Uint8Array | undefined
}

const rowCodec: Codec<RegisterRow> = codec(wire.RegisterRow, ['claim', 'claim.by'])

const pageRows = 256

export async function readRegisters (store: Store): Promise<Registers> {
  const snapshot = store.snapshot()
  try {
    const registers = newRegisters()
    for await (const page of snapshot.pages(everything, { pageRows })) {
      for (const { key, value } of page) {
        const { high, claim, promised, accepted, ceiling } = rowCodec.decode(value)
        registers.set({ low: key, high }, { claim: claim!, promised, accepted, ceiling: ceiling! })
      }
    }
    return registers
  } finally {
    snapshot.close()
  }
}

/** The rows that turn what is stored into the new registers. */
export function rowsOf (changed: Changes<Register>): Operation[] {
  return [
    ...changed.remove.map(key => ({ type: 'delete' as const, key })),
    ...changed.put.map(({ interval, value }) => ({ type: 'put' as const, key: interval.low, value: rowCodec.encode({ high: interval.high, ...value }) }))
  ]
}
