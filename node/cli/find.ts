// `isobar find --bbox W,S,E,N`: objects in an area, by words if any are given. A box whose west exceeds its east crosses
// the antimeridian.

import type { Command } from 'commander'
import { clientFor, examples, exits, withRpc, type Context } from './context.ts'
import { usage } from './failure.ts'
import { codeFor, formFor, outputOption, tableOr, type End } from './output.ts'
import { readRows } from './read-rows.ts'
import type { RpcOptions } from './rpc-address.ts'

interface Options extends RpcOptions {
  collection?: string
  bbox?: string
  circle?: string
  words?: string
  any?: boolean
  limit?: string
  cursor?: string
  count?: boolean
  output?: string
}

export function findCommand (program: Command, context: Context): void {
  const { io } = context
  const command = outputOption(withRpc(program.command('find').description('objects in an area of the map, by words')), ['table', 'json', 'ndjson', 'geojson'], tableOr('ndjson'))
    .option('--bbox <w,s,e,n>', 'a box: west,south,east,north')
    .option('--circle <lon,lat,meters>', 'a circle')
    .option('--words <a,b>', 'words that an object must have')
    .option('--any', 'any of the words is enough')
    .option('--limit <n>', 'rows at most')
    .option('--cursor <text>', 'go on where an answer was cut')
    .option('--count', 'the number only')
    .option('--collection <name>', 'default places')
  command.action(exits(context, async (options: Options) => {
    if (options.bbox === undefined && options.circle === undefined) throw usage('find needs an area: --bbox W,S,E,N or --circle LON,LAT,METERS; all is --bbox -180,-90,180,90')
    const { collection, bbox, circle, words, limit, cursor } = options
    const query = { collection, bbox, circle, words, match: options.any === true ? 'any' : undefined, limit, cursor }
    const client = clientFor(options, context)
    if (options.count !== true) return await readRows(client, '/v1/find', query, formFor(options.output, io, 'ndjson'), io)
    const answer = await client.json<End & { count: number }>('/v1/find', { query: { ...query, count: true } })
    io.stdout.write(options.output === undefined || options.output === 'table' ? `${answer.count}\n` : JSON.stringify(answer) + '\n')
    return codeFor(answer, io)
  }))
  examples(command, 'isobar find --bbox 165,50,-165,60 --words alaska', 'isobar find --circle 13.4,52.5,5000 -o geojson')
}
