// The query of a URL, read strictly: each parameter known, given once, and well encoded, so that a key arrives byte for
// byte or not at all. Percent encoding is UTF-8; + is a space, as every form and URLSearchParams write it (WHATWG URL,
// application/x-www-form-urlencoded), so a plus is %2B. Numbers are numbers: an empty text is none.

import type { FastifyRequest } from 'fastify'
import type { Key } from '../../overlay/interval.ts'
import { didYouMean } from '../config/nearest.ts'
import { keyOfText } from '../key-text.ts'
import { badField, Problem } from './problem.ts'

export type Query = Readonly<Record<string, string | undefined>>

/** Digits, sign, point, exponent: what JSON takes and a little more. */
const numberForm = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

/**
 * @param known - the parameters that this request may carry
 * @throws Problem 400 for a malformed, unknown or repeated parameter
 */
export function readQuery (request: FastifyRequest, known: readonly string[]): Query {
  const url = request.raw.url ?? ''
  const mark = url.indexOf('?')
  // Only known names are set and read, so what all objects have does no harm.
  const query: Record<string, string | undefined> = {}
  if (mark < 0) return query
  for (const part of url.slice(mark + 1).split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = decode(equals < 0 ? part : part.slice(0, equals), 'query')
    if (!known.includes(name)) {
      throw new Problem(400, 'unknown-parameter', `unknown parameter ${JSON.stringify(name)}${didYouMean(name, known)}`, { field: name })
    }
    if (query[name] !== undefined) throw badField(name, 'is given more than once')
    query[name] = equals < 0 ? '' : decode(part.slice(equals + 1), name)
  }
  return query
}

function decode (text: string, field: string): string {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw badField(field, `${JSON.stringify(text)} is not percent-encoded UTF-8; write % as %25`)
  }
}

/** A key, which must be given and not be empty. */
export function requiredKey (query: Query, name: string): Key {
  const text = query[name]
  if (text === undefined || text === '') throw badField(name, `is missing; give it in the query, percent-encoded: ?${name}=…`)
  return keyOfText(text)
}

/** true or false; absent is false. */
export function flag (query: Query, name: string): boolean {
  const text = query[name]
  if (text === undefined || text === 'false') return false
  if (text === 'true') return true
  throw badField(name, `${JSON.stringify(text)} is neither true nor false`)
}

/** A whole number from min to max, or undefined when it is not given. */
export function wholeNumber (text: string | undefined, name: string, min: number, max: number): number | undefined {
  if (text === undefined) return undefined
  const value = numberForm.test(text) ? Number(text) : NaN
  if (!Number.isSafeInteger(value) || value < min || value > max) {
    throw badField(name, `${JSON.stringify(text)} is not a whole number from ${min} to ${max}`)
  }
  return value
}

/** `count` numbers with commas between. Infinity passes: the space refuses it with its own words. */
export function numbers (text: string, name: string, form: string): number[] {
  const parts = text.split(',')
  const expected = form.split(',').length
  if (parts.length !== expected || !parts.every(part => numberForm.test(part))) {
    throw badField(name, `${JSON.stringify(text)} is not ${form}, ${expected} numbers with commas between`)
  }
  return parts.map(Number)
}
