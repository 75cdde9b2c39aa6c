// find against brute force: boxes, circles and polygons, words, owners split anywhere on the curve, pages of any size.
// Whether a point lies in a box or a circle is decided here by plain comparisons and by the spherical law of cosines.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import type { Extent } from '../../../overlay/space/extent.ts'
import type { Point } from '../../../overlay/space/point.ts'
import { curveKey } from '../../../storage/records/key-layout.ts'
import type { FindRequest, PageAnswer } from '../../../storage/storage-api.ts'
import { deadline, FakeRing } from '../fake-ring.ts'

const idsOf = (answer: PageAnswer): string[] => answer.records.map(({ key }) => toString(key))
const box = (west: number, south: number, east: number, north: number): Extent => ({ kind: 'box', west, south, east, north })
const world = box(-180, -90, 180, 90)
const find = (extent: Extent, more: Partial<FindRequest> = {}): FindRequest => ({ collection: 'places', extent, words: [], match: 'all', limit: 1000, ...more })

async function store (ring: FakeRing, id: string, point: Point | undefined, text?: string): Promise<void> {
  await ring.run(ring.any.put({ collection: 'places', key: fromString(id), value: fromString(id), point, text }, deadline))
}

const quarters = [1, 2, 3].map(quarter => curveKey('places', quarter * 2 ** 50))

// Coordinates on a coarse grid, so that points meet edges, poles and the antimeridian.
const lon = fc.constantFrom(-180, -179.5, -120, -90, -0.5, 0, 0.5, 90, 120, 179.5, 180)
const lat = fc.constantFrom(-90, -89, -45, -0.5, 0, 0.5, 45, 89, 90)
const text = fc.subarray(['fire', 'water', 'north']).map(words => words.join(' '))
const objects = fc.array(fc.record({ point: fc.tuple(lon, lat), text }), { maxLength: 30 })
const cuts = fc.uniqueArray(fc.integer({ min: 1, max: 4095 }), { maxLength: 4 }).map(list => list.sort((a, b) => a - b).map(cut => curveKey('places', cut * 2 ** 40)))
const boxes = fc.tuple(lon, lat, lon, lat).map(([west, south, east, north]) => box(west, Math.min(south, north), east, Math.max(south, north)))

function inBox (extent: Extent, [x, y]: Point): boolean {
  assert(extent.kind === 'box')
  const { west, south, east, north } = extent
  if (!(y >= south && y <= north)) return false
  if (Math.abs(y) === 90) return true
  // A point at 180 is the same as one at -180.
  const spellings = Math.abs(x) === 180 ? [180, -180] : [x]
  return spellings.some(x => west <= east ? x >= west && x <= east : x >= west || x <= east)
}

