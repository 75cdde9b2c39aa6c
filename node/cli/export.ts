// `isobar export`: all of a collection as NDJSON (or a map as GeoJSON, by -o or by the name of the file), which `isobar
// import` takes back. Ordered collections come in key order, spatial ones along the curve.

import type { Command } from 'commander'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import type { Writable } from 'node:stream'
import { linesOfResponse, type Client } from './client.ts'
import { clientFor, examples, exits, withRpc, type Context } from './context.ts'
import { Failure, exitCodes, usage } from './failure.ts'
import { formatToWrite } from './file-format.ts'
import { write } from './io.ts'
import { codeFor, outputOption, type End } from './output.ts'
import { endOf } from './read-rows.ts'
import type { RpcOptions } from './rpc-address.ts'

type ExportForm = 'ndjson' | 'geojson'
interface Options extends RpcOptions { collection?: string, output?: ExportForm }
interface Definition { kind: 'ordered' | 'spatial', space?: { kind: string, minX: number, minY: number, maxX: number, maxY: number } }

const recordSeparator = '\x1e'

export function exportCommand (program: Command, context: Context): void {
  const { io } = context
  const command = outputOption(withRpc(program.command('export').description('write all of a collection')), ['ndjson', 'geojson'], 'by the name of the file, on stdout ndjson')
    .argument('[file]', 'a .ndjson or .geojson file; - or nothing for stdout')
    .option('--collection <name>', 'which one; default places as geojson, else kv; of spatial ones, the objects that have a place')
  command.action(exits(context, async (file: string | undefined, options: Options) => {
    const toFile = file === undefined || file === '-' ? undefined : file
    const form = options.output ?? formOf(toFile)
    const { collection = form === 'geojson' ? 'places' : 'kv' } = options
    const client = clientFor(options, context)
    const definition = await client.json<Definition>(`/v1/collections/${encodeURIComponent(collection)}`)
    if (form === 'geojson' && definition.kind !== 'spatial') throw usage(`${collection} is an ordered collection, which has no places for GeoJSON; give -o ndjson or a .ndjson file, or another --collection`)
    const target = toFile === undefined ? io.stdout : await openTarget(toFile)
    const end = form === 'geojson' ? await exportFeatures(client, collection, definition, target) : await exportRecords(client, collection, definition, target)
    if (target !== io.stdout) {
      target.end()
      await finished(target)
    }
    return codeFor(end, io)
  }))
  examples(command, 'isobar export backup.ndjson', 'isobar export quakes.geojson', 'isobar export --collection trips | gzip > trips.ndjson.gz')
}

/** @throws Failure */
function formOf (file: string | undefined): ExportForm {
  const form = file === undefined ? 'ndjson' : formatToWrite(file)
  if (form !== undefined) return form
  throw usage(`${file}: its name does not tell the form; name it .ndjson or .geojson, or give -o ndjson|geojson`)
}

async function exportRecords (client: Client, collection: string, definition: Definition, target: Writable): Promise<End> {
  const lines = linesOfResponse(await begin(client, collection, definition, 'application/x-ndjson'))
  let end: End | undefined
  for await (const line of lines) {
    end = endOf(line)
    if (end === undefined) await write(target, line + '\n')
  }
  return end ?? { complete: false }
}

/** A FeatureCollection, though it comes as a sequence: only that has no bound of rows. */
async function exportFeatures (client: Client, collection: string, definition: Definition, target: Writable): Promise<End> {
  const lines = linesOfResponse(await begin(client, collection, definition, 'application/geo+json-seq'))
  let end: End | undefined
  let rows = 0
  await write(target, '{"type":"FeatureCollection","features":[')
  for await (const line of lines) {
    const text = line.replace(recordSeparator, '')
    if (text.startsWith('{"type":"FeatureCollection"')) end = JSON.parse(text) as End
    else await write(target, (rows++ === 0 ? '\n' : ',\n') + text)
  }
  await write(target, '\n]}\n')
  return end ?? { complete: false }
}

async function begin (client: Client, collection: string, { kind, space }: Definition, accept: string): Promise<Response> {
  const bbox = space === undefined || space.kind === 'lonlat' ? '-180,-90,180,90' : [space.minX, space.minY, space.maxX, space.maxY].join(',')
  return kind === 'ordered'
    ? await client.call('/v1/range', { query: { collection }, headers: { accept } })
    : await client.call('/v1/find', { query: { collection, bbox }, headers: { accept } })
}

async function openTarget (file: string): Promise<Writable> {
  const stream = createWriteStream(file)
  await new Promise<void>((resolve, reject) => {
    stream.once('open', () => { resolve() })
    stream.once('error', error => { reject(new Failure(exitCodes.failed, `${file} cannot be written (${(error as NodeJS.ErrnoException).code ?? error.message})`)) })
  })
  return stream
}
