// Covers and seeks against brute force: on small curves every cell and every index is tried; at full depth no point that
// the exact filter holds may be missed, and none of the places that a seek skips may hold one.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { coverExtent, nextInside, prepare, prevInside, type PreparedExtent } from '../../../overlay/space/cover.ts'
import { distanceBetween } from '../../../overlay/space/distance.ts'
import { checkExtent, type Circle, type Extent } from '../../../overlay/space/extent.ts'
import type { Point } from '../../../overlay/space/point.ts'
import { curvePoint } from '../../../overlay/space/curve.ts'
import { indexOf, lonLat, type Space } from '../../../overlay/space/space.ts'

const plane: Space = { kind: 'planar', minX: -7, minY: 100, maxX: 3, maxY: 117 }
const length = 2 ** 52

/** A value of [min, max], often one where something may go wrong. */
const along = (min: number, max: number, special: number[]): fc.Arbitrary<number> => fc.oneof(
  fc.double({ min, max, noNaN: true }),
  fc.integer({ min: 0, max: 16 }).map(n => min + (max - min) * n / 16),
  fc.constantFrom(min, max, ...special))
const longitude = along(-180, 180, [0, -0, 179.99999999999997, -179.99999999999997])
const latitude = along(-90, 90, [0, -0, 89.99999999999999, -89.99999999999999])
const place = fc.tuple(longitude, latitude)
const planePlace = fc.tuple(along(-7, 3, [0]), along(100, 117, [110]))

const boxOf = (space: Space, [[a, b], [c, d]]: [Point, Point]): Extent => ({
  kind: 'box',
  west: space.kind === 'lonlat' ? a : Math.min(a, c),
  south: Math.min(b, d),
  east: space.kind === 'lonlat' ? c : Math.max(a, c),
  north: Math.max(b, d)
})
const boxes = fc.oneof(fc.tuple(place, place), place.map((p): [Point, Point] => [p, p]), fc.tuple(place, latitude).map(([p, y]): [Point, Point] => [p, [p[0], y]])).map(corners => boxOf(lonLat, corners))
const planeBoxes = fc.tuple(planePlace, planePlace).map(corners => boxOf(plane, corners))
const circles = fc.tuple(place, fc.oneof(fc.double({ min: 1, max: 2.1e7, noNaN: true }), fc.integer({ min: -3, max: 7 }).map(n => 10 ** n)))
  .map(([center, radiusMeters]): Circle => ({ kind: 'circle', center, radiusMeters }))
const planeCircles = fc.tuple(planePlace, fc.double({ min: 1e-6, max: 15, noNaN: true })).map(([center, radiusMeters]): Circle => ({ kind: 'circle', center, radiusMeters }))

/** Triangles, stars and slivers around a place, over 180 where it comes so; those that are refused are left out. */
const polygons = fc.tuple(place, fc.double({ min: 1e-4, max: 60, noNaN: true }), fc.array(fc.tuple(fc.double({ min: -1, max: 1, noNaN: true }), fc.double({ min: -1, max: 1, noNaN: true })), { minLength: 3, maxLength: 9 }))
  .map(([[lon, lat], size, around]): Extent | undefined => {
    const ring = around.map(([dx, dy]): Point => {
      const x = lon + dx * size
      return [x > 180 ? x - 360 : x < -180 ? x + 360 : x, Math.max(-90, Math.min(90, lat + dy * size))]
    })
    try {
      return checkExtent(lonLat, { kind: 'polygon', rings: [[...ring, ring[0]]] }, 'p')
    } catch {
      return undefined
    }
  }).filter(extent => extent !== undefined)

/** The set of all places that next() names, having checked that next and prev agree with it from every index. */
function placesOf (prepared: PreparedExtent, cells: number): Set<number> {
  const set = new Set<number>()
  for (let at = prepared.next(0); at !== undefined; at = prepared.next(at + 1)) set.add(at)
  let ahead: number | undefined
  for (let at = cells - 1; at >= 0; at--) {
    if (set.has(at)) ahead = at
    assert.equal(prepared.next(at), ahead)
  }
  let behind: number | undefined
  for (let at = 0; at < cells; at++) {
    if (set.has(at)) behind = at
    assert.equal(prepared.prev(at), behind)
  }
  assert.deepEqual([...prepared.intervals({ cellsMax: Infinity })].flatMap(([low, high]) => Array.from({ length: high - low }, (_, n) => low + n)), [...set])
  return set
}

