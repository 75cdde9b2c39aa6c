// find over whole simulated nodes against brute force: boxes, circles and polygons, words, pages and counts, from any node,
// at rest and while objects move and nodes come and go. Geometry here is plain comparisons and the law of cosines; random
// points lie on no edge.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import type { Extent } from '../../../overlay/space/extent.ts'
import type { Point } from '../../../overlay/space/point.ts'
import { assertServedTiles } from '../../../testnet/simulator/checkers/tiling.ts'
import { box, deadline, find, names, placeBoundaries, Ring, world } from './ring.ts'

interface Thing { readonly id: string, readonly point: Point, readonly words: readonly string[] }
interface Query { readonly extent: Extent, readonly words: readonly string[], readonly match: 'all' | 'any' }

const vocabulary = ['fire', 'water', 'north', 'old', 'bridge']
const radians = Math.PI / 180
const earthRadiusMeters = 6_371_008.8

function randomPoint (ring: Ring): Point {
  const [x, y] = [ring.random.next() * 360 - 180, ring.random.next() * 180 - 90]
  // half of them in one spot, as real places lie
  return ring.integer(2) === 0 ? [x, y] : [10 + x / 20, 45 + y / 20]
}

function randomThings (ring: Ring, count: number): Thing[] {
  return Array.from({ length: count }, (_, index) => ({ id: `o${index}`, point: randomPoint(ring), words: vocabulary.filter(() => ring.integer(3) === 0) }))
}

function randomExtent (ring: Ring): Extent {
  const [x, y] = randomPoint(ring)
  const kind = ring.integer(3)
  if (kind === 0) {
    const [width, height] = [ring.random.next() * 200, ring.random.next() * 60]
    const east = x + width
    return box(x, Math.max(-90, y - height), east > 180 ? east - 360 : east, Math.min(90, y + height))
  }
  if (kind === 1) return { kind: 'circle', center: [x, y], radiusMeters: 10 ** (4 + ring.random.next() * 2.5) }
  // a convex quadrilateral within bounds
  const [dx, dy] = [1 + ring.random.next() * 40, 1 + ring.random.next() * 30]
  const [cx, cy] = [Math.max(-130, Math.min(130, x)), Math.max(-55, Math.min(55, y))]
  const corners: Point[] = [[cx - dx, cy], [cx, cy - dy], [cx + dx * 0.9, cy], [cx, cy + dy * 0.8]]
  return { kind: 'polygon', rings: [[...corners, corners[0]!]] }
}

function inside (extent: Extent, [x, y]: Point): boolean {
  switch (extent.kind) {
    case 'box': return y >= extent.south && y <= extent.north && (extent.west <= extent.east ? x >= extent.west && x <= extent.east : x >= extent.west || x <= extent.east)
    case 'circle': {
      const [cx, cy] = extent.center
      const cosine = Math.sin(y * radians) * Math.sin(cy * radians) + Math.cos(y * radians) * Math.cos(cy * radians) * Math.cos((x - cx) * radians)
      return earthRadiusMeters * Math.acos(Math.max(-1, Math.min(1, cosine))) <= extent.radiusMeters
    }
    case 'polygon': return extent.rings[0]!.slice(0, -1).every(([ax, ay], index) => {
      const [bx, by] = extent.rings[0]![index + 1]!
      return (bx - ax) * (y - ay) - (by - ay) * (x - ax) >= 0
    })
  }
}

function expected (things: readonly Thing[], { extent, words, match }: Query): string[] {
  const fits = (of: readonly string[]): boolean => words.length === 0 || (match === 'all' ? words.every(word => of.includes(word)) : words.some(word => of.includes(word)))
  return things.filter(({ point, words }) => inside(extent, point) && fits(words)).map(({ id }) => id).sort()
}

function randomQuery (ring: Ring): Query {
  return { extent: randomExtent(ring), words: vocabulary.filter(() => ring.integer(4) === 0), match: ring.integer(2) === 0 ? 'all' : 'any' }
}

async function paged (ring: Ring, query: Query, limit: number, going?: ReadonlySet<string>): Promise<string[]> {
  const found: string[] = []
  let cursor: string | undefined
  do {
    const page = await ring.asker(going).node.storage.find(find(query.extent, { ...query, limit, cursor }), deadline)
    assert.equal(page.complete, true, JSON.stringify(page.missing))
    assert(page.records.length <= limit)
    found.push(...names(page))
    cursor = page.cursor
  } while (cursor !== undefined)
  return found
}

