// How `range` and `find` bring an answer out. JSON and GeoJSON come as one page, NDJSON as it arrives, a table when all
// of a page is there.

import type { Client } from './client.ts'
import { linesOfResponse } from './client.ts'
import { hasColor, write, type Io } from './io.ts'
import { codeFor, summary, type End, type Form } from './output.ts'
import { table } from './table.ts'

export interface RowFields {
  readonly key: string
  readonly value?: unknown
  readonly point?: readonly [number, number]
  readonly text?: string
}

interface PageFields extends End {
  readonly records: readonly RowFields[]
  readonly returned: number
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>

const acceptOf: Readonly<Record<Form, string>> = {
  table: 'application/json',
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  geojson: 'application/geo+json'
}

/** @returns the exit code */
export async function readRows (client: Client, path: string, query: Query, form: Form, io: Io): Promise<number> {
  const response = await client.call(path, { query, headers: { accept: acceptOf[form] } })
  if (form === 'ndjson') return await passLines(response, io)
  const text = await response.text()
  const page = JSON.parse(text) as PageFields
  if (form === 'table') writeTable(page, io)
  else await write(io.stdout, text + '\n')
  return codeFor(page, io)
}

/** The lines as they come; the last one says how the answer ended. */
async function passLines (response: Response, io: Io): Promise<number> {
  let end: End | undefined
  for await (const line of linesOfResponse(response)) {
    await write(io.stdout, line + '\n')
    end = endOf(line) ?? end
  }
  return codeFor(end ?? { complete: false }, io)
}

/** What a last line of NDJSON says, or undefined for a row. */
export function endOf (line: string): End | undefined {
  return line.startsWith('{"end":') ? (JSON.parse(line) as { end: End }).end : undefined
}

function writeTable (page: PageFields, io: Io): void {
  const located = page.records.some(record => record.point !== undefined)
  const valued = page.records.some(record => record.value !== undefined)
  const columns = [{ title: 'KEY' }, ...(located ? [{ title: 'LON', align: 'right' as const }, { title: 'LAT', align: 'right' as const }, { title: 'TEXT' }] : []), ...(valued ? [{ title: 'VALUE' }] : [])]
  const rows = page.records.map(({ key, value, point, text }) => [
    key,
    ...(located ? [String(point?.[0] ?? ''), String(point?.[1] ?? ''), text ?? ''] : []),
    ...(valued ? [typeof value === 'string' ? value : JSON.stringify(value) ?? ''] : [])
  ])
  if (rows.length > 0) io.stdout.write(table(columns, rows))
  const line = summary(page.records.length, page)
  io.stdout.write(hasColor(io) ? `\x1b[2m${line}\x1b[0m\n` : `${line}\n`)
  if (page.cursor !== undefined) io.stdout.write(`more: --cursor ${page.cursor}\n`)
}