describe('a cover on a small curve', () => {
  const levels = 4
  const edges = Array.from({ length: 17 }, (_, n) => n / 16)
  /** Coordinates at and just below each edge of a cell, and those given. */
  const candidates = (min: number, max: number, more: number[]): number[] =>
    [...edges.flatMap(share => [min + (max - min) * share, min + (max - min) * (share - 1e-13), min + (max - min) * (share + 0.03)]), ...more].filter(x => x >= min && x <= max)

  for (const [name, space, extents] of [['the globe', lonLat, boxes], ['a plane', plane, planeBoxes]] as const) {
    it(`of a box on ${name} is exactly the cells in which a point of the box can be indexed`, () => {
      const [minX, maxX, minY, maxY] = space.kind === 'lonlat' ? [-180, 180, -90, 90] as const : [-7, 3, 100, 117] as const
      fc.assert(fc.property(extents, extent => {
        assert.ok(extent.kind === 'box')
        const prepared = prepare(space, extent, levels)
        const expected = new Set<number>()
        for (const x of candidates(minX, maxX, [extent.west, extent.east, 0])) {
          for (const y of candidates(minY, maxY, [extent.south, extent.north])) if (prepared.holds([x, y])) expected.add(indexOf(space, [x, y], levels))
        }
        assert.deepEqual([...placesOf(prepared, 4 ** levels)], [...expected].sort((a, b) => a - b))
      }), { numRuns: 150 })
    })
  }

  it('of a circle misses no cell and names none that lies beside it', () => {
    const spacingMeters = 180 / 16 / 20 * 111_200
    fc.assert(fc.property(circles, extent => {
      const set = placesOf(prepare(lonLat, extent, levels), 4 ** levels)
      for (let index = 0; index < 4 ** levels; index++) {
        const { column, row } = curvePoint(index, levels)
        let nearest = Infinity
        for (let n = 0; n <= 40; n++) {
          for (let m = 0; m <= 20; m++) {
            if (n % 40 !== 0 && m % 20 !== 0) continue
            nearest = Math.min(nearest, distanceBetween(lonLat, extent.center, [-180 + (column + n / 40) * 22.5, -90 + (row + m / 20) * 11.25]))
          }
        }
        if (indexOf(lonLat, extent.center, levels) === index) nearest = 0
        if (nearest <= extent.radiusMeters) assert.ok(set.has(index), `cell ${column}, ${row} at ${nearest} m`)
        if (nearest > extent.radiusMeters + spacingMeters) assert.ok(!set.has(index), `cell ${column}, ${row} at ${nearest} m`)
      }
    }), { numRuns: 25 })
  })

  it('of a triangle in a plane is the cells that clipping leaves something of', () => {
    fc.assert(fc.property(planePlace, planePlace, planePlace, (a, b, c) => {
      const area = Math.abs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
      fc.pre(area > 1e-6)
      const set = placesOf(prepare(plane, checkExtent(plane, { kind: 'polygon', rings: [[a, b, c, a]] }, 'p'), levels), 4 ** levels)
      for (let index = 0; index < 4 ** levels; index++) {
        const { column, row } = curvePoint(index, levels)
        const shrunk = clip([a, b, c], column, row, -1e-9)
        const grown = clip([a, b, c], column, row, 1e-9)
        if (shrunk) assert.ok(set.has(index))
        if (!grown) assert.ok(!set.has(index))
      }
    }), { numRuns: 150 })
  })

  /** Whether a convex polygon meets a cell of the plane widened by `margin`, by clipping it side by side. */
  function clip (polygon: Point[], column: number, row: number, margin: number): boolean {
    const sides: Array<[0 | 1, 1 | -1, number]> = [
      [0, 1, -7 + column * 10 / 16 - margin], [0, -1, -7 + (column + 1) * 10 / 16 + margin],
      [1, 1, 100 + row * 17 / 16 - margin], [1, -1, 100 + (row + 1) * 17 / 16 + margin]]
    let rest = polygon
    for (const [axis, sign, bound] of sides) {
      const depth = (p: Point): number => sign * (p[axis] - bound)
      rest = rest.flatMap((p, at): Point[] => {
        const q = rest[(at + 1) % rest.length] as Point
        const [dp, dq] = [depth(p), depth(q)]
        const share = dp / (dp - dq)
        const crossing: Point[] = dp * dq < 0 ? [[p[0] + (q[0] - p[0]) * share, p[1] + (q[1] - p[1]) * share]] : []
        return dp >= 0 ? [p, ...crossing] : crossing
      })
    }
    return rest.length > 0
  }

  it('of a polygon over 180 or at a pole misses no point of a fine grid', () => {
    fc.assert(fc.property(polygons, extent => {
      const prepared = prepare(lonLat, extent, levels)
      const set = placesOf(prepared, 4 ** levels)
      for (let x = -180; x <= 180; x += 3.75) {
        for (let y = -90; y <= 90; y += 3.75) if (prepared.holds([x, y])) assert.ok(set.has(indexOf(lonLat, [x, y], levels)))
      }
    }), { numRuns: 60 })
  })
})

