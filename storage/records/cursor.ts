// A cursor: where a read goes on, as text that users pass back. It names the last key that was given, not a place in a
// list, so it survives the deletion of its row and any change of owners. It carries a hash of its query, so it is
// refused for another one; it is no secret and needs no signature, for it gives access to nothing that the query does not.

import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import type { Key } from '../../overlay/interval.ts'
import { InvalidRequestError } from '../errors.ts'
import { cursorCharactersMax } from '../init.ts'
import { ByteReader, ByteWriter } from './bytes.ts'
import { idHash } from './id-hash.ts'

const layout = 1
/** Of a refused cursor in its error. Guess. */
const shownCharacters = 8

export interface CursorPoint {
  /** The last key that was given, with its collection; or what comes before all that is left. */
  readonly key: Key
  /** Wall clock in ms since 1970 when the read began: moves before it are no concern of its later pages. */
  readonly sinceMs: number
}

/** @param query - the query's canonical bytes, without limit and cursor */
export function writeCursor (query: Uint8Array, point: CursorPoint): string {
  const bytes = new ByteWriter().u8(layout).f64(idHash(query)).u48(point.sinceMs).bytes(point.key).finish()
  return toString(bytes, 'base64url')
}

/** @throws InvalidRequestError for text that is no cursor, and for the cursor of another query */
export function readCursor (query: Uint8Array, cursor: unknown): CursorPoint {
  if (typeof cursor !== 'string' || cursor.length > cursorCharactersMax) throw new InvalidRequestError('cursor', `expected the text of an earlier answer, of at most ${cursorCharactersMax} characters`)
  const reader = new ByteReader(bytesOf(cursor))
  try {
    if (reader.u8() !== layout) throw new RangeError('layout')
    const hash = reader.f64()
    const sinceMs = reader.u48()
    const key = reader.bytes()
    if (!reader.isAtEnd) throw new RangeError('end')
    if (hash !== idHash(query)) throw new InvalidRequestError('cursor', 'belongs to another query; repeat the query of the answer that gave it, only the limit may differ')
    return { key, sinceMs }
  } catch (error) {
    if (error instanceof InvalidRequestError) throw error
    throw new InvalidRequestError('cursor', `${JSON.stringify(cursor.slice(0, shownCharacters))}… is no cursor; expected the text of an earlier answer`)
  }
}

function bytesOf (cursor: string): Uint8Array {
  if (!/^[\w-]*$/.test(cursor)) return new Uint8Array(0)
  try {
    return fromString(cursor, 'base64url')
  } catch {
    return new Uint8Array(0)
  }
}
