// Entry of the program behind `npm run testnet` and `isobar testnet …`: its command line.

import '../../node/promise-with-resolvers.ts'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { examples } from '../../node/cli/context.ts'
import { Failure, exitCodes } from '../../node/cli/failure.ts'
import { dataSets } from './data-set.ts'
import { peersMax, p2pPortOffset, testnetDefaults } from './init.ts'
import { add, down, kill, ps, startAgain } from './remote.ts'
import { up } from './up.ts'

const portMax = 65_535 - p2pPortOffset - peersMax

interface Where { basePort?: number }

function createProgram (): Command {
  const program = new Command('isobar testnet')
    .description('Real daemons on 127.0.0.1, joined to one ring and filled with real data.')
    .exitOverride()
    .enablePositionalOptions()
    .configureOutput({ outputError: (text, output) => { output(`isobar testnet: ${text.trim().replace(/^error: /, '').replace(/\s*\n\s*/g, ' ')}; see --help\n`) } })
  examples(program, 'isobar testnet', 'isobar testnet kill 3', 'isobar testnet down')
  const upCommand = program.command('up', { isDefault: true })
    .description('start the peers and stay until Ctrl-C')
    .option('--peers <n>', `daemons, 1 to ${peersMax} (default ${testnetDefaults.peers})`, wholeFrom(1, peersMax))
    .addOption(new Option('--load <set>', 'what to fill the ring with').choices([...Object.keys(dataSets), 'none']).default(testnetDefaults.load))
    .option('--data-dir <dir>', 'where the peers keep their data, for a later run; else a temporary directory that goes at the end')
    .option('--base-port <port>', `RPC ports are this and the next ones, p2p ports ${p2pPortOffset} higher; 0 for any (default ${testnetDefaults.basePort})`, wholeFrom(0, portMax))
    .option('--once', 'load, print, run the example commands, stop; exit code 0 if their answers were right', false)
    .action(async (options: Where & { peers?: number, load: string, dataDir?: string, once: boolean }) => { process.exitCode = await up(options) })
  examples(upCommand, 'isobar testnet up --peers 4 --load cities', 'isobar testnet up --data-dir ~/.local/share/isobar-net    # goes on with the same peers next time')
  remote(program, 'ps', 'the peers of a running testnet').action(async (options: Where) => { await ps(portOf(options)) })
  remote(program, 'add', 'one more peer').action(async (options: Where) => { await add(portOf(options)) })
  remote(program, 'start', 'start a peer that has ended, with its old data', ' 3').argument('<n>', 'number of the peer', wholeFrom(1, peersMax))
    .action(async (number: number, options: Where) => { await startAgain(portOf(options), number) })
  remote(program, 'kill', 'end a peer: SIGTERM, or SIGKILL', ' 3 -9').argument('<n>', 'number of the peer', wholeFrom(1, peersMax)).option('-9', 'SIGKILL')
    .action(async (number: number, options: Where & { 9?: boolean }) => { await kill(portOf(options), number, options[9] === true) })
  remote(program, 'down', 'end a running testnet').action(async (options: Where) => { await down(portOf(options)) })
  return program
}

/** @param rest - of the example, behind the name */
function remote (program: Command, name: string, description: string, rest = ''): Command {
  const command = program.command(name).description(description)
    .option('--base-port <port>', `which testnet (default ${testnetDefaults.basePort})`, wholeFrom(1, portMax))
  return examples(command, `isobar testnet ${name}${rest}`, `isobar testnet ${name}${rest} --base-port 8700`)
}

function portOf ({ basePort = testnetDefaults.basePort }: Where): number {
  return basePort
}

function wholeFrom (min: number, max: number): (text: string) => number {
  return text => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN
    if (!(value >= min && value <= max)) throw new InvalidArgumentError(`It is not a whole number from ${min} to ${max}.`)
    return value
  }
}

try {
  await createProgram().parseAsync(process.argv.slice(2), { from: 'user' })
} catch (error) {
  process.exitCode = codeOf(error)
}

function codeOf (error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`isobar testnet: ${message.replace(/\s*\n\s*/g, ' ')}\n`)
  return error instanceof Failure ? error.exitCode : exitCodes.failed
}
