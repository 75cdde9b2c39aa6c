// Each Store passes the one suite: in memory, on disk, and as a part of either under a prefix.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLevelStore } from '../../node/level-store.ts'
import { prefixed } from '../../overlay/prefixed-store.ts'
import type { Store } from '../../overlay/store.ts'
import { MemoryStore } from '../../storage/memory-store.ts'
import { key, put, storeConformance } from './store.ts'
import type { StoreSetup } from './store.ts'

/** Prefixes as they are used, and the two whose part has no upper bound of its own length or none at all. */
const prefixes = [key(0x6f), key(0x6f, 0xff), key(0xff, 0xff)]

function memory (): StoreSetup {
  return { open: async () => new MemoryStore(), dispose: async () => {}, runs: 300 }
}

function level (): StoreSetup {
  const opened: Array<{ store: Store, directory: string }> = []
  return {
    async open () {
      const directory = await mkdtemp(join(tmpdir(), 'isobar-store-'))
      const store = await openLevelStore(directory)
      opened.push({ store, directory })
      return store
    },
    async dispose () {
      for (const { store, directory } of opened.splice(0)) {
        await store.close()
        await rm(directory, { recursive: true })
      }
    },
    runs: 40
  }
}

/** The part of a store under prefix, between rows of others that must not be seen. */
function partOf (setup: StoreSetup, prefix: Uint8Array): StoreSetup {
  return {
    ...setup,
    async open () {
      const store = await setup.open()
      await store.batch([put(key(), 1), put(key(0x6e, 0xff), 1), put(key(0x70), 1), put(key(0xff, 0xfe), 1)])
      return prefixed(store, prefix)
    }
  }
}

describe('conformance/store', () => {
  describe('in memory', () => { storeConformance(memory()) })
  describe('on disk', () => { storeConformance(level()) })
  for (const prefix of prefixes) {
    describe(`in memory under the prefix ${[...prefix].join('.')}`, () => { storeConformance(partOf(memory(), prefix)) })
  }
  describe('on disk under a prefix', () => { storeConformance(partOf(level(), key(0x6f))) })
})
