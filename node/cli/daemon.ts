// `isobar daemon`: run a peer until it is told to stop. The first SIGTERM or SIGINT stops it gracefully, which keeps its
// claims (stop is not leave); a second ends it at once with 130. SIGHUP reads the log level again.
// With --exit-with-parent it also stops when its stdin ends: then whoever started it is gone, however that came.
// The machine itself (node/daemon.ts) is loaded here and nowhere else, so that all other commands start fast.

import type { Command } from 'commander'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { Flags } from '../config/load.ts'
import type { Settings } from '../config/settings.ts'
import { examples, exits, type Context } from './context.ts'
import { exitCodes } from './failure.ts'
import { settingOptions, settingsFor } from './setting-options.ts'

/** The bound of a graceful stop. From users: a supervisor must see the process gone in 10 s. */
const stopMsMax = 9_500

/** A daemon that runs. */
export interface RunningDaemon {
  /** Base URL of its HTTP API. */
  readonly rpc: string
  stop (): Promise<void>
  /** Settles when it stopped by itself: after a leave, or by a fault. */
  readonly stopped?: Promise<void>
  /** Take over those settings that can change while it runs. */
  reload? (settings: Settings): void
}

type Options = Flags & { config?: string }
/** What only the process needs. */
type ProcessOptions = Options & { exitWithParent?: boolean }

export function daemonCommand (program: Command, context: Context): void {
  const command = settingOptions(program.command('daemon').description('run a peer until Ctrl-C'))
    .option('--exit-with-parent', 'stop also when stdin ends, for programs that start daemons through a pipe')
  command.action(exits(context, async ({ exitWithParent = false, ...options }: ProcessOptions) => {
    const { settings } = settingsFor(options, context.io)
    const { startDaemon } = await import('../daemon.ts') as { startDaemon: (settings: Settings) => Promise<RunningDaemon> }
    const parentGone = exitWithParent ? ended(context.io.stdin) : undefined
    const code = await runDaemon(startDaemon, settings, options, context, parentGone)
    // All has stopped, but libp2p leaves a timer of a second.
    context.io.exit(code)
    return code
  }))
  examples(command, 'isobar daemon', 'isobar daemon --data-dir ~/.local/share/isobar-two --rpc-listen :7702 --p2p-listen :0 --join 127.0.0.1:7701')
}

/**
 * @param parentGone - when it settles, this daemon stops
 * @returns the exit code
 */
export async function runDaemon (start: (settings: Settings) => Promise<RunningDaemon>, settings: Settings, options: Options, { io }: Context, parentGone?: Promise<void>): Promise<number> {
  let daemon: RunningDaemon | undefined
  let asked = false
  let resolveStop!: () => void
  const stopAsked = new Promise<void>(resolve => { resolveStop = resolve })
  const off = io.onSignal(signal => {
    if (signal === 'SIGHUP') {
      reload(daemon, options, io)
      return
    }
    if (asked) {
      io.exit(exitCodes.interrupted)
      return
    }
    asked = true
    if (signal === 'SIGINT') io.stderr.write('stopping; Ctrl-C again ends it at once\n')
    resolveStop()
  })
  void parentGone?.then(resolveStop)
  try {
    daemon = await start(settings)
    const why = await Promise.race([stopAsked.then(() => 'asked' as const), ...(daemon.stopped === undefined ? [] : [daemon.stopped.then(() => 'itself' as const)])])
    if (why === 'asked') await withinStopTime(daemon, io)
    return exitCodes.done
  } finally {
    off()
  }
}

/** Settles at the end of a stream, of which nothing is kept. To wait for it keeps no process alive. */
async function ended (stream: Readable & { unref?: () => void }): Promise<void> {
  stream.resume()
  stream.unref?.()
  await finished(stream, { writable: false }).catch(() => {})
}

async function withinStopTime (daemon: RunningDaemon, io: Context['io']): Promise<void> {
  const timer = setTimeout(() => {
    io.stderr.write(`isobar: the stop took more than ${stopMsMax} ms; ending now, what was acknowledged is on disk\n`)
    io.exit(exitCodes.done)
  }, stopMsMax)
  try {
    await daemon.stop()
  } finally {
    clearTimeout(timer)
  }
}

/** A file that is wrong now must not end a daemon that runs. */
function reload (daemon: RunningDaemon | undefined, options: Options, io: Context['io']): void {
  try {
    daemon?.reload?.(settingsFor(options, io).settings)
  } catch (error) {
    io.stderr.write(`isobar: settings not read again: ${(error as Error).message}\n`)
  }
}
