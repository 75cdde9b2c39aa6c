// `isobar put`, `get` and `del`: one object by its key. put takes the value from an argument or stdin; with --at it is an
// object on the map. get writes the value as it was put, so it can be piped on.

import type { Command } from 'commander'
import { clientFor, examples, exits, withRpc, type Context } from './context.ts'
import { Failure, exitCodes } from './failure.ts'
import { write } from './io.ts'
import { formFor, outputOption, tableOr } from './output.ts'
import type { RpcOptions } from './rpc-address.ts'

interface KeyOptions extends RpcOptions { collection?: string }
interface PutOptions extends KeyOptions { at?: string, text?: string, type?: string, output?: string }

const textType = 'text/plain; charset=utf-8'
const jsonType = 'application/json'

export function objectCommands (program: Command, context: Context): void {
  putCommand(program, context)
  getCommand(program, context)
  delCommand(program, context)
}

function putCommand (program: Command, context: Context): void {
  const { io } = context
  const command = outputOption(withRpc(program.command('put').description('store a value under a key')), ['table', 'json'], tableOr('json'))
    .argument('<key>')
    .argument('[value]', 'the value; - or nothing for stdin')
    .option('--at <lon,lat>', 'where the object is; goes into places unless --collection says otherwise')
    .option('--text <text>', 'text whose words `isobar find` knows it by')
    .option('--type <content-type>', 'content type of the value; else JSON if it reads as an object or a list, else text')
    .option('--collection <name>', 'default kv, with --at places')
  command.action(exits(context, async (key: string, value: string | undefined, options: PutOptions) => {
    const located = options.at !== undefined || options.text !== undefined
    // An object that has only a place needs no value, and nobody wants to type Ctrl-D for it.
    const bytes = value === '-' || (value === undefined && !located) ? await readAll(io.stdin) : Buffer.from(value ?? '')
    const response = await clientFor(options, context).call('/v1/objects', {
      method: 'PUT',
      query: { key, collection: options.collection ?? (located ? 'places' : undefined), point: options.at, text: options.text },
      headers: { 'content-type': options.type ?? typeOf(bytes) },
      body: bytes
    })
    const answer = await response.json() as { version: string, created: boolean, tookMs: number }
    io.stdout.write(formFor(options.output, io, 'json') === 'table' ? `${answer.created ? 'created' : 'changed'} ${key}, version ${answer.version}\n` : JSON.stringify(answer) + '\n')
  }))
  examples(command, 'isobar put greeting "good morning"', 'isobar put cafe-1 \'{"open": 8}\' --at 13.4,52.5 --text "Café Kranzler"')
}

function getCommand (program: Command, context: Context): void {
  const { io } = context
  const command = outputOption(withRpc(program.command('get').description('write the value of a key')), ['json', 'geojson'], 'the value as it was put')
    .argument('<key>')
    .option('--collection <name>', 'default kv')
  command.action(exits(context, async (key: string, options: KeyOptions & { output?: string }) => {
    const accept = options.output === 'json' ? jsonType : options.output === 'geojson' ? 'application/geo+json' : '*/*'
    const response = await clientFor(options, context)
      .call('/v1/objects', { query: { key, collection: options.collection }, headers: { accept } })
      .catch((error: unknown) => { throw withHint(error, options.collection) })
    const bytes = Buffer.from(await response.arrayBuffer())
    await write(io.stdout, bytes)
    if ((io.stdout.isTTY === true || options.output !== undefined) && bytes.at(-1) !== 0x0a) io.stdout.write('\n')
  }))
  examples(command, 'isobar get greeting', 'isobar get cafe-1 --collection places -o json')
}

function delCommand (program: Command, context: Context): void {
  const { io } = context
  const command = withRpc(program.command('del').description('delete a key'))
    .argument('<key>')
    .option('--collection <name>', 'default kv')
  command.action(exits(context, async (key: string, options: KeyOptions) => {
    const { deleted } = await clientFor(options, context).json<{ deleted: boolean }>('/v1/objects', { method: 'DELETE', query: { key, collection: options.collection } })
    if (!deleted) throw withHint(new Failure(exitCodes.notFound, `no object ${JSON.stringify(key)} in collection ${JSON.stringify(options.collection ?? 'kv')}`), options.collection)
    io.stderr.write(`deleted ${key}\n`)
  }))
  examples(command, 'isobar del greeting')
}

/** Those who put with --at forget that the object then lies in places. */
function withHint (error: unknown, collection: string | undefined): unknown {
  if (!(error instanceof Failure) || error.exitCode !== exitCodes.notFound || collection !== undefined) return error
  return new Failure(error.exitCode, `${error.message}; objects put with --at are in --collection places`)
}

/** What reads as a JSON object or list is JSON; all else is text, or bytes when it is no UTF-8. */
function typeOf (bytes: Buffer): string {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return 'application/octet-stream'
  }
  if (!/^\s*[{[]/.test(text)) return textType
  try {
    JSON.parse(text)
    return jsonType
  } catch {
    return textType
  }
}

async function readAll (stream: AsyncIterable<Uint8Array | string>): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(Buffer.from(part))
  return Buffer.concat(parts)
}
