// `isobar import FILE`: many objects from NDJSON, GeoJSON or CSV, in batches, one after the other so that later lines of
// a key win. The file is read as it is sent. Objects that were refused are counted, the first few named.

import type { Command } from 'commander'
import { SingleBar } from 'cli-progress'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { didYouMean } from '../config/nearest.ts'
import type { Client } from './client.ts'
import { linesOfResponse, unknownCollection, unknownCollectionCode } from './client.ts'
import { clientFor, examples, exits, withRpc, type Context } from './context.ts'
import { Failure, exitCodes, usage } from './failure.ts'
import { fileFormats, formatToRead, type FileFormat } from './file-format.ts'
import { importLines, type ImportLine, type Mapping } from './import-lines.ts'
import type { Io } from './io.ts'
import type { RpcOptions } from './rpc-address.ts'
import { thousands } from './table.ts'

/** Objects and characters of one request. Guesses: a request of a few hundred ms, and far below the bound of results. */
const batchLines = 1_000
const batchCharacters = 1 << 20
/** Refusals that are shown. */
const problemsShownMax = 5

interface Options extends RpcOptions {
  collection?: string
  format?: string
  key?: string
  lon?: string
  lat?: string
  text?: string
}

export function importCommand (program: Command, context: Context): void {
  const { io } = context
  const command = withRpc(program.command('import').description('store the objects of a file'))
    .argument('<file>', 'a .ndjson, .geojson or .csv file; - for stdin')
    .option('--format <format>', `${fileFormats.join(', ')}; else by the name of the file`)
    .option('--collection <name>', 'default places for objects with a place, else kv')
    .option('--key <field>', 'field or column that is the key; default key or id')
    .option('--lon <column>', 'column of the longitude')
    .option('--lat <column>', 'column of the latitude')
    .option('--text <fields>', 'fields whose text is searched by words, with commas between')
  command.action(exits(context, async (file: string, options: Options) => {
    const format = formatOf(file, options.format)
    const mapping: Mapping = { key: options.key, lon: options.lon, lat: options.lat, text: options.text?.split(',') }
    const client = clientFor(options, context)
    // What is not defined would be refused for each object.
    if (options.collection !== undefined) await client.json(`/v1/collections/${encodeURIComponent(options.collection)}`)
    const source = await openSource(file, io)
    const progress = createProgress(io, source.bytes)
    const tally = { done: 0, failed: 0, problems: [] as string[] }
    const startedAt = performance.now()
    try {
      const lines = importLines(textOf(source.stream, bytes => { progress?.increment(bytes) }), format, mapping)
      await sendAll(client, options.collection, lines, tally)
    } catch (error) {
      throw error instanceof SyntaxError ? new Failure(exitCodes.failed, `${file}: ${error.message} (${thousands(tally.done)} objects were stored before)`) : error
    } finally {
      progress?.stop()
    }
    if (tally.done + tally.failed === 0) throw new Failure(exitCodes.failed, `${file}: there is nothing to import: it holds no ${format === 'csv' ? 'row below a header' : 'object'}`)
    for (const problem of tally.problems) io.stderr.write(`isobar: ${problem}\n`)
    io.stderr.write(`imported ${thousands(tally.done)} objects, ${thousands(tally.failed)} failed, ${((performance.now() - startedAt) / 1_000).toFixed(1)} s\n`)
    return tally.failed === 0 ? exitCodes.done : exitCodes.failed
  }))
  examples(command, 'isobar import quakes.geojson --text place', 'isobar import cities.csv --key geonameid --text name,country', 'isobar export | isobar import - --format ndjson --rpc :7703')
}

type SendLine = Extract<ImportLine, { json: string }>
interface Result { line?: number, status?: number, code?: string, key?: string, detail?: string }
interface Tally { done: number, failed: number, problems: string[] }

