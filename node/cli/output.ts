// The form in which a read comes out: a table for people on a terminal, JSON or NDJSON for programs, GeoJSON for maps.
// A partial answer is said on stderr and by the exit code, whatever the form.

import type { Command } from 'commander'
import { Option } from 'commander'
import { exitCodes } from './failure.ts'
import type { Io } from './io.ts'
import { thousands } from './table.ts'

export type Form = 'table' | 'json' | 'ndjson' | 'geojson'

/** What the end of a read says. */
export interface End {
  readonly complete: boolean
  readonly missing?: ReadonlyArray<{ from: string, to: string | null, peer: string | null, reason: string }>
  readonly hops?: number
  readonly peers?: number
  readonly tookMs?: number
  readonly cursor?: string
}

/** Add -o to a command that reads. @param otherwise - what comes without it */
export function outputOption (command: Command, forms: readonly Form[], otherwise: string): Command {
  return command.addOption(new Option('-o, --output <form>', `form of the output; else ${otherwise}`).choices(forms))
}

/** What formFor gives when nothing was asked for, in words. */
export function tableOr (piped: Form): string {
  return `a table on a terminal and ${piped} in a pipe`
}

/** What was asked for, else a table on a terminal and `piped` elsewhere. */
export function formFor (given: string | undefined, io: Io, piped: Form): Form {
  return given as Form | undefined ?? (io.stdout.isTTY === true ? 'table' : piped)
}

/** `8 results, 3 peers, 2 hops, 6 ms, complete` */
export function summary (count: number, end: End): string {
  const parts = [`${thousands(count)} ${count === 1 ? 'result' : 'results'}`]
  if (end.peers !== undefined) parts.push(`${end.peers} ${end.peers === 1 ? 'peer' : 'peers'}`)
  if (end.hops !== undefined) parts.push(`${end.hops} ${end.hops === 1 ? 'hop' : 'hops'}`)
  if (end.tookMs !== undefined) parts.push(`${Math.round(end.tookMs)} ms`)
  parts.push(end.complete ? 'complete' : 'partial')
  return parts.join(', ')
}

/** The exit code of a read; says on stderr what is missing. */
export function codeFor (end: End, io: Io): number {
  if (end.complete) return exitCodes.done
  const parts = (end.missing ?? []).map(({ from, to, reason }) => `[${from === '' ? '-inf' : from}, ${to ?? '+inf'}) unavailable (${reason})`)
  io.stderr.write(`isobar: partial answer: ${parts.length === 0 ? 'some peers did not answer' : parts.join('; ')}; try again, or see \`isobar peers\`\n`)
  return exitCodes.partial
}
