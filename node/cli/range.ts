// `isobar range [FROM] [TO]`: records in key order, both ends included unless told otherwise; an empty bound is open.

import type { Command } from 'commander'
import { clientFor, examples, exits, withRpc, type Context } from './context.ts'
import { formFor, outputOption, tableOr } from './output.ts'
import { readRows } from './read-rows.ts'
import type { RpcOptions } from './rpc-address.ts'

interface Options extends RpcOptions {
  collection?: string
  prefix?: string
  reverse?: boolean
  limit?: string
  cursor?: string
  keysOnly?: boolean
  exclusiveStart?: boolean
  exclusiveEnd?: boolean
  output?: string
}

export function rangeCommand (program: Command, context: Context): void {
  const command = outputOption(withRpc(program.command('range').description('records between two keys, in byte order')), ['table', 'json', 'ndjson'], tableOr('ndjson'))
    .argument('[from]', 'first key; "" or nothing is the beginning')
    .argument('[to]', 'last key, included; "" or nothing is the end')
    .option('--prefix <text>', 'only keys that begin with it')
    .option('--reverse', 'from the last to the first')
    .option('--limit <n>', 'rows at most')
    .option('--cursor <text>', 'go on where an answer was cut')
    .option('--keys-only', 'leave out the values')
    .option('--exclusive-start', 'without the key FROM itself')
    .option('--exclusive-end', 'without the key TO itself')
    .option('--collection <name>', 'default kv')
  command.action(exits(context, async (from: string | undefined, to: string | undefined, options: Options) => {
    const query = {
      collection: options.collection,
      [options.exclusiveStart === true ? 'gt' : 'gte']: from,
      [options.exclusiveEnd === true ? 'lt' : 'lte']: to,
      prefix: options.prefix,
      reverse: options.reverse,
      limit: options.limit,
      cursor: options.cursor,
      keysOnly: options.keysOnly
    }
    return await readRows(clientFor(options, context), '/v1/range', query, formFor(options.output, context.io, 'ndjson'), context.io)
  }))
  examples(command, 'isobar range a f --limit 10', 'isobar range --prefix user/ --keys-only -o ndjson')
}
