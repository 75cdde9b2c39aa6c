// Histories written by hand, for the tests of checkers: moments are small numbers, and each operation says only what it is about.

import type { Operation, Row, Scan } from '../../../testnet/simulator/checkers/history.ts'

export const key = 'kv/k'

/** [invoked, returned]; without a return it is indefinite. */
type During = readonly [number, number] | readonly [number]

interface More { readonly had?: boolean, readonly key?: string, readonly failed?: boolean }

function operation (kind: Operation['kind'], value: string | undefined, [invoked, returned = Infinity]: During, more: More): Operation {
  const outcome = more.failed === true ? 'failed' : returned === Infinity ? 'indefinite' : 'ok'
  return { key: more.key ?? key, kind, value, had: more.had, label: 'test', invoked, returned, outcome }
}

export function put (value: string, during: During, more: More = {}): Operation {
  return operation('put', value, during, more)
}

/** Without a value it found nothing. */
export function get (value: string | undefined, during: During, more: More = {}): Operation {
  return operation('get', value, during, more)
}

export function del (during: During, more: More = {}): Operation {
  return operation('delete', undefined, during, more)
}

/** A range over all keys, ascending, that was answered in full. Rows are `key=value`. */
export function range (rows: readonly string[], [invoked, returned]: readonly [number, number], more: Partial<Scan> = {}): Scan {
  const compare = (a: Row, b: Row): number => a.key < b.key ? -1 : a.key > b.key ? 1 : 0
  return {
    kind: 'range',
    label: 'test',
    invoked,
    returned,
    outcome: 'ok',
    complete: true,
    isCut: false,
    asksFor: () => true,
    compare,
    rows: rows.map(row => ({ key: row.slice(0, row.indexOf('=')), value: row.slice(row.indexOf('=') + 1) })),
    ...more
  }
}
