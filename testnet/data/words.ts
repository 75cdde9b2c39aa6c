// English words in order, from the package an-array-of-english-words: 274,937 keys of a to z for an ordered collection, uneven
// by nature (31,208 begin with s, 306 with x). They are keys here and have nothing to do with the word rule of storage/.
import { requirePackage } from './source.ts'
import type { LoadOptions, OrderedRow } from './row.ts'

/**
 * key = the word, value = its place in the list, from 0; so a reader can tell a wrong or missing row.
 *
 * @throws DataError when the package is not installed
 */
export async function * words (options: LoadOptions = {}): AsyncGenerator<OrderedRow> {
  const list = requirePackage('an-array-of-english-words', '2.0.0') as string[]
  for (const [value, key] of list.entries()) {
    options.signal?.throwIfAborted()
    yield { key, value }
  }
}
