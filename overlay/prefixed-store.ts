// A part of a store: the keys that begin with a prefix, seen without it. So registers of ownership and records lie in
// one store and, by `operation`, in one batch: store.batch([registers.operation(a), records.operation(b)]) is flushed
// whole or not at all. The store belongs to whoever opened it: closing a part closes nothing but the part.

import { concat } from 'uint8arrays/concat'
import { StoreError } from './errors.ts'
import { prefixInterval } from './interval.ts'
import type { Interval, Key } from './interval.ts'
import type { Operation, Row, Snapshot, Store } from './store.ts'

export interface PrefixedStore extends Store {
  /** An operation on this part as one on the whole store. */
  operation (operation: Operation): Operation
}

/** The keys of store that begin with prefix, without it. An open end of an interval is the end of the part. Errors as of store. */
export function prefixed (store: Store, prefix: Key): PrefixedStore {
  const part = prefixInterval(prefix)
  let isClosed = false

  const whole = (key: Key): Key => concat([prefix, key])
  const wholeInterval = ({ low, high }: Interval): Interval => ({ low: whole(low), high: high === undefined ? part.high : whole(high) })
  const operation = (given: Operation): Operation => ({ ...given, key: whole(given.key) })
  const open = (): Store => {
    if (isClosed) throw new StoreError('this part of the store is closed')
    return store
  }

  return {
    operation,
    getSync: key => open().getSync(whole(key)),
    snapshot: () => withoutPrefix(open().snapshot(), wholeInterval, prefix.length),
    batch: async operations => await open().batch(operations.map(operation)),
    clear: async interval => await open().clear(wholeInterval(interval)),
    approximateSize: async interval => await open().approximateSize(wholeInterval(interval)),
    close: async () => {
      if (isClosed) return
      isClosed = true
      await store.batch([]) // in its turn: resolves when what was given before is flushed
    }
  }
}

function withoutPrefix (snapshot: Snapshot, wholeInterval: (interval: Interval) => Interval, prefixBytes: number): Snapshot {
  const cut = ({ key, value }: Row): Row => ({ key: key.subarray(prefixBytes), value })
  return {
    async * pages (interval, options) {
      for await (const page of snapshot.pages(wholeInterval(interval), options)) yield page.map(cut)
    },
    close: () => { snapshot.close() }
  }
}
