// The rows of a range as reads of single keys, for the checker of linearizability: an owner answers for its part from one
// snapshot, taken while it owned that part, so each row is what a get would have given at some moment of the range; and of a
// key that is not there a get would have found nothing. Not so for finds: an object's entry on the map follows its id record.

import type { Operation, Scan } from './history.ts'

/** @param operations - name the keys that there are */
export function rangeReads (scans: readonly Scan[], operations: readonly Operation[]): Operation[] {
  const keys = [...new Set(operations.map(({ key }) => key))]
  return scans.filter(({ kind, outcome, complete }) => kind === 'range' && outcome === 'ok' && complete).flatMap(scan => {
    const values = new Map(scan.rows.map(({ key, value }) => [key, value]))
    const last = scan.isCut ? scan.rows.at(-1) : undefined
    const isAsked = (key: string): boolean => scan.asksFor({ key, value: '' }) && (!scan.isCut || (last !== undefined && scan.compare({ key, value: '' }, last) <= 0))
    return keys.filter(isAsked).map((key): Operation => ({
      key, kind: 'get', value: values.get(key), had: undefined, label: `range, ${scan.label}`, invoked: scan.invoked, returned: scan.returned, outcome: 'ok'
    }))
  })
}
