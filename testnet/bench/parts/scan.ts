// The ceiling of reading rows on this machine: a LevelDB with as many rows of the same size, scanned by classic-level with
// nothing between, and scanned with each row made JSON text, which every answer must do.

import { Buffer } from 'node:buffer'
import { openDatabase, type LevelDatabase } from '../../../node/level-database.ts'
import type { Tasks } from '../part.ts'
import type { Done, Span } from './load.ts'

interface FillInput {
  readonly directory: string
  readonly keys: readonly string[]
  readonly value: string
}

/** Rows asked for at once, as many as storage reads (guess: see storage/init.ts). */
const pageRows = 1_000

let database: LevelDatabase | undefined

async function fill ({ directory, keys, value }: FillInput): Promise<void> {
  database = await openDatabase(directory, {})
  await database.batch(keys.map(key => ({ type: 'put' as const, key: Buffer.from(key), value: Buffer.from(value) })), { sync: true })
}

async function scan ({ span }: { span: Span }): Promise<Done> {
  return await repeat(span, () => 0)
}

/** With the fields of a record. */
async function scanJson ({ span }: { span: Span }): Promise<Done> {
  return await repeat(span, (key, value) => JSON.stringify({ key: text(key), value: text(value), contentType: 'text/plain; charset=utf-8', version: '1767225600000-0-00000000000000000000000000000001' }).length)
}

async function repeat (span: Span, each: (key: Uint8Array, value: Uint8Array) => number): Promise<Done> {
  const startMs = performance.now()
  let count = 0
  let characters = 0
  do {
    const rows = database!.iterator()
    for (let page = await rows.nextv(pageRows); page.length > 0; page = await rows.nextv(pageRows)) {
      for (const [key, value] of page) characters += each(key, value)
      count += page.length
    }
    await rows.close()
  } while (count < span.count || performance.now() - startMs < span.ms)
  if (Number.isNaN(characters)) throw new Error('text without a length')
  return { count, ms: performance.now() - startMs }
}

function text (bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
}

export const tasks = { fill, scan, scanJson } satisfies Tasks
