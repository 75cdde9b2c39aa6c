// Where joiners come to stand: an empty space is shared evenly, records are halved, and nobody is kept out because much
// of what is there cannot be cut.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { curveIndexOf, collectionPrefix, collectionInterval, isWholeIndex, orderedKey } from '../../storage/records/key-layout.ts'
import { compareHighs, compareKeys, holdsKey, intersect } from '../../overlay/interval.ts'
import { assertServedTiles } from '../../testnet/simulator/checkers/tiling.ts'
import { Cluster } from '../../testnet/simulator/cluster.ts'
import { prepareRing } from '../../testnet/simulator/prepared-ring.ts'

const deadline = { deadlineMs: 30_000 }
const curveLength = 2 ** 52
const places = collectionInterval('places')
const prefixBytes = collectionPrefix('places').length

/** Of each node its share of the curve of `places`, in order of keys; nodes without any are left out. */
function shares (cluster: Cluster): number[] {
  const runs = [...cluster.nodes.values()].flatMap(({ ownership }) => ownership!.runs().map(run => run.interval)).sort((a, b) => compareKeys(a.low, b.low))
  return runs.flatMap(run => {
    const part = intersect(run, places)
    if (part === undefined) return []
    const low = curveIndexOf(part.low, prefixBytes)
    const high = compareHighs(part.high, places.high) === 0 ? curveLength : curveIndexOf(part.high!, prefixBytes)
    return [(high - low) / curveLength]
  })
}

async function put (cluster: Cluster, key: string, bytes: number): Promise<void> {
  await cluster.get('n0').node.storage.put({ collection: 'kv', key: fromString(key), value: new Uint8Array(bytes) }, deadline)
}

describe('joiners', () => {
  it('share an empty space in eighths when seven come one after the other', async () => {
    const cluster = new Cluster({ seed: 1, overlay: { copies: 1 } })
    await cluster.settle(cluster.join('n0', { founding: 'now' }))
    for (let index = 1; index < 8; index++) await cluster.settle(cluster.join(`n${index}`, { bootstrap: ['n0'] }))
    assert.deepEqual(shares(cluster), Array.from({ length: 8 }, () => 1 / 8))
    assertServedTiles(cluster.nodes)
  })

  it('all get a part of the curve when seven come at once, none less than a 32nd', async () => {
    for (const seed of [2, 3, 4]) {
      const cluster = new Cluster({ seed, overlay: { copies: 1 } })
      await cluster.settle(cluster.join('n0', { founding: 'now' }))
      await cluster.settle(Promise.all([1, 2, 3, 4, 5, 6, 7].map(async index => await cluster.join(`n${index}`, { bootstrap: ['n0'] }))))
      const parts = shares(cluster)
      assert.equal(parts.length, 8)
      assert.equal(parts.reduce((sum, part) => sum + part, 0), 1)
      assert(Math.min(...parts) >= 1 / 32, `seed ${seed}: ${parts.join(' ')}`)
      assertServedTiles(cluster.nodes)
    }
  })

  it('halve the records where there are many', async () => {
    const cluster = new Cluster({ seed: 5, overlay: { copies: 1 } })
    await cluster.settle(cluster.join('n0', { founding: 'now' }))
    const keys = Array.from({ length: 800 }, (_, number) => number.toString().padStart(4, '0'))
    await cluster.settle(Promise.all(keys.map(async key => { await put(cluster, key, 1000) })))
    for (let index = 1; index < 4; index++) await cluster.settle(cluster.join(`n${index}`, { bootstrap: ['n0'] }))
    const counts = [...cluster.nodes.values()].map(({ ownership }) => keys.filter(key => ownership!.runs().some(run => holdsKey(run.interval, orderedKey('kv', fromString(key))))).length)
    assert.equal(counts.reduce((sum, count) => sum + count, 0), 800)
    for (const count of counts) assert(Math.abs(count - 200) <= 8, `records by node: ${counts.join(' ')}`)
  })

  it('come in though each node that they ask holds only a few small records', async () => {
    // every node but the last owns a part of kv with less than a page of rows, and no part of any curve
    const cluster = new Cluster({ seed: 6, overlay: { copies: 1 } })
    const boundaries = Array.from({ length: 19 }, (_, index) => orderedKey('kv', fromString(`${(index + 1) * 5}`.padStart(3, '0'))))
    for (const { name, store } of await cluster.settle(prepareRing(boundaries, () => 0.5))) await cluster.settle(cluster.start(name, { store }))
    await cluster.settle(Promise.all(Array.from({ length: 100 }, async (_, number) => { await put(cluster, `${number}`.padStart(3, '0'), 900) })))
    await cluster.settle(Promise.all(Array.from({ length: 10 }, async (_, index) => await cluster.join(`j${index}`, { bootstrap: ['n0'] }))))
    assert(cluster.world.now() < 60_000)
    assertServedTiles(cluster.nodes)
    const { records } = await cluster.settle(cluster.get('j3').node.storage.range({ collection: 'kv', keysOnly: true, limit: 1000 }, deadline))
    assert.deepEqual(records.map(({ key }) => Number(toString(key))), Array.from({ length: 100 }, (_, number) => number))
  })

  it('never cut a curve index', async () => {
    const cluster = new Cluster({ seed: 7, overlay: { copies: 1 } })
    await cluster.settle(cluster.join('n0', { founding: 'now' }))
    const { storage } = cluster.get('n0').node
    await cluster.settle(Promise.all(Array.from({ length: 300 }, async (_, number) => {
      await storage.put({ collection: 'places', key: fromString(`${number}`), value: new Uint8Array(100), point: [number % 3, number % 2] }, deadline)
    })))
    await cluster.settle(Promise.all([1, 2, 3, 4, 5, 6].map(async index => await cluster.join(`n${index}`, { bootstrap: ['n0'] }))))
    for (const { ownership } of cluster.nodes.values()) {
      for (const { interval: { low } } of ownership!.runs()) if (holdsKey(places, low)) assert(isWholeIndex(low, prefixBytes))
    }
    const { count } = await cluster.settle(cluster.get('n4').node.storage.count({ collection: 'places', extent: { kind: 'box', west: -180, south: -90, east: 180, north: 90 }, words: [], match: 'all', limit: 0 }, deadline))
    assert.equal(count, 300)
  })

  it('leave a giver that falls silent in the middle, and come in elsewhere', async () => {
    for (const pausedAfterMs of [40, 80, 120, 160, 200, 300]) {
      const cluster = new Cluster({ seed: pausedAfterMs, overlay: { copies: 1 } })
      await cluster.settle(cluster.join('n0', { founding: 'now' }))
      await cluster.settle(cluster.join('n1', { bootstrap: ['n0'] }))
      for (let key = 0; key < 50; key++) await cluster.settle(put(cluster, `${key}`, 1000))
      const joining = cluster.join('j', { bootstrap: ['n1'] })
      await cluster.run({ untilMs: cluster.world.now() + pausedAfterMs })
      cluster.world.pause('n0')
      await cluster.settle(joining)
      assert(cluster.world.now() < 60_000, `paused after ${pausedAfterMs} ms, it came in at ${cluster.world.now()} ms only`)
    }
  })
})
