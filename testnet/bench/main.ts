// Entry of the program behind `npm run bench -- NAME`: runs one benchmark and prints its rows as a table, or with --json
// as one JSON object. Each benchmark is loaded by itself, so that none pays for the others. The hidden command `part`
// is how a benchmark starts the rivals and load generators that need a process of their own (see part.ts).

import '../../node/promise-with-resolvers.ts'
import { Command, CommanderError } from 'commander'
import { Failure, exitCodes } from '../../node/cli/failure.ts'
import { didYouMean } from '../../node/config/nearest.ts'
import type { Bench, BenchResult } from './bench.ts'
import { machineNow, type Machine } from './machine.ts'
import { parts } from './parts.ts'
import { servePart } from './part.ts'
import { resultTable } from './result-table.ts'

interface Named {
  readonly about: string
  load (): Promise<Bench>
}

const benches: Readonly<Record<string, Named>> = {
  route: { about: 'requests a lookup, by number of nodes (simulated)', load: async () => await import('./route.ts') },
  cover: { about: 'owners visited for an extent; time to route beside an R-tree and a grid', load: async () => await import('./cover.ts') },
  serve: { about: 'requests and rows a second by HTTP, one and four daemons, beside the ceilings of the machine', load: async () => await import('./serve.ts') },
  failover: { about: 'how long keys are out of reach when their owner is killed or stopped, and what is lost', load: async () => await import('./failover.ts') },
  start: { about: 'time from spawn to ready and memory at idle, one and eight daemons', load: async () => await import('./start.ts') }
}

interface Options { json?: boolean, quick?: boolean }

function createProgram (): Command {
  const program = new Command('bench')
    .usage('NAME [--json] [--quick]')
    .description('Benchmarks. A run is seeded and says its setup.')
    .argument('<name>', Object.keys(benches).join(', '))
    .option('--json', 'exactly one JSON object on stdout: {name, setup, machine, rows}')
    .option('--quick', 'fewer rounds')
    .exitOverride()
    .configureOutput({ outputError: (text, output) => { output(`bench: ${text.trim().replace(/^error: /, '').replace(/\s*\n\s*/g, ' ')}; see --help\n`) } })
    .addHelpText('after', `\n${listed()}\n\nExample:\n  $ npm run bench -- route --quick`)
    .action(async (name: string, options: Options) => { await run(name, options) })
  program.command('part <name>', { hidden: true }).action(async (name: string) => { await servePart(name, parts) })
  return program
}

function listed (): string {
  return ['Benchmarks:', ...Object.entries(benches).map(([name, { about }]) => `  ${name.padEnd(8)}${about}`)].join('\n')
}

async function run (name: string, { json = false, quick = false }: Options): Promise<void> {
  const bench = Object.hasOwn(benches, name) ? benches[name] : undefined
  if (bench === undefined) throw new Failure(exitCodes.usage, `there is no benchmark ${JSON.stringify(name)}${didYouMean(name, Object.keys(benches))}\n${listed()}`)
  const machine = machineNow()
  const { run } = await bench.load()
  const result = await run({ quick, progress: line => { process.stderr.write(`${line}\n`) } })
  process.stdout.write(json ? `${JSON.stringify({ name, setup: { quick, ...result.setup }, machine, rows: result.rows })}\n` : shown(name, quick, machine, result))
}

function shown (name: string, quick: boolean, machine: Machine, { setup, rows }: BenchResult): string {
  const fields = (record: object): string => Object.entries(record).map(([field, value]) => `${field}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`).join(' ')
  return `${name}${quick ? ' --quick' : ''}: ${fields(setup)}\nmachine: ${fields(machine)}\n\n${resultTable(rows)}`
}

function codeOf (error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
  process.stderr.write(`bench: ${error instanceof Failure ? error.message : (error as Error).stack ?? String(error)}\n`)
  return error instanceof Failure ? error.exitCode : exitCodes.failed
}

try {
  await createProgram().parseAsync(process.argv.slice(2), { from: 'user' })
} catch (error) {
  process.exitCode = codeOf(error)
}
