#!/usr/bin/env node
// Entry of the program `isobar`: what Node 20 lacks first, then the command line on this process's streams and signals.

import './promise-with-resolvers.ts'
import { runCli } from './cli/program.ts'
import type { Io } from './cli/io.ts'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const io: Io = {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  onSignal: fn => {
    for (const signal of signals) process.on(signal, fn)
    return () => { for (const signal of signals) process.off(signal, fn) }
  },
  exit: code => { process.exit(code) }
}

// A reader that has seen enough (`isobar range | head`) is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => { process.exit(error.code === 'EPIPE' ? 0 : 1) })

process.exitCode = await runCli(process.argv.slice(2), io)