async function sendAll (client: Client, collection: string | undefined, lines: AsyncIterable<ImportLine>, tally: Tally): Promise<void> {
  let batch: SendLine[] = []
  let characters = 0
  for await (const line of lines) {
    if ('problem' in line) {
      refused(tally, `${line.at}: ${line.problem}`)
      continue
    }
    batch.push(line)
    characters += line.json.length
    if (batch.length < batchLines && characters < batchCharacters) continue
    await send(client, collection, batch, tally)
    batch = []
    characters = 0
  }
  if (batch.length > 0) await send(client, collection, batch, tally)
}

async function send (client: Client, collection: string | undefined, lines: readonly SendLine[], tally: Tally): Promise<void> {
  const response = await client.call('/v1/objects:batch', {
    method: 'POST',
    query: { collection },
    headers: { 'content-type': 'application/x-ndjson' },
    body: lines.map(({ json }) => `${json}\n`).join('')
  })
  let ended = false
  for await (const text of linesOfResponse(response)) {
    const result = JSON.parse(text) as Result & { end?: object }
    if (result.end !== undefined) ended = true
    else if ((result.status ?? 500) < 400) tally.done++
    else refuse(client, lines[(result.line ?? 0) - 1], result, tally)
  }
  if (!ended) throw new Failure(exitCodes.failed, `the daemon broke off a batch after ${thousands(tally.done)} objects; import again, what is there stays the same`)
}

/** @throws Failure for what would be refused again and again: a collection that is not defined */
function refuse (client: Client, line: SendLine | undefined, { code, key, status, detail = `status ${status}` }: Result, tally: Tally): void {
  if (code === unknownCollectionCode && line !== undefined) {
    const { exitCode, message } = unknownCollection(String((JSON.parse(line.json) as { collection?: unknown }).collection), client.target)
    throw new Failure(exitCode, `${line.at}, after ${thousands(tally.done)} objects were stored: ${message}`)
  }
  refused(tally, [line?.at, key === undefined ? undefined : JSON.stringify(key), detail].filter(part => part !== undefined).join(': '))
}

function refused (tally: Tally, problem: string): void {
  tally.failed++
  if (tally.problems.length < problemsShownMax) tally.problems.push(problem)
}

/** @throws Failure */
function formatOf (file: string, given: string | undefined): FileFormat {
  const format = given === undefined ? formatToRead(file) : fileFormats.find(known => known === given)
  if (format !== undefined) return format
  throw usage(given === undefined
    ? `${file}: its name does not tell the format; give --format ${fileFormats.join('|')}`
    : `--format: ${JSON.stringify(given)} is unknown${didYouMean(given, fileFormats)}; expected ${fileFormats.join(', ')}`)
}

async function openSource (file: string, io: Io): Promise<{ stream: Readable, bytes: number | undefined }> {
  if (file === '-') return { stream: io.stdin, bytes: undefined }
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => { throw new Failure(exitCodes.failed, `${file} cannot be read (${error.code ?? error.message})`) })
  return { stream: createReadStream(file), bytes: found.size }
}

async function * textOf (stream: Readable, onBytes: (bytes: number) => void): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (bytes?: Uint8Array): string => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined })
    } catch {
      throw new SyntaxError('it is no UTF-8 text')
    }
  }
  for await (const chunk of stream as AsyncIterable<Buffer | string>) {
    const bytes = Buffer.from(chunk)
    onBytes(bytes.length)
    yield decode(bytes)
  }
  yield decode()
}

/** A bar over the bytes of the file, for people only. */
function createProgress (io: Io, bytes: number | undefined): SingleBar | undefined {
  if (io.stderr.isTTY !== true || bytes === undefined) return undefined
  const bar = new SingleBar({ format: 'importing {bar} {percentage}%  {duration_formatted}', stream: io.stderr as NodeJS.WritableStream, clearOnComplete: true, hideCursor: true })
  bar.start(bytes, 0)
  return bar
}
