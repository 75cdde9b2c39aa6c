// What two holders of an interval compare instead of its rows: a list of stretches, some hundred adjacent rows each, with
// their number and a hash. The source cuts, by its own rows; the learner hashes what it holds between the same keys.
// Made anew each time, from a snapshot: a tree of hashes (Merkle, 1987) would spare the reading, but each write would have
// to keep it. Equal hashes are taken for equal rows: 16 bytes of SHA-256 do not meet by chance.

import { sha256 } from 'multiformats/hashes/sha2'
import { equals } from 'uint8arrays/equals'
import type { Interval, Key } from '../../overlay/interval.ts'
import { compareKeys, isBelow } from '../../overlay/interval.ts'
import type { Row } from '../../overlay/store.ts'
import { FillError } from '../errors.ts'
import { ByteWriter } from '../records/bytes.ts'
import { rowBytes } from '../records/row-frame.ts'
import type { RowReader } from './row-reader.ts'

/** Adjacent rows: from where the stretch before ended, or the interval's low. */
export interface Stretch {
  /** Where the next one begins; undefined for the last, which goes to the end of the interval. */
  readonly high: Key | undefined
  readonly rows: number
  readonly hash: Uint8Array
}

/** Rows and bytes of a stretch, at most; a larger row is alone. Guesses: one row that differs brings as much as a frame. */
const stretchRowsMax = 256
const stretchBytesMax = 64 << 10
const hashBytes = 16
/** Parts that differ which are told apart; what differs beyond them is one part with all that lies between. Guess. */
const partsMax = 4096

/** The stretches of rows; the last one, perhaps without rows, has no high. */
export async function * stretchesOf (pages: AsyncIterable<readonly Row[]>): AsyncGenerator<Stretch, void, undefined> {
  let run = new Run()
  for await (const page of pages) {
    for (const row of page) {
      if (!run.hasRoom(row)) {
        yield { high: row.key, rows: run.rows, hash: await run.hash() }
        run = new Run()
      }
      run.add(row)
    }
  }
  yield { high: undefined, rows: run.rows, hash: await run.hash() }
}

/**
 * Where own rows are not what the stretches say: parts of interval in key order, adjacent ones joined.
 *
 * @throws FillError when the stretches do not cover interval
 */
export async function differing (interval: Interval, stretches: AsyncIterable<Stretch>, own: RowReader): Promise<Interval[]> {
  const parts: Interval[] = []
  let low: Key | undefined = interval.low
  for await (const stretch of stretches) {
    const { high } = stretch
    if (low === undefined || (high !== undefined && !isInside(high, low, interval))) throw new FillError('a digest whose stretches are out of order')
    if (!await isSame(stretch, own)) join(parts, { low, high: high ?? interval.high })
    low = high
  }
  if (low !== undefined) throw new FillError('the source ended before its last stretch')
  return parts
}

async function isSame ({ high, rows, hash }: Stretch, own: RowReader): Promise<boolean> {
  const run = new Run()
  let isOver = false
  for await (const page of own.below(high)) {
    for (const row of page) {
      // what the source would not have put into one stretch is not what it has
      isOver ||= run.rows === rows || !run.hasRoom(row)
      if (!isOver) run.add(row)
    }
  }
  return !isOver && run.rows === rows && equals(await run.hash(), hash)
}

function isInside (high: Key, low: Key, interval: Interval): boolean {
  return compareKeys(low, high) < 0 && isBelow(high, interval.high)
}

function join (parts: Interval[], part: Interval): void {
  const last = parts.at(-1)
  const isAdjacent = last?.high !== undefined && compareKeys(last.high, part.low) === 0
  if (last !== undefined && (isAdjacent || parts.length >= partsMax)) parts[parts.length - 1] = { low: last.low, high: part.high }
  else parts.push(part)
}

/** Rows on their way into one hash. */
class Run {
  rows = 0
  readonly #writer = new ByteWriter()

  hasRoom (row: Row): boolean {
    return this.rows === 0 || (this.rows < stretchRowsMax && this.#writer.length + rowBytes(row) <= stretchBytesMax)
  }

  add ({ key, value }: Row): void {
    this.#writer.bytes(key).bytes(value)
    this.rows++
  }

  async hash (): Promise<Uint8Array> {
    const { digest } = await sha256.digest(this.#writer.finish())
    return digest.subarray(0, hashBytes)
  }
}