describe('find', () => {
  it('gives what brute force gives, page after page, whoever owns what', async () => {
    const scenario = fc.record({
      objects,
      cuts,
      extent: boxes,
      words: fc.subarray(['Fire', 'NORTH', 'earth']),
      match: fc.constantFrom('all' as const, 'any' as const),
      pages: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 3 }),
      messageRowsMax: fc.integer({ min: 1, max: 5 }),
      scannedRowsMax: fc.integer({ min: 1, max: 20 })
    })
    await fc.assert(fc.asyncProperty(scenario, async ({ objects, cuts, extent, words, match, pages, messageRowsMax, scannedRowsMax }) => {
      const ring = new FakeRing({ boundaries: cuts, init: { messageRowsMax, scannedRowsMax, scanPageRows: 4 } })
      await ring.run(Promise.all(objects.map(async ({ point, text }, id) => {
        await ring.any.put({ collection: 'places', key: fromString(`${id}`), value: new Uint8Array(0), point, text }, deadline)
      })))
      const asked = words.map(word => word.toLowerCase())
      const wanted = objects.flatMap(({ point, text }, id) => {
        const has = (word: string): boolean => text.split(' ').includes(word)
        const fits = asked.length === 0 || (match === 'all' ? asked.every(has) : asked.some(has))
        return fits && inBox(extent, point) ? [`${id}`] : []
      })
      const got: string[] = []
      let cursor: string | undefined
      for (let page = 0; page < 100; page++) {
        const limit = pages[page % pages.length]!
        const answer = await ring.run(ring.nodes[page % ring.nodes.length]!.storage.find(find(extent, { words, match, limit, cursor }), deadline))
        assert.equal(answer.complete, true)
        assert(answer.records.length <= limit)
        got.push(...idsOf(answer))
        cursor = answer.cursor
        if (cursor === undefined) break
      }
      assert.equal(cursor, undefined)
      assert.deepEqual(got.sort(), wanted.sort())
      assert.equal((await ring.run(ring.any.count(find(extent, { words, match }), deadline))).count, wanted.length)
    }), { numRuns: 120 })
  })

  it('finds what lies in a circle and in a polygon', async () => {
    const ring = new FakeRing({ boundaries: quarters })
    const points: Array<[string, Point]> = []
    for (let x = -10; x <= 10; x += 2) for (let y = -10; y <= 10; y += 2) points.push([`${x},${y}`, [x, y]])
    for (const [id, point] of points) await store(ring, id, point)
    const radians = Math.PI / 180
    const meters = ([x, y]: Point): number => 6_371_008.8 * Math.acos(Math.min(1, Math.cos(y * radians) * Math.cos(x * radians)))
    const circle = await ring.run(ring.any.find(find({ kind: 'circle', center: [0, 0], radiusMeters: 700_000 }), deadline))
    assert.deepEqual(idsOf(circle).sort(), points.filter(([, point]) => meters(point) <= 700_000).map(([id]) => id).sort())
    const triangle: Extent = { kind: 'polygon', rings: [[[-10, -10], [10, -10], [0, 10], [-10, -10]]] }
    const inside = ([x, y]: Point): boolean => y >= -10 && 2 * Math.abs(x) <= 10 - y
    const polygon = await ring.run(ring.any.find(find(triangle), deadline))
    assert.deepEqual(idsOf(polygon).sort(), points.filter(([, point]) => inside(point)).map(([id]) => id).sort())
  })

  it('visits each owner that overlaps the extent once', async () => {
    const boundaries = Array.from({ length: 15 }, (_, i) => curveKey('places', (i + 1) * 2 ** 48))
    const ring = new FakeRing({ boundaries })
    ring.asked = []
    await ring.run(ring.any.find(find(world), deadline))
    const visited = ring.asked.map(({ node }) => node)
    assert.deepEqual(visited, Array.from({ length: 16 }, (_, i) => i))
    ring.asked = []
    // The south-western sixteenth is one aligned square, so one run of the curve: one owner.
    await ring.run(ring.any.find(find(box(-179, -89, -91, -46)), deadline))
    assert.equal(ring.asked.length, 1)
  })

  it('crosses the antimeridian where west exceeds east', async () => {
    const ring = new FakeRing({ boundaries: quarters })
    await store(ring, 'a', [179.5, 0])
    await store(ring, 'b', [-179.5, 0])
    await store(ring, 'c', [0, 0])
    for (const { storage } of ring.nodes) {
      assert.deepEqual(idsOf(await ring.run(storage.find(find(box(170, -10, -170, 10)), deadline))).sort(), ['a', 'b'])
    }
  })

  it('holds the poles', async () => {
    const ring = new FakeRing({ boundaries: quarters })
    await store(ring, 'pole', [0, -90])
    await store(ring, 'np', [135, 90])
    const found = async (extent: Extent): Promise<string[]> => idsOf(await ring.run(ring.any.find(find(extent), deadline)))
    assert.deepEqual(await found(box(-180, -90, 180, -85)), ['pole'])
    assert.deepEqual(await found(box(-180, 85, 180, 90)), ['np'])
    assert.deepEqual(await found(box(134, 89, 136, 90)), ['np'])
  })

  it('counts a point exactly on a boundary of owners once', async () => {
    // The middle of the curve begins at the corner of the north-east quarter: a cell whose corner is (0, 0).
    const ring = new FakeRing({ boundaries: quarters })
    for (const [id, point] of [['o', [0, 0]], ['w', [-1e-9, 0]], ['s', [0, -1e-9]]] as Array<[string, Point]>) await store(ring, id, point)
    assert.deepEqual(idsOf(await ring.run(ring.any.find(find(box(-1, -1, 1, 1)), deadline))).sort(), ['o', 's', 'w'])
    assert.deepEqual(idsOf(await ring.run(ring.any.find(find(box(0, 0, 0, 0)), deadline))), ['o'])
    assert.equal((await ring.run(ring.any.count(find(box(-1, -1, 1, 1)), deadline))).count, 3)
  })

  it('keeps many objects at one coordinate', async () => {
    const ring = new FakeRing({ boundaries: quarters })
    const ids = Array.from({ length: 500 }, (_, i) => `${i}`)
    await ring.run(Promise.all(ids.map(async id => await ring.any.put({ collection: 'places', key: fromString(id), value: fromString(id), point: [7, 7] }, deadline))))
    assert.deepEqual(idsOf(await ring.run(ring.any.find(find(box(7, 7, 7, 7)), deadline))).sort(), ids.sort())
  })

  it('knows no magic words', async () => {
    const ring = new FakeRing()
    const ask = find(world, { words: ['constructor'] })
    assert.deepEqual(idsOf(await ring.run(ring.any.find(ask, deadline))), [])
    await store(ring, '__proto__', [1, 1], 'constructor toString __proto__ hasOwnProperty')
    for (const word of ['constructor', '__proto__', 'hasownproperty']) {
      assert.deepEqual(idsOf(await ring.run(ring.any.find(find(world, { words: [word] }), deadline))), ['__proto__'])
    }
  })

  it('normalizes words on both sides', async () => {
    const ring = new FakeRing()
    await store(ring, 'coffee', [1, 1], 'Caf\u00e9 ＰＩＺＺＡ')
    await store(ring, 'tower', [139.7, 35.7], '东京塔')
    const found = async (...words: string[]): Promise<string[]> => idsOf(await ring.run(ring.any.find(find(world, { words }), deadline)))
    assert.deepEqual(await found('cafe\u0301', 'pizza'), ['coffee'])
    assert.deepEqual(await found('东京'), ['tower'])
    assert.deepEqual(await found('京东'), [])
  })

  it('takes no words for any object, and refuses words that are none', async () => {
    const ring = new FakeRing()
    await store(ring, 'a', [1, 1])
    assert.deepEqual(idsOf(await ring.run(ring.any.find(find(world), deadline))), ['a'])
    for (const words of [[''], ['   '], ['!!!'], ['fire', '']]) {
      await assert.rejects(ring.run(ring.any.find(find(world, { words }), deadline)), { name: 'InvalidRequestError', field: 'words' })
    }
  })

  it('does not find objects without a point, which are read and deleted by id', async () => {
    const ring = new FakeRing()
    await store(ring, 'nowhere', undefined, 'fire')
    assert.deepEqual(idsOf(await ring.run(ring.any.find(find(world), deadline))), [])
    const request = { collection: 'places', key: fromString('nowhere') }
    assert.equal((await ring.run(ring.any.get(request, deadline))).record?.text, 'fire')
    assert.equal((await ring.run(ring.any.delete(request, deadline))).deleted, true)
  })

  it('refuses bad extents and limits by field', async () => {
    const ring = new FakeRing()
    await assert.rejects(ring.run(ring.any.find(find(box(-207.2, -14.6, -36.2, 75)), deadline)), { name: 'InvalidSpaceError', field: 'extent.west' })
    await assert.rejects(ring.run(ring.any.find(find(world, { limit: -1 }), deadline)), { name: 'InvalidRequestError', field: 'limit' })
    await assert.rejects(ring.run(ring.any.find(find(world, { collection: 'kv' }), deadline)), { name: 'InvalidRequestError', field: 'collection' })
    await assert.rejects(ring.run(ring.any.find(find(world, { match: 'some' as 'any' }), deadline)), { name: 'InvalidRequestError', field: 'match' })
    await store(ring, 'a', [1, 1])
    await store(ring, 'b', [2, 2])
    const { cursor } = await ring.run(ring.any.find(find(world, { limit: 1 }), deadline))
    await assert.rejects(ring.run(ring.any.find(find(box(0, 0, 3, 3), { cursor }), deadline)), { name: 'InvalidRequestError', field: 'cursor' })
  })

  it('names an owner that is silent and goes on behind it', async () => {
    const ring = new FakeRing({ boundaries: quarters })
    await ring.run(Promise.all(([[-90, -45], [-90, 45], [90, 45], [90, -45]] as Point[]).map(async point => {
      await ring.any.put({ collection: 'places', key: fromString(`${point}`), value: fromString('x'), point }, deadline)
    })))
    ring.silent.add(1)
    const answer = await ring.run(ring.any.find(find(world), deadline))
    assert.equal(answer.records.length, 3)
    assert.deepEqual([answer.complete, answer.missing.map(({ peer, reason }) => [peer, reason])], [false, [['node 1', 'unreachable']]])
  })
})
