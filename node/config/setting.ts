// One setting: how its text (from a flag or the environment) and its TOML value become the value that the daemon uses.
// A setting refuses what it cannot use with one line that says what was expected; it never falls back.

import { resolve } from 'node:path'
import { ConfigError } from '../errors.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface Setting<T> {
  /** What follows the flag in the help, e.g. `<dir>`; undefined for a switch. */
  readonly argument: string | undefined
  readonly repeatable: boolean
  readonly doc: string
  readonly byDefault: (env: Environment) => T
  /** From a flag or the environment; a repeated flag gives several. @throws ConfigError that names `from` */
  fromText (texts: readonly string[], from: string): T
  /** From a TOML value. @throws ConfigError */
  fromToml (value: unknown, from: string): T
}

interface Init<T> {
  readonly doc: string
  readonly byDefault: T | ((env: Environment) => T)
}

/** A check that also shapes: @throws ConfigError that names its second argument. */
type Check<T> = (text: string, from: string) => T

function single<T> (argument: string, init: Init<T>, check: Check<T>): Setting<T> {
  return {
    argument,
    repeatable: false,
    doc: init.doc,
    byDefault: defaultOf(init),
    fromText: (texts, from) => check(texts.at(-1) ?? '', from),
    fromToml: (value, from) => {
      if (typeof value !== 'string') throw new ConfigError(from, `${from}: ${shown(value)} is no string; write it in quotes`)
      return check(value, from)
    }
  }
}

export function text<T extends string | undefined> (argument: string, init: Init<T>, check: Check<string> = nonEmpty): Setting<T | string> {
  return single<T | string>(argument, init, check)
}

/** A file or folder; relative ones count from the working directory. */
export function path<T extends string | undefined> (argument: string, init: Init<T>): Setting<T | string> {
  return single<T | string>(argument, init, (given, from) => resolve(nonEmpty(given, from)))
}

export function choice<T extends string> (options: readonly T[], init: Init<T>): Setting<T> {
  return single(`<${options.join('|')}>`, init, (given, from) => {
    const found = options.find(option => option === given)
    if (found === undefined) throw new ConfigError(from, `${from}: ${JSON.stringify(given)} is unknown; expected one of ${options.join(', ')}`)
    return found
  })
}

export function list (argument: string, init: Init<readonly string[]>, check: Check<string>): Setting<readonly string[]> {
  const each = (texts: readonly string[], from: string) => texts.map(given => check(given, from))
  return {
    argument,
    repeatable: true,
    doc: init.doc,
    byDefault: defaultOf(init),
    fromText: (texts, from) => each(texts.flatMap(given => given.split(',')).map(given => given.trim()).filter(given => given !== ''), from),
    fromToml: (value, from) => {
      if (!Array.isArray(value) || value.some(one => typeof one !== 'string')) {
        throw new ConfigError(from, `${from}: ${shown(value)} is no list of strings; expected the form ["a", "b"]`)
      }
      return each(value as string[], from)
    }
  }
}

export function integer (init: Init<number> & { min: number, max: number }): Setting<number> {
  const check = (value: number, given: unknown, from: string): number => {
    if (Number.isSafeInteger(value) && value >= init.min && value <= init.max) return value
    throw new ConfigError(from, `${from}: ${shown(given)} is not a whole number from ${init.min} to ${init.max}`)
  }
  return {
    argument: '<n>',
    repeatable: false,
    doc: init.doc,
    byDefault: defaultOf(init),
    fromText: (texts, from) => {
      const given = texts.at(-1) ?? ''
      return check(/^-?\d+$/.test(given) ? Number(given) : NaN, given, from)
    },
    fromToml: (value, from) => check(typeof value === 'number' ? value : NaN, value, from)
  }
}

/** A flag without argument; in the environment and the file true or false. */
export function toggle (init: Init<boolean>): Setting<boolean> {
  return {
    argument: undefined,
    repeatable: false,
    doc: init.doc,
    byDefault: defaultOf(init),
    fromText: (texts, from) => {
      const given = texts.at(-1)
      if (given === 'true' || given === 'false') return given === 'true'
      throw new ConfigError(from, `${from}: ${shown(given)} is neither true nor false`)
    },
    fromToml: (value, from) => {
      if (typeof value === 'boolean') return value
      throw new ConfigError(from, `${from}: ${shown(value)} is neither true nor false`)
    }
  }
}

function defaultOf<T> (init: Init<T>): (env: Environment) => T {
  return typeof init.byDefault === 'function' ? init.byDefault as (env: Environment) => T : () => init.byDefault as T
}

function nonEmpty (given: string, from: string): string {
  if (given.trim() === '') throw new ConfigError(from, `${from}: expected a value, got nothing`)
  return given
}

function shown (value: unknown): string {
  return JSON.stringify(value) ?? String(value)
}
