// What users give, field by field, before anything is asked of anybody: so a bad request stores nothing and costs no
// message. Each refusal names the field, the value and what was expected. Points and extents have their own validators
// in overlay/space; words have theirs in storage/words.ts. Messages of peers are checked by their codecs, not here.

import { fromString } from 'uint8arrays/from-string'
import type { Interval, Key } from '../../overlay/interval.ts'
import { compareKeys, intersect, nextKey, prefixInterval } from '../../overlay/interval.ts'
import { InvalidRequestError } from '../errors.ts'
import { contentTypeBytesMax, keyBytesMax, keywordsMax, requestIdBytesMax, textBytesMax, valueBytesMax } from '../init.ts'
import type { RangeRequest } from '../storage-api.ts'
import { InvalidWordError, queryWords, wordsOf } from '../words.ts'
import { loneSurrogate } from './collection.ts'

/** A key or id: 1 to keyBytesMax bytes. @throws InvalidRequestError */
export function checkKey (key: unknown, field: string): Key {
  const bytes = checkBytes(key, field, keyBytesMax)
  if (bytes.length === 0) throw new InvalidRequestError(field, `an empty key; expected 1 to ${keyBytesMax} bytes`)
  return bytes
}

/** @throws InvalidRequestError */
export function checkValue (value: unknown, field: string): Uint8Array {
  return checkBytes(value, field, valueBytesMax)
}

/** @throws InvalidRequestError */
export function checkContentType (given: unknown, field: string): string | undefined {
  const contentType = checkText(given, field, contentTypeBytesMax)
  // What a header may carry: printable ASCII (RFC 9110 section 5.5).
  if (contentType !== undefined && !/^[\x20-\x7e]+$/.test(contentType)) throw new InvalidRequestError(field, `${JSON.stringify(contentType)} is no content type; expected printable ASCII`)
  return contentType
}

/** @throws InvalidRequestError */
export function checkRequestId (given: unknown, field: string): string | undefined {
  const id = checkText(given, field, requestIdBytesMax)
  if (id === '') throw new InvalidRequestError(field, `an empty id; expected 1 to ${requestIdBytesMax} bytes`)
  return id
}

/** An object's text, whose words are within the bounds of the word rule. @throws InvalidRequestError */
export function checkObjectText (given: unknown, field: string): string | undefined {
  const text = checkText(given, field, textBytesMax)
  if (text !== undefined) withField(() => wordsOf(text, field))
  return text
}

/** The words of a query, ascending; none for no keywords at all. @throws InvalidRequestError */
export function checkWords (given: unknown, field: string): string[] {
  if (!Array.isArray(given) || given.some(word => typeof word !== 'string')) throw new InvalidRequestError(field, 'expected a list of strings')
  if (given.length > keywordsMax) throw new InvalidRequestError(field, `${given.length} keywords; expected at most ${keywordsMax}`)
  return withField(() => queryWords(given as string[], field))
}

/** @throws InvalidRequestError */
export function checkMatch (given: unknown, field: string): 'all' | 'any' {
  if (given !== 'all' && given !== 'any') throw new InvalidRequestError(field, `${JSON.stringify(given)} is unknown; expected "all" or "any"`)
  return given
}

/** @throws InvalidRequestError */
export function checkLimit (given: unknown, field: string): number {
  if (typeof given !== 'number' || !(given >= 0 && Number.isSafeInteger(given))) {
    throw new InvalidRequestError(field, `${String(given)} is no limit; expected an integer from 0 to 2^53 - 1`)
  }
  return given
}

/**
 * The keys that a range asks for, within its collection. Empty bounds are open ends; an exclusive bound equal to the
 * other gives an empty interval.
 *
 * @throws InvalidRequestError
 */
export function checkBounds (request: RangeRequest): Interval {
  const from = checkBound(request.gte, 'gte', request.gt, 'gt')
  const to = checkBound(request.lte, 'lte', request.lt, 'lt')
  if (from !== undefined && to !== undefined && compareKeys(from.key, to.key) > 0) {
    throw new InvalidRequestError(from.field, `the range begins above its end ${to.field}; exchange the two, and ask with reverse for descending order`)
  }
  const low = from === undefined ? new Uint8Array(0) : from.field === 'gt' ? nextKey(from.key) : from.key
  const high = to === undefined ? undefined : to.field === 'lte' ? nextKey(to.key) : to.key
  const bounds = { low, high }
  if (request.prefix === undefined) return bounds
  return intersect(bounds, prefixInterval(checkBytes(request.prefix, 'prefix', keyBytesMax))) ?? { low, high: low }
}

function checkBound (inclusive: unknown, inclusiveField: string, exclusive: unknown, exclusiveField: string): { key: Key, field: string } | undefined {
  if (inclusive !== undefined && exclusive !== undefined) throw new InvalidRequestError(exclusiveField, `given together with ${inclusiveField}; expected one of them`)
  const field = inclusive !== undefined ? inclusiveField : exclusiveField
  const given = inclusive ?? exclusive
  if (given === undefined) return undefined
  const key = checkBytes(given, field, keyBytesMax)
  return key.length === 0 ? undefined : { key, field }
}

function checkBytes (given: unknown, field: string, bytesMax: number): Uint8Array {
  if (!(given instanceof Uint8Array)) throw new InvalidRequestError(field, `${typeof given}; expected bytes`)
  if (given.length > bytesMax) throw new InvalidRequestError(field, `${given.length} bytes; expected at most ${bytesMax}`)
  return given
}

function checkText (given: unknown, field: string, bytesMax: number): string | undefined {
  if (given === undefined) return undefined
  if (typeof given !== 'string') throw new InvalidRequestError(field, `${typeof given}; expected a string`)
  if (loneSurrogate.test(given)) throw new InvalidRequestError(field, 'holds half a surrogate pair, which has no UTF-8 form')
  const bytes = given.length > bytesMax ? given.length : fromString(given).length
  if (bytes > bytesMax) throw new InvalidRequestError(field, `${bytes} bytes or more; expected at most ${bytesMax}`)
  return given
}

function withField<T> (check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof InvalidWordError)) throw error
    throw new InvalidRequestError(error.field, error.message.slice(error.field.length + 2))
  }
}
