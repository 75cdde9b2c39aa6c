// Are the answers of scans (ranges and finds) right, as far as docs/consistency.md, "Scans" promises? A scan is no snapshot, so
// only what held for all of its time can be asked for. An answer that says complete: false is not looked at.
//
// It must hold each record that was there throughout, in a state that it asks for whichever of its possible states that was;
// it may hold no record in a state that surely was over before it began or came after it ended; it holds each key once and
// is in order. An object that moved, also some time before, may stand anywhere in the order of a find, since a find fetches by
// their ids all objects that left a mark not long ago (docs/places.md, "A find while objects move").

import { InvariantError } from './checker.ts'
import type { Operation, Row, Scan } from './history.ts'
import { KeyHistory } from './key-history.ts'

/** @throws InvariantError */
export function assertScans (scans: readonly Scan[], operations: readonly Operation[], { excused = new Set<string>() }: { excused?: ReadonlySet<string> } = {}): void {
  const records = new Map<string, KeyHistory>()
  for (const operation of operations) if (!excused.has(operation.key)) historyOf(records, operation.key).add(operation)
  const answered = scans.filter(({ outcome }) => outcome === 'ok')
  for (const scan of answered) for (const row of scan.rows) if (!excused.has(row.key)) historyOf(records, row.key).seen(row.value, scan.returned)
  for (const scan of answered) {
    if (!scan.complete) continue
    const reason = faultOf(scan, records, excused)
    if (reason !== undefined) throw new InvariantError(`${scan.kind} by ${scan.label}, moments ${scan.invoked} to ${scan.returned}: ${reason}`)
  }
}

function historyOf (records: Map<string, KeyHistory>, key: string): KeyHistory {
  const known = records.get(key) ?? new KeyHistory()
  records.set(key, known)
  return known
}

function faultOf (scan: Scan, records: ReadonlyMap<string, KeyHistory>, excused: ReadonlySet<string>): string | undefined {
  const found = new Set<string>()
  for (const row of scan.rows) {
    if (found.has(row.key)) return `${row.key} is there twice`
    found.add(row.key)
    if (!scan.asksFor(row)) return `${rowName(row)} is not what it asks for`
    if (excused.has(row.key)) continue
    const reason = records.get(row.key)!.whyNot(row.value, scan)
    if (reason !== undefined) return `${rowName(row)}: ${reason}`
  }
  const still = scan.kind === 'range' ? scan.rows : scan.rows.filter(({ key }) => records.get(key)?.isSettled(scan) === true)
  return misplaced(scan, still) ?? missed(scan, still.at(-1), records, found)
}

/** @param still - its rows, without those of objects that ever moved */
function misplaced (scan: Scan, still: readonly Row[]): string | undefined {
  const index = still.findIndex((row, at) => at > 0 && scan.compare(still[at - 1]!, row) >= 0)
  return index < 0 ? undefined : `${rowName(still[index]!)} stands behind ${rowName(still[index - 1]!)}`
}

/** @param last - how far it surely came, where a limit cut it */
function missed (scan: Scan, last: Row | undefined, records: ReadonlyMap<string, KeyHistory>, found: ReadonlySet<string>): string | undefined {
  if (scan.isCut && last === undefined) return undefined
  for (const [key, history] of records) {
    if (found.has(key) || !history.isThereThroughout(scan)) continue
    const states = history.possible(scan).map(value => ({ key, value }))
    const isAskedFor = states.every(row => scan.asksFor(row) && (!scan.isCut || scan.compare(row, last!) < 0))
    if (isAskedFor) return `${key} is missing, which was there throughout with ${states.map(({ value }) => value).join(', or ')}`
  }
  return undefined
}

function rowName ({ key, value }: Row): string {
  return `${key} with ${value}`
}
