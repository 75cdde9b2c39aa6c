// Is what clients were told right? Each key by itself in the strictest sense, and scans as far as they promise.

import { InvariantError } from '../checkers/checker.ts'
import type { History } from '../checkers/history.ts'
import { assertLinearizable } from '../checkers/linearizable.ts'
import { rangeReads } from '../checkers/range-reads.ts'
import { assertScans } from '../checkers/scans.ts'

export interface Violation {
  /** Of an invariant while it ran, of the history of single keys, of a scan; something that did not come back; a slip of the code; anything else that was thrown. */
  readonly kind: 'invariant' | 'history' | 'scan' | 'liveness' | 'slip' | 'error'
  readonly message: string
}

/** Do two runs fail in the same way: by the same words, but for names, keys, values and numbers? */
export function isAlike (a: Violation | undefined, b: Violation | undefined): boolean {
  return a?.kind === b?.kind && shapeOf(a) === shapeOf(b)
}

function shapeOf (violation: Violation | undefined): string | undefined {
  return violation?.message.split('\n')[0]!.replace(/"[^"]*"|\S*[\d/]\S*/g, '#').replace(/(?:# (?:or )?)+/g, '# ')
}

/** The first thing that is wrong; undefined where all is right. */
export function judge ({ operations, scans }: Pick<History, 'operations' | 'scans'>): Violation | undefined {
  return violationOf('history', () => { assertLinearizable([...operations, ...rangeReads(scans, operations)]) }) ??
    violationOf('scan', () => { assertScans(scans, operations) })
}

function violationOf (kind: Violation['kind'], check: () => void): Violation | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof InvariantError) return { kind, message: error.message }
    throw error
  }
}
