// `isobar`, the command line (commander): its commands put together, and the one place where errors become a line on
// stderr and an exit code. An unknown flag or command names the nearest; nobody sees a stack.

import { Command, CommanderError } from 'commander'
import { version } from '../version.ts'
import { configCommands } from './config.ts'
import type { Context } from './context.ts'
import { daemonCommand } from './daemon.ts'
import { doctorCommand } from './doctor.ts'
import { exportCommand } from './export.ts'
import { Failure, exitCodes } from './failure.ts'
import { findCommand } from './find.ts'
import { importCommand } from './import.ts'
import { initCommand } from './init.ts'
import type { Io } from './io.ts'
import { objectCommands } from './objects.ts'
import { rangeCommand } from './range.ts'
import { ringCommands } from './ring.ts'
import { statusCommands } from './status.ts'
import { testnetCommand } from './testnet.ts'
import { versionCommand } from './version.ts'

/**
 * @param args - without node and script
 * @returns the exit code
 */
export async function runCli (args: readonly string[], io: Io): Promise<number> {
  const context: Context = { io, code: exitCodes.done }
  try {
    await createProgram(context).parseAsync(args, { from: 'user' })
    return context.code
  } catch (error) {
    return fail(error, io)
  }
}

function createProgram (context: Context): Command {
  const { io } = context
  const program = new Command('isobar')
    .description('A peer of a ring that keeps ordered and spatial data. Any peer answers for all.')
    .version(version, '-V, --version', 'print the version')
    .exitOverride()
    .enablePositionalOptions()
    .configureOutput({
      writeOut: text => { io.stdout.write(text) },
      writeErr: text => { io.stderr.write(text) },
      outputError: (text, output) => { output(`isobar: ${text.trim().replace(/^error: /, '').replace(/\s*\n\s*/g, ' ')}; see --help\n`) }
    })
    .helpCommand(true)
  const commands = [daemonCommand, initCommand, ringCommands, statusCommands, objectCommands, rangeCommand, findCommand, importCommand, exportCommand, testnetCommand, doctorCommand, configCommands, versionCommand]
  for (const add of commands) add(program, context)
  return program
}

function fail (error: unknown, io: Io): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
  const message = error instanceof Error ? error.message : String(error)
  io.stderr.write(`isobar: ${message.replace(/\s*\n\s*/g, ' ')}\n`)
  if (error instanceof Failure) return error.exitCode
  return (error as { name?: string }).name === 'ConfigError' ? exitCodes.usage : exitCodes.failed
}