describe('a cover at full depth', () => {
  const index = fc.tuple(fc.integer({ min: 0, max: 2 ** 26 - 1 }), fc.integer({ min: 0, max: 2 ** 26 - 1 })).map(([high, low]) => high * 2 ** 26 + low)
  const share = fc.double({ min: 0, max: 1, noNaN: true })

  /** Points near the border of an extent and in it, most of them held. */
  function pointsIn (extent: Extent, a: number, b: number): Point[] {
    const clamp = (x: number, y: number): Point => [x > 180 ? x - 360 : x < -180 ? x + 360 : x, Math.max(-90, Math.min(90, y))]
    if (extent.kind === 'box') {
      const width = extent.east - extent.west + (extent.west > extent.east ? 360 : 0)
      const inner = clamp(extent.west + width * a, extent.south + (extent.north - extent.south) * b)
      return [[extent.west, extent.south], [extent.east, extent.north], [extent.west, inner[1]], [extent.east, inner[1]], [inner[0], extent.south], [inner[0], extent.north], inner, [inner[0], 90], [inner[0], -90], [180, inner[1]], [-180, inner[1]]]
    }
    if (extent.kind === 'circle') {
      // the end of a great circle arc from the center, a little shorter than the radius, and its middle
      return [1 - 1e-9, 1 - 1e-12, 0.5, b].map(part => {
        const angle = Math.min(Math.PI, extent.radiusMeters / 6_371_008.8) * part
        const [f, t] = [extent.center[1] * Math.PI / 180, a * 2 * Math.PI]
        const y = Math.asin(Math.max(-1, Math.min(1, Math.sin(f) * Math.cos(angle) + Math.cos(f) * Math.sin(angle) * Math.cos(t))))
        const x = Math.atan2(Math.sin(t) * Math.sin(angle) * Math.cos(f), Math.cos(angle) - Math.sin(f) * Math.sin(y))
        return clamp(extent.center[0] + x * 180 / Math.PI, y * 180 / Math.PI)
      }).concat([extent.center, [a * 360 - 180, 90], [a * 360 - 180, -90], [180, extent.center[1]]])
    }
    return extent.rings.flatMap(ring => ring.flatMap((p, at): Point[] => {
      const q = ring[(at + 1) % ring.length] as Point
      const short = q[0] - p[0] > 180 ? q[0] - 360 : q[0] - p[0] < -180 ? q[0] + 360 : q[0]
      return [p, clamp(p[0] + (short - p[0]) * a, p[1] + (q[1] - p[1]) * a), [a * 360 - 180, p[1]], [-p[0], p[1]], [p[0], b * 180 - 90]]
    }))
  }

  for (const [name, extents] of [['box', boxes], ['circle', circles], ['polygon', polygons]] as const) {
    it(`of a ${name} misses no point that the exact filter holds, from any index, at any fineness`, () => {
      let held = 0
      fc.assert(fc.property(extents, share, share, index, (extent, a, b, start) => {
        const prepared = prepare(lonLat, extent)
        const covers = [1, 40, 300].map(cellsMax => [...prepared.intervals({ cellsMax })])
        for (const point of pointsIn(extent, a, b)) {
          if (!prepared.holds(point)) continue
          held++
          const place = indexOf(lonLat, point)
          assert.equal(prepared.next(place), place, `next at ${point.join()}`)
          assert.equal(prepared.prev(place), place, `prev at ${point.join()}`)
          if (start <= place) assert.ok((prepared.next(start) as number) <= place)
          else assert.ok((prepared.prev(start) as number) >= place)
          for (const cover of covers) assert.equal(cover.filter(([low, high]) => low <= place && place < high).length, 1)
        }
      }), { numRuns: 200 })
      assert.ok(held > 400, `${held} points were held`)
    })

    it(`of a ${name} skips no place that meets it, and ends where nothing follows`, () => {
      fc.assert(fc.property(extents, index, share, (extent, start, part) => {
        const prepared = prepare(lonLat, extent)
        const next = prepared.next(start)
        const end = next ?? length
        const between = start + Math.floor((end - start) * part)
        assert.ok(end >= start)
        assert.equal(prepared.next(between), next)
        if (between < end) assert.equal(prepared.prev(between), prepared.prev(start))
        if (next !== undefined) assert.equal(prepared.prev(next), next)
      }), { numRuns: 300 })
    })

    it(`of a ${name} is ascending, disjoint, not adjacent, and within its bound`, () => {
      fc.assert(fc.property(extents, fc.constantFrom(1, 2, 7, 100, 1_000), (extent, cellsMax) => {
        const cover = [...coverExtent(lonLat, extent, { cellsMax })]
        assert.ok(cover.length >= 1 && cover.length <= cellsMax)
        let last = -1
        for (const [low, high] of cover) {
          assert.ok(low > last && high > low && high <= length)
          last = high
        }
      }), { numRuns: 60 })
    })
  }

  it('of a circle in a plane misses no point near its border', () => {
    fc.assert(fc.property(planeCircles, share, share, (extent, turn, part) => {
      const prepared = prepare(plane, extent)
      for (const radius of [extent.radiusMeters, extent.radiusMeters * part]) {
        const x = Math.max(-7, Math.min(3, extent.center[0] + radius * Math.cos(turn * 2 * Math.PI)))
        const y = Math.max(100, Math.min(117, extent.center[1] + radius * Math.sin(turn * 2 * Math.PI)))
        if (!prepared.holds([x, y])) continue
        assert.equal(prepared.next(indexOf(plane, [x, y])), indexOf(plane, [x, y]))
      }
    }), { numRuns: 1_000 })
  })

  it('of one point is one cell, of the world the whole curve', () => {
    for (const point of [[0, 0], [180, 0], [-180, -45], [179.99999999999997, 12], [12.5, 90], [-180, -90]] as const) {
      const at = indexOf(lonLat, point)
      const cover = [...coverExtent(lonLat, { kind: 'box', west: point[0], south: point[1], east: point[0], north: point[1] })]
      assert.deepEqual(cover, [[at, at + 1]])
    }
    assert.deepEqual([...coverExtent(lonLat, { kind: 'box', west: -180, south: -90, east: 180, north: 90 })], [[0, length]])
    assert.deepEqual([...coverExtent(lonLat, { kind: 'circle', center: [1, 2], radiusMeters: 2.1e7 })], [[0, length]])
  })

  it('of a meridian at 180 is column 0 under all its names', () => {
    const names = [[180, 180], [180, -180], [-180, -180]].map(([west, east]) => prepare(lonLat, { kind: 'box', west: west as number, south: -60, east: east as number, north: 60 }))
    for (const start of [0, 1e15, 2e15, 4e15]) {
      const [first, ...others] = names.map(prepared => prepared.next(start))
      for (const other of others) assert.equal(other, first)
      if (first !== undefined) assert.equal(curvePoint(first).column, 0)
    }
  })

  it('finds the wide part of a circle near a pole: 64 degrees of longitude away at latitude 85 and 500 km', () => {
    const prepared = prepare(lonLat, { kind: 'circle', center: [0, 85], radiusMeters: 500_000 })
    for (const longitude of [64, -64]) {
      const at = indexOf(lonLat, [longitude, 87.81])
      assert.equal(prepared.next(at), at)
    }
    const beside = indexOf(lonLat, [64.2, 87.81])
    assert.notEqual(prepared.next(beside), beside)
  })

  it('of a part of the curve is clipped to it, spends its cells there, and misses no point in it', () => {
    fc.assert(fc.property(fc.oneof(boxes, circles, polygons), index, index, share, share, (extent, i, j, a, b) => {
      const [low, high] = [Math.min(i, j), Math.max(i, j)]
      const prepared = prepare(lonLat, extent)
      const cover = [...prepared.intervals({ low, high, cellsMax: 30 })]
      assert.ok(cover.length <= 30)
      for (const [from, to] of cover) assert.ok(from >= low && to <= high && from < to)
      for (const point of pointsIn(extent, a, b)) {
        const place = indexOf(lonLat, point)
        if (prepared.holds(point)) assert.equal(cover.some(([from, to]) => from <= place && place < to), low <= place && place < high)
      }
      assert.deepEqual([...prepared.intervals({ low, high: low })], [])
    }), { numRuns: 200 })
    // a square degree's part of a wide circle's border comes out finer than the whole border does
    const circle = prepare(lonLat, { kind: 'circle', center: [0, 0], radiusMeters: 5e6 })
    const at = circle.next(0) as number
    const size = (intervals: Iterable<[number, number]>): number => [...intervals].reduce((sum, [from, to]) => sum + Math.max(0, Math.min(to, at + 2 ** 36) - from), 0)
    assert.ok(size(circle.intervals({ low: at, high: at + 2 ** 36, cellsMax: 100 })) < size([[at, at + 2 ** 36]]))
    assert.throws(() => circle.intervals({ low: 5, high: 4 }), RangeError)
  })

  it('can be read lazily where it has millions of intervals', () => {
    const cover = coverExtent(lonLat, { kind: 'circle', center: [10, 50], radiusMeters: 1e6 }, { cellsMax: Infinity })
    const first = cover.next().value as [number, number]
    const second = cover.next().value as [number, number]
    assert.ok(first[1] < second[0])
  })

  it('is asked from one before the curve to one after it, and nowhere else', () => {
    const extent: Extent = { kind: 'box', west: 0, south: 0, east: 1, north: 1 }
    assert.equal(nextInside(lonLat, extent, -1), nextInside(lonLat, extent, 0))
    assert.equal(nextInside(lonLat, extent, length), undefined)
    assert.equal(prevInside(lonLat, extent, length), prevInside(lonLat, extent, length - 1))
    assert.equal(prevInside(lonLat, extent, -1), undefined)
    for (const bad of [NaN, 0.5, -2, length + 1, Infinity]) {
      assert.throws(() => nextInside(lonLat, extent, bad), RangeError)
      assert.throws(() => prevInside(lonLat, extent, bad), RangeError)
    }
    for (const bad of [0, NaN, -1]) assert.throws(() => coverExtent(lonLat, extent, { cellsMax: bad }), RangeError)
  })
})

it('a walk by next() visits every owner whose cells meet the extent once, in order, and no other', () => {
  const levels = 5
  const cells = 4 ** levels
  const bounds = fc.uniqueArray(fc.integer({ min: 1, max: cells - 1 }), { minLength: 1, maxLength: 60 }).map(list => [0, ...list.sort((a, b) => a - b), cells])
  fc.assert(fc.property(bounds, fc.oneof(boxes, circles, polygons), (list, extent) => {
    const prepared = prepare(lonLat, extent, levels)
    const visited: number[] = []
    for (let at = prepared.next(0); at !== undefined;) {
      const start = at
      const owner = list.findLastIndex(low => low <= start)
      visited.push(owner)
      at = prepared.next(list[owner + 1] as number)
    }
    const overlapping = list.slice(0, -1).flatMap((low, owner) => {
      for (let at = low; at < (list[owner + 1] as number); at++) if (prepared.next(at) === at) return [owner]
      return []
    })
    assert.deepEqual(visited, overlapping)
  }), { numRuns: 100 })
})
