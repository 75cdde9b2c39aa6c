// The count of records under writes: a recount from a snapshot must neither miss nor double what is being flushed just
// then. The model counts distinct keys.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import { everything } from '../../../overlay/interval.ts'
import { MemoryStore } from '../../../storage/memory-store.ts'
import { Random } from '../../../testnet/simulator/random.ts'
import { FakeRing, deadline } from '../fake-ring.ts'

/** Puts distinct and repeated keys for a while; a recount begins in the middle of it and none comes after. */
async function countWhileWriting (seed: number): Promise<{ counted: number, keys: number }> {
  const random = new Random(seed, 'census')
  const ring: FakeRing = new FakeRing({ seed, storeOf: () => slowDisk(() => ring, random), init: { recountMs: 1 } })
  const { storage } = ring.nodes[0]!
  await ring.world.run({ untilMs: ring.world.now() + 100 })
  const keys = new Set<string>()
  const puts: Array<Promise<unknown>> = []
  for (let round = 0; round < 10; round++) {
    for (let count = 0; count < 10; count++) {
      const key = `${random.uint32() % 300}`
      keys.add(key)
      puts.push(storage.put({ collection: 'kv', key: fromString(key), value: new Uint8Array(1) }, deadline))
    }
    if (round === 5) storage.holdings.gained(everything)
    await ring.world.run({ untilMs: ring.world.now() + 2 })
  }
  await ring.world.settle(Promise.all(puts))
  return { counted: storage.counts.ordered, keys: keys.size }
}

/** Between a flush and its word there is time for a snapshot. */
function slowDisk (ring: () => FakeRing, random: Random): MemoryStore {
  const sleep = async (msMax: number): Promise<void> => { await ring().nodes[0]!.host.sleep(random.next() * msMax) }
  const store = new MemoryStore(async () => { await sleep(3) })
  const batch = store.batch.bind(store)
  store.batch = async operations => {
    await batch(operations)
    await sleep(3)
  }
  return store
}

describe('the census', () => {
  it('counts each record once when a recount meets batches that are being flushed', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const { counted, keys } = await countWhileWriting(seed)
      assert.equal(counted, keys, `seed ${seed}`)
    }
  })
})
