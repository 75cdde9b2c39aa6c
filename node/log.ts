// The log of one daemon, on stderr: a line a decision, as text for people or as JSON for machines. pino makes the
// lines; text is its JSON laid out again, which is cheap at the rate at which an operator wants to read.
//
//   2026-11-30T18:12:48.123Z INFO  move      exchanged [k..q) objects=420 ms=38 reason=load
//
// A field `area` names the part of the program (move, join, http); text from the network stays at debug.

import { pino, stdTimeFunctions } from 'pino'
import { writeSync } from 'node:fs'
import type { Logger } from '../overlay/host.ts'
import type { Settings } from './config/settings.ts'

export type LogLevel = Settings['logLevel']

/** Where lines go. */
export interface LogSink {
  write (line: string): void
}

export interface Log extends Logger {
  level: LogLevel
  /** The same log for one part of the program: its lines carry that area. */
  area (name: string): Logger
}

const stderrDescriptor = 2
/** Columns of the area in text lines: the longest common ones (identity, ownership) fit or push the text a little. */
const areaColumns = 8

export function createLog (init: { level: LogLevel, format: 'text' | 'json', sink?: LogSink }): Log {
  const sink = init.sink ?? stderrSink
  const destination = init.format === 'json' ? sink : { write: (line: string) => { sink.write(textLine(line)) } }
  const base = pino({
    level: init.level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: label => ({ level: label }) },
    messageKey: 'text',
    errorKey: 'error'
  }, destination)
  return {
    ...loggerOf(base),
    get level () { return base.level as LogLevel },
    set level (level) { base.level = level },
    // One pino for all areas, so that a new level holds for each at once.
    area: name => {
      const to = (level: 'debug' | 'info' | 'warn' | 'error') => (fields: object, text: string) => { base[level]({ area: name, ...fields }, text) }
      return { debug: to('debug'), info: to('info'), warn: to('warn'), error: to('error') }
    }
  }
}

function loggerOf (base: pino.Logger): Logger {
  return {
    debug: (fields, text) => { base.debug(fields, text) },
    info: (fields, text) => { base.info(fields, text) },
    warn: (fields, text) => { base.warn(fields, text) },
    error: (fields, text) => { base.error(fields, text) }
  }
}

/** Synchronous, so that the last lines before an end are there. A reader that is gone must not take the daemon with it. */
const stderrSink: LogSink = {
  write: line => {
    try {
      writeSync(stderrDescriptor, line)
    } catch {}
  }
}

function textLine (json: string): string {
  const { level, time, area, text, ...fields } = JSON.parse(json) as Record<string, unknown>
  const head = `${String(time)} ${String(level).toUpperCase().padEnd(5)} ${String(area ?? 'node').padEnd(areaColumns)}`
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${fieldText(value)}`)
  return `${head}  ${String(text)}${rest.join('')}\n`
}

function fieldText (value: unknown): string {
  if (typeof value === 'string') return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)
  if (typeof value === 'object' && value !== null && 'type' in value && 'message' in value) {
    const error = value as { type: unknown, message: unknown }
    return JSON.stringify(`${String(error.type)}: ${String(error.message)}`)
  }
  return JSON.stringify(value) ?? 'undefined'
}
