// How the outcome of a seed is told: a line for people, a record for programs, and a sum over all seeds.

import type { Outcome } from './run.ts'

/** Without the history, which is long. */
export type OutcomeRecord = Omit<Outcome, 'history'>

export interface Summary {
  readonly seeds: number
  readonly failed: readonly number[]
  readonly operations: number
  readonly faults: Readonly<Record<string, number>>
  readonly restarts: number
  readonly changes: number
  readonly virtualHours: number
}

export function recordOf ({ seed, digest, counts, violation }: Outcome): OutcomeRecord {
  return { seed, digest, counts, violation }
}

export function lineOf ({ seed, digest, counts, violation }: OutcomeRecord): string {
  const { operations, failed, indefinite, scans, incomplete, faults, restarts, changes, virtualMs } = counts
  const parts = [
    `seed ${seed}`, `digest ${digest}`,
    `operations ${operations} (${failed} failed, ${indefinite} in doubt)`, `scans ${scans} (${incomplete} not complete)`,
    `faults ${listed(faults)}`, `restarts ${restarts}`, `changes ${changes}`, `virtual time ${Math.round(virtualMs / 1000)} s`
  ]
  return `${parts.join('  ')}\n${violation === undefined ? '' : `seed ${seed} FAILED, ${violation.kind}: ${violation.message}\n`}`
}

export function summaryOf (outcomes: readonly OutcomeRecord[]): Summary {
  const sum = (value: (outcome: OutcomeRecord) => number): number => outcomes.reduce((total, outcome) => total + value(outcome), 0)
  const faults: Record<string, number> = {}
  for (const { counts } of outcomes) for (const [kind, count] of Object.entries(counts.faults)) faults[kind] = (faults[kind] ?? 0) + count
  return {
    seeds: outcomes.length,
    failed: outcomes.filter(({ violation }) => violation !== undefined).map(({ seed }) => seed),
    operations: sum(({ counts }) => counts.operations),
    faults,
    restarts: sum(({ counts }) => counts.restarts),
    changes: sum(({ counts }) => counts.changes),
    virtualHours: Math.round(sum(({ counts }) => counts.virtualMs) / 36_000) / 100
  }
}

export function summaryLine ({ seeds, failed, operations, faults, restarts, changes, virtualHours }: Summary): string {
  const verdict = failed.length === 0 ? 'none failed' : `${failed.length} FAILED: ${failed.join(' ')}`
  return `${seeds} ${seeds === 1 ? 'seed' : 'seeds'}, ${verdict}; operations ${operations}, faults ${listed(faults)}, restarts ${restarts}, changes ${changes}, virtual time ${virtualHours} h\n`
}

function listed (faults: Readonly<Record<string, number>>): string {
  const entries = Object.entries(faults)
  return entries.length === 0 ? 'none' : entries.map(([kind, count]) => `${kind} ${count}`).join(', ')
}