describe('find on a ring', () => {
  for (const [nodes, seed] of [[3, 1], [12, 2], [40, 3]] as const) {
    it(`gives what brute force gives, with words, pages and counts, over ${nodes} nodes (seed ${seed})`, async () => {
      const ring = await Ring.at(placeBoundaries(nodes), { seed })
      const things = randomThings(ring, 250)
      await ring.load(things, async ({ id, point, words }) => { await ring.putObject(id, point, words.join(' ')) })
      await ring.settle(ring.asker().node.storage.put({ collection: 'places', key: fromString('nowhere'), value: new Uint8Array(0), text: vocabulary.join(' ') }, deadline))
      for (let count = 0; count < 40; count++) {
        const query = randomQuery(ring)
        const whole = await ring.settle(ring.asker().node.storage.find(find(query.extent, query), deadline))
        assert.deepEqual([whole.complete, names(whole).sort()], [true, expected(things, query)], JSON.stringify(query))
        const limit = 1 + ring.integer(30)
        assert.deepEqual((await ring.settle(paged(ring, query, limit))).sort(), expected(things, query), JSON.stringify({ ...query, limit }))
        const counted = await ring.settle(ring.asker().node.storage.count(find(query.extent, query), deadline))
        assert.deepEqual([counted.complete, counted.count], [true, expected(things, query).length])
      }
      const all = await ring.settle(ring.asker().node.storage.find(find(world), deadline))
      assert.deepEqual([names(all).sort(), all.peers], [things.map(({ id }) => id).sort(), nodes], 'each node owns a part of the curve and answers once')
    })
  }

  for (const seed of [4, 5]) {
    it(`is exact for what stays while other objects move between owners and nodes join and leave (seed ${seed})`, async () => {
      const ring = await Ring.at(placeBoundaries(8), { seed })
      const things = randomThings(ring, 200)
      await ring.load(things, async ({ id, point, words }) => { await ring.putObject(id, point, words.join(' ')) })
      const movers = Array.from({ length: 12 }, (_, index) => `m${index}`)
      await ring.load(movers, async id => { await ring.putObject(id, randomPoint(ring)) })
      const staying = new Set(things.map(({ id }) => id))
      const { cluster } = ring
      const going = new Set(['n1', 'n2', 'n6'])
      const last = new Map<string, Point>()
      let isOver = false
      const changes = Promise.all([
        ...Array.from({ length: 6 }, async (_, index) => { await cluster.join(`j${index}`, { bootstrap: ['n0', 'n3', 'n7'] }) }),
        ...[...going].map(async name => { await cluster.leave(name, 120_000) })
      ]).then(() => { isOver = true })
      const read = async (): Promise<void> => {
        for (let count = 0; count < 12 || !isOver; count++) {
          const query = randomQuery(ring)
          const found = await paged(ring, query, 40 + ring.integer(400), going)
          assert.deepEqual(found.filter(id => staying.has(id)).sort(), expected(things, query), JSON.stringify(query))
        }
      }
      const readAll = async (): Promise<void> => {
        for (let count = 0; count < 8 || !isOver; count++) {
          const found = names(await ring.asker(going).node.storage.find(find(world), deadline)).sort()
          assert.deepEqual(found, [...staying, ...movers].sort(), 'each object once, those that move too')
        }
      }
      const move = async (id: string): Promise<void> => {
        while (!isOver) {
          const point = randomPoint(ring)
          await ring.putObject(id, point, undefined, ring.asker(going))
          last.set(id, point)
        }
      }
      await ring.settle(Promise.all([changes, read(), read(), readAll(), ...movers.map(move)]))
      assertServedTiles(cluster.nodes)
      await ring.pass(5000)
      const present = [...things, ...[...last].map(([id, point]) => ({ id, point, words: [] }))]
      assert.equal(last.size, movers.length)
      for (let count = 0; count < 20; count++) {
        const query = randomQuery(ring)
        assert.deepEqual((await ring.settle(paged(ring, query, 1000))).sort(), expected(present, query), JSON.stringify(query))
      }
    })
  }
})
