// Rows of figures as plain text: a table for rows of the same fields, fields below each other where they are too many
// for the width of a terminal.

import { table } from '../../node/cli/table.ts'

type Row = Readonly<Record<string, unknown>>

/** Beyond so many fields a table is turned (a guess: 100 to 130 columns). */
const columnsMax = 12
const significantDigits = 4

export function resultTable (rows: readonly Row[]): string {
  return groupsOf(rows).map(group => groupTable(group)).join('\n')
}

/** Runs of rows that have the same fields. */
function groupsOf (rows: readonly Row[]): Row[][] {
  const groups: Row[][] = []
  for (const row of rows) {
    const last = groups.at(-1)
    if (last !== undefined && Object.keys(last[0]!).join() === Object.keys(row).join()) last.push(row)
    else groups.push([row])
  }
  return groups
}

function groupTable (rows: readonly Row[]): string {
  const fields = Object.keys(rows[0] ?? {})
  if (fields.length <= columnsMax) return table(fields.map(title => ({ title, align: 'right' })), rows.map(row => fields.map(field => cell(row[field]))))
  return table([{ title: '' }, ...rows.map(() => ({ title: '', align: 'right' as const }))], fields.map(field => [field, ...rows.map(row => cell(row[field]))]))
}

function cell (value: unknown): string {
  if (value === undefined || value === null) return '-'
  if (typeof value !== 'number') return typeof value === 'string' ? value : JSON.stringify(value)
  if (Number.isInteger(value)) return String(value)
  return Math.abs(value) >= 10 ** (significantDigits - 1) ? value.toFixed(0) : String(Number(value.toPrecision(significantDigits)))
}
