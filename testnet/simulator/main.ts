// Entry of the program behind `npm run simulate`: runs scenarios drawn from seeds, or one from a file, and says for each what
// happened and whether anything was wrong. It ends with 1 when something was. Same seed and same code give the same digest.

import '../../node/promise-with-resolvers.ts'
import { readFileSync, writeFileSync } from 'node:fs'
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { Failure, exitCodes } from '../../node/cli/failure.ts'
import { createProgress } from '../local/progress.ts'
import { isAlike } from './swarm/judge.ts'
import { lineOf, recordOf, summaryLine, summaryOf, type OutcomeRecord } from './swarm/report.ts'
import { runScenario, type Outcome } from './swarm/run.ts'
import { readScenario, scenarioText } from './swarm/scenario-file.ts'
import { drawScenario, type Scenario } from './swarm/scenario.ts'
import { shrink } from './swarm/shrink.ts'

interface Options {
  seeds: number
  firstSeed: number
  nodes?: number
  hours?: number
  scenario?: string
  shrink?: string
  trace?: boolean
  json?: boolean
}

const nodesMax = 200
/** Runs for making a failing scenario smaller; most take less than a second. */
const shrinkRunsMax = 400

function createProgram (): Command {
  return new Command('simulate')
    .usage('[--seeds N] [--nodes N] [--hours H] [--first-seed S] [--scenario FILE] [--json]')
    .description('Clients and faults on simulated peers, drawn from seeds; every answer and every claim is checked.')
    .option('--seeds <n>', 'how many seeds to run', wholeNumber(1), 20)
    .option('--first-seed <s>', 'the first of them', wholeNumber(0), 1)
    .option('--nodes <n>', 'peers at the start; drawn from 3 to 12 by default', wholeNumber(2, nodesMax))
    .option('--hours <h>', 'virtual hours a seed, with peers that come and go; about a minute by default', positive)
    .option('--scenario <file>', 'replay this scenario instead')
    .option('--shrink <file>', 'write the first scenario that fails there, made as small as it gets')
    .option('--trace', 'faults and the logs of peers on stderr, with virtual time')
    .option('--json', 'exactly one JSON object on stdout: {setup, seeds, summary}')
    .exitOverride()
    .configureOutput({ outputError: (text, output) => { output(`simulate: ${text.trim().replace(/^error: /, '').replace(/\s*\n\s*/g, ' ')}; see --help\n`) } })
    .addHelpText('after', '\nA seed that fails prints FAILED with what was wrong, and the exit code is 1.\n\nExample:\n  $ npm run simulate -- --seeds 100 --first-seed 1000\n  $ npm run simulate -- --seeds 1 --first-seed 1017 --shrink small.json\n  $ npm run simulate -- --scenario small.json --trace')
    .action(run)
}

async function run (options: Options): Promise<void> {
  const scenarios = options.scenario === undefined ? drawn(options) : [fromFile(options.scenario)]
  const outcomes = await runAll(scenarios, options)
  const summary = summaryOf(outcomes)
  if (options.json === true) {
    const { seeds, firstSeed, nodes, hours, scenario } = options
    const setup = scenario === undefined ? { seeds, firstSeed, nodes, hours } : { scenario }
    process.stdout.write(`${JSON.stringify({ setup, seeds: outcomes, summary })}\n`)
  } else {
    process.stdout.write(summaryLine(summary))
  }
  if (summary.failed.length === 0) return
  process.exitCode = exitCodes.failed
  if (options.shrink !== undefined) await writeSmaller(scenarios.find(({ seed }) => seed === summary.failed[0])!, options.shrink)
}

async function runAll (scenarios: readonly Scenario[], { json = false, trace = false }: Options): Promise<OutcomeRecord[]> {
  // where lines of stdout are seen as they come, they tell how far it is
  const bar = json || !process.stdout.isTTY ? createProgress('seeds', scenarios.length) : undefined
  const outcomes: OutcomeRecord[] = []
  for (const scenario of scenarios) {
    const outcome = recordOf(await runWatched(scenario, trace))
    outcomes.push(outcome)
    if (!json) process.stdout.write(lineOf(outcome))
    bar?.increment(1)
  }
  bar?.stop()
  return outcomes
}

/** A rejection that nobody handles is a fault of the code, and belongs to the seed that ran. */
async function runWatched (scenario: Scenario, trace: boolean): Promise<Outcome> {
  let unhandled: unknown
  const note = (error: unknown): void => { unhandled ??= error }
  process.on('unhandledRejection', note)
  try {
    const outcome = await runScenario(scenario, { trace: trace ? line => { process.stderr.write(`${line}\n`) } : undefined })
    if (unhandled === undefined || outcome.violation !== undefined) return outcome
    return { ...outcome, violation: { kind: 'error', message: `nobody handled: ${(unhandled as Error).stack ?? String(unhandled)}` } }
  } finally {
    process.off('unhandledRejection', note)
  }
}

async function writeSmaller (scenario: Scenario, file: string): Promise<void> {
  const { violation } = await runWatched(scenario, false)
  const bar = createProgress('shrinking', shrinkRunsMax)
  const smallest = await shrink(scenario, async candidate => {
    bar.increment(1)
    return isAlike((await runWatched(candidate, false)).violation, violation)
  }, { runsMax: shrinkRunsMax })
  bar.stop()
  const shown = (await runWatched(smallest, false)).violation?.message.split('\n')[0] ?? ''
  writeFileSync(file, scenarioText({ about: `${violation?.kind ?? ''}: ${shown}`, scenario: smallest }))
  process.stderr.write(`simulate: a smaller scenario that fails is in ${file}; replay it with --scenario ${file}\n`)
}

function drawn ({ seeds, firstSeed, nodes, hours }: Options): Scenario[] {
  return Array.from({ length: seeds }, (_, index) => drawScenario(firstSeed + index, { nodes, hours }))
}

function fromFile (file: string): Scenario {
  try {
    return readScenario(readFileSync(file, 'utf8')).scenario
  } catch (error) {
    throw new Failure(exitCodes.usage, `${file} is no scenario: ${(error as Error).message}`)
  }
}

function wholeNumber (least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return text => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < least || value > most) throw new InvalidArgumentError(`Expected a whole number from ${least}${most === Number.MAX_SAFE_INTEGER ? '' : ` to ${most}`}.`)
    return value
  }
}

function positive (text: string): number {
  const value = Number(text)
  if (!(value > 0 && value < Infinity)) throw new InvalidArgumentError('Expected a number above 0.')
  return value
}

try {
  await createProgram().parseAsync(process.argv.slice(2), { from: 'user' })
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage
  } else {
    process.stderr.write(`simulate: ${error instanceof Failure ? error.message : (error as Error).stack ?? String(error)}\n`)
    process.exitCode = error instanceof Failure ? error.exitCode : exitCodes.failed
  }
}
