// Rows as they come, and what the answer says at their end. The end is known when the rows are over: read to the last,
// given up by the reader, or failed. A stream that nobody reads asks nothing of anybody.

import type { ReadEnd, RowStream, StoredRecord } from '../storage-api.ts'
import type { OwnerWalk } from './owner-walk.ts'

/**
 * @param begin - makes the walk when the first row is asked for
 * @param recordsOf - a page's rows as records
 */
export function rowStream<Row> (begin: () => Promise<OwnerWalk<Row>>, recordsOf: (page: readonly Row[]) => readonly StoredRecord[]): RowStream {
  const end = Promise.withResolvers<ReadEnd>()
  end.promise.catch(() => {}) // whoever reads the rows is told of the error; the end may interest nobody
  async function * rows (): AsyncGenerator<StoredRecord> {
    let walk: OwnerWalk<Row> | undefined
    try {
      walk = await begin()
      for await (const page of walk.pages()) yield * recordsOf(page)
    } catch (error) {
      end.reject(error)
      throw error
    } finally {
      if (walk !== undefined) end.resolve(walk.end())
    }
  }
  return { rows: rows(), end: end.promise }
}
