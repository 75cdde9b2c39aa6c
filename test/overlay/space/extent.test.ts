// What users send as an extent and must not, and the exact filter on places worked out by hand: the antimeridian, the
// poles, zero-area boxes, circles near a pole, polygons over 180 and around it.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { checkExtent, holds, polygonVerticesMax, type Box, type Extent } from '../../../overlay/space/extent.ts'
import type { Point } from '../../../overlay/space/point.ts'
import { lonLat, type Space } from '../../../overlay/space/space.ts'

const plane: Space = { kind: 'planar', minX: 0, minY: 0, maxX: 100, maxY: 50 }
const box = (west: number, south: number, east: number, north: number): Box => ({ kind: 'box', west, south, east, north })
const polygon = (...rings: number[][][]): Extent => checkExtent(lonLat, { kind: 'polygon', rings }, 'polygon')
const square = [[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]

const held = (extent: Extent, points: number[][]): void => {
  for (const point of points) assert.equal(holds(lonLat, extent, point as unknown as Point), true, `${JSON.stringify(extent)} holds ${point.join()}`)
}
const notHeld = (extent: Extent, points: number[][]): void => {
  for (const point of points) assert.equal(holds(lonLat, extent, point as unknown as Point), false, `${JSON.stringify(extent)} does not hold ${point.join()}`)
}

describe('an extent given by a user', () => {
  it('comes back as it was given', () => {
    for (const extent of [box(170, -10, -170, 10), box(180, 0, 180, 0), box(-180, -90, 180, 90), { kind: 'circle', center: [0, 90], radiusMeters: 1e9 }, { kind: 'polygon', rings: [square] }]) {
      assert.deepEqual(checkExtent(lonLat, extent, 'extent'), extent)
    }
  })

  const circle = { kind: 'circle', center: [0, 0], radiusMeters: 1 }
  const many = Array.from({ length: polygonVerticesMax + 1 }, (_, at) => [at / 100, (at % 2) + 1])
  const cases: Array<[string, Space, unknown, string, RegExp]> = [
    ['null', lonLat, null, 'bbox', /null is no extent/],
    ['a kind of its own', lonLat, { kind: 'blob' }, 'bbox', /expected a box, a circle or a polygon/],
    ['a missing side', lonLat, { kind: 'box', west: 0, south: 0, east: 1 }, 'bbox.north', /latitude undefined is not a number/],
    ['a longitude outside', lonLat, box(-207.2, -14.6, -36.2, 75), 'bbox.west', /longitude -207.2 is outside \[-180, 180\]/],
    ['a latitude outside', lonLat, box(0, 0, 1, 90.1), 'bbox.north', /latitude 90.1 is outside \[-90, 90\]/],
    ['NaN', lonLat, box(0, NaN, 1, 1), 'bbox.south', /latitude NaN/],
    ['a string', lonLat, { ...box(0, 0, 1, 1), east: '1' }, 'bbox.east', /longitude "1" is not a number/],
    ['south above north', lonLat, box(0, 10, 1, 5), 'bbox.south', /10 exceeds north 5; the order is west, south, east, north/],
    ['swapped corners in a plane', plane, box(10, 0, 5, 1), 'bbox.west', /10 exceeds east 5; a plane does not wrap/],
    ['a side outside a plane', plane, box(0, 0, 101, 1), 'bbox.east', /x 101 is outside \[0, 100\]/],
    ['a center outside', lonLat, { ...circle, center: [33.5, -112.2] }, 'bbox.center[1]', /latitude -112.2.*\[lon, lat\]/],
    ...[0, -1, NaN, Infinity, '5', null, undefined].map((radius): [string, Space, unknown, string, RegExp] =>
      [`a radius of ${String(radius)}`, lonLat, { ...circle, radiusMeters: radius }, 'bbox.radiusMeters', /is not a finite number above 0/]),
    ['no rings', lonLat, { kind: 'polygon', rings: [] }, 'bbox.rings', /one or more rings/],
    ['rings that are no list', lonLat, { kind: 'polygon', rings: 'x' }, 'bbox.rings', /one or more rings/],
    ['a ring that is no list', lonLat, { kind: 'polygon', rings: [7] }, 'bbox.rings[0]', /at least 4 points/],
    ['too few vertices', lonLat, { kind: 'polygon', rings: [square, [[1, 1], [2, 2], [1, 1]]] }, 'bbox.rings[1]', /at least 4 points, the last equal to the first/],
    ['too many vertices', lonLat, { kind: 'polygon', rings: [[...many, many[0]]] }, 'bbox.rings', /more than 1000 vertices/],
    ['an unclosed ring', lonLat, { kind: 'polygon', rings: [square.slice(0, 4)] }, 'bbox.rings[0]', /not closed: it begins at \[0,0\] and ends at \[0,10\]/],
    ['a bad vertex', lonLat, { kind: 'polygon', rings: [[[0, 0], [1, null], [1, 1], [0, 0]]] }, 'bbox.rings[0][1][1]', /latitude null/],
    ['no area', lonLat, { kind: 'polygon', rings: [[[0, 0], [1, 1], [2, 2], [0, 0]]] }, 'bbox.rings[0]', /no area/],
    ['one place', lonLat, { kind: 'polygon', rings: [[[5, 5], [5, 5], [5, 5], [5, 5]]] }, 'bbox.rings[0]', /no area/],
    ['a belt that the short way folds up', lonLat, { kind: 'polygon', rings: [[[-180, -60], [180, -60], [180, 60], [-180, 60], [-180, -60]]] }, 'bbox.rings[0]', /no area.*short way over 180; put vertices between/],
    ['a pole inside', lonLat, { kind: 'polygon', rings: [[[0, 60], [90, 60], [180, 60], [-90, 60], [0, 60]]] }, 'bbox.rings[0]', /goes around a pole; carry it along latitude 90 or -90.*or use a circle/],
    ['a pole inside, the other way', lonLat, { kind: 'polygon', rings: [[[0, -60], [-90, -60], [180, -60], [90, -60], [0, -60]]] }, 'bbox.rings[0]', /goes around a pole/]
  ]
  for (const [what, space, value, field, message] of cases) {
    it(`is refused for ${what}, naming ${field}`, () => {
      assert.throws(() => checkExtent(space, value, 'bbox'), { name: 'InvalidSpaceError', field, message })
    })
  }

  it('may have as many vertices as the bound says', () => {
    const ring = [...many.slice(0, polygonVerticesMax), many[0]]
    assert.equal(checkExtent(lonLat, { kind: 'polygon', rings: [ring] }, 'p').kind, 'polygon')
  })
})

describe('a box', () => {
  it('with west above east crosses 180 and is never the complement', () => {
    held(box(170, -10, -170, 10), [[179.5, 0], [-179.5, 0], [180, 0], [-180, 0], [170, -10], [-170, 10]])
    notHeld(box(170, -10, -170, 10), [[0, 0], [169.99999999999997, 0], [-169.99999999999997, 0]])
  })

  it('has inclusive edges at both names of 180', () => {
    for (const extent of [box(170, -1, 180, 1), box(-180, -1, -170, 1), box(180, 0, 180, 0), box(180, 0, -180, 0), box(-180, 0, -180, 0), box(170, 0, -180, 0), box(180, 0, -170, 0), box(-180, 0, 180, 0)]) held(extent, [[180, 0], [-180, 0]])
    for (const extent of [box(180, 0, 180, 0), box(180, 0, -180, 0), box(-180, 0, -180, 0)]) notHeld(extent, [[179.99999999999997, 0], [-179.99999999999997, 0], [0, 0]])
    held(box(-180, 0, 180, 0), [[0, 0], [179.99999999999997, 0]])
  })

  it('that reaches a pole holds it at any longitude, and nothing else beside its longitudes', () => {
    held(box(134, 89, 136, 90), [[135, 90], [0, 90], [-180, 90], [135, 89]])
    held(box(-180, -90, 180, -85), [[0, -90], [77, -90]])
    notHeld(box(134, 89, 136, 90), [[0, 89.99999999999999], [0, -90]])
    notHeld(box(134, 89, 136, 89.99999999999999), [[135, 90]])
  })

  it('with no area is a line or a point', () => {
    held(box(5, 5, 5, 5), [[5, 5]])
    notHeld(box(5, 5, 5, 5), [[5, 5.000000000000001]])
    held(box(5, -90, 5, 90), [[5, 0], [17, 90]])
    held(box(0, 0, 0, 0), [[-0, -0]])
  })
})

describe('a circle', () => {
  it('near a pole is as wide as asin(sin r / cos lat), 64.1 degrees at latitude 85 and 500 km', () => {
    const circle: Extent = { kind: 'circle', center: [0, 85], radiusMeters: 500_000 }
    // the meridian at the half width touches the circle at latitude asin(sin 85 / cos r) = 87.81
    held(circle, [[64, 87.81], [-64, 87.81], [0, 80.51], [0, 89.49]])
    notHeld(circle, [[64.2, 87.81], [-64.2, 87.81], [0, 80.5], [0, 89.5], [0, 90], [180, 89.9]])
  })

  it('goes over the pole and over 180', () => {
    held({ kind: 'circle', center: [20, 89], radiusMeters: 200_000 }, [[20, 88], [-160, 89.3], [0, 90]])
    held({ kind: 'circle', center: [179.9, 0], radiusMeters: 50_000 }, [[-179.8, 0], [180, 0], [-180, 0]])
    notHeld({ kind: 'circle', center: [179.9, 0], radiusMeters: 50_000 }, [[-179.6, 0], [0, 0]])
  })

  it('of half the circumference is the world', () => {
    const circle: Extent = { kind: 'circle', center: [12, 34], radiusMeters: 20_015_200 }
    held(circle, [[12, 34], [-168, -34], [0, 90], [0, -90], [180, 0]])
  })

  it('in a plane has the plane\'s unit and an inclusive edge', () => {
    const circle = checkExtent(plane, { kind: 'circle', center: [3, 4], radiusMeters: 5 }, 'circle')
    assert.equal(holds(plane, circle, [0, 0]), true)
    assert.equal(holds(plane, circle, [0, 8.000000000000002]), false)
  })
})

describe('a polygon', () => {
  it('holds its edges and vertices, and not its holes but their edges', () => {
    const holed = polygon(square, [[2, 2], [2, 8], [8, 8], [8, 2], [2, 2]])
    held(holed, [[0, 0], [10, 10], [5, 0], [10, 5], [1, 1], [2, 5], [8, 8], [5, 9]])
    notHeld(holed, [[5, 5], [2.0000000000000004, 5], [10.000000000000002, 5], [-1e-300, 5], [5, -5e-324]])
  })

  it('does not care for the direction or the start of its rings', () => {
    const ring = square.slice(0, 4)
    for (let start = 0; start < 4; start++) {
      const turned = [...ring.slice(start), ...ring.slice(0, start), ring[start] as number[]]
      for (const rings of [[turned], [turned.toReversed()]]) {
        held(polygon(...rings), [[5, 5], [0, 3], [10, 10]])
        notHeld(polygon(...rings), [[11, 5], [-5, 0], [180, 5], [5, 90]])
      }
    }
  })

  it('crosses 180 by the short way, whichever name the meridian has in its vertices', () => {
    const rings = [
      [[170, -10], [-170, -10], [-170, 10], [170, 10], [170, -10]],
      [[170, -10], [180, -10], [-180, -10], [-170, -10], [-170, 10], [-180, 10], [180, 10], [170, 10], [170, -10]],
      [[170, -10], [180, -10], [-170, -10], [-170, 10], [-180, 10], [170, 10], [170, -10]],
      [[180, -10], [-170, -10], [-170, 10], [180, 10], [170, 10], [170, -10], [180, -10]]
    ]
    const points = fc.tuple(
      fc.oneof(fc.double({ min: -180, max: 180, noNaN: true }), fc.constantFrom(170, -170, 180, -180, 179.99999999999997, 169.99999999999997, -169.99999999999997)),
      fc.oneof(fc.double({ min: -12, max: 12, noNaN: true }), fc.constantFrom(-10, 10, 0, 10.000000000000002)))
    const oracle = (lon: number, lat: number): boolean => Math.abs(lon) >= 170 && Math.abs(lat) <= 10
    for (const ring of rings) {
      for (const given of [ring, ring.toReversed()]) {
        const extent = polygon(given)
        fc.assert(fc.property(points, point => { assert.equal(holds(lonLat, extent, point), oracle(...point)) }), { numRuns: 300 })
      }
    }
  })

  it('that ends at 180 holds that meridian by its other name', () => {
    held(polygon([[170, 0], [180, 5], [170, 10], [170, 0]]), [[-180, 5], [180, 5], [175, 5]])
    notHeld(polygon([[170, 0], [180, 5], [170, 10], [170, 0]]), [[-180, 5.000000000000001], [-179.99999999999997, 5]])
    held(polygon([[-170, 0], [-180, 0], [-180, 10], [-170, 10], [-170, 0]]), [[180, 3], [-180, 0]])
  })

  it('takes a pole in when it runs along it, as one edge or many, and holds it at any longitude', () => {
    const cap = [[-180, 60], [-90, 60], [0, 60], [90, 60], [180, 60]]
    for (const way of [[[180, 90], [-180, 90]], [[180, 90], [90, 90], [0, 90], [-90, 90], [-180, 90]]]) {
      const extent = polygon([...cap, ...way, [-180, 60]])
      held(extent, [[0, 90], [123, 90], [0, 60], [-180, 75], [180, 75], [45, 89.99]])
      notHeld(extent, [[0, 59.9], [180, -75], [0, -90]])
    }
    const world = polygon([[-180, -90], [180, -90], [180, 90], [-180, 90], [-180, -90]])
    held(world, [[0, 0], [-180, 0], [180, 0], [0, 90], [50, -90], [179.99999999999997, 89]])
  })

  it('touches a pole and crosses 180 at once', () => {
    const extent = polygon([[170, 80], [-170, 80], [-170, 90], [170, 90], [170, 80]])
    held(extent, [[180, 85], [175, 85], [-175, 89.9], [0, 90]])
    notHeld(extent, [[0, 85], [169.9, 85], [-169.9, 85], [180, 79.9]])
  })

  it('goes along a pole the way that brings its ring back', () => {
    // 340 degrees wide, back along the pole by one edge whose short way would close a ring around the pole
    const wide = polygon([[-170, 60], [-90, 60], [0, 60], [90, 60], [170, 60], [170, 90], [-170, 90], [-170, 60]])
    held(wide, [[0, 75], [169, 89], [-170, 60], [12, 90]])
    notHeld(wide, [[175, 75], [180, 89], [-175, 61]])
    // 20 degrees wide over 180, with both names of the meridian side by side on the pole
    const narrow = polygon([[170, 80], [180, 80], [-170, 80], [-170, 90], [-180, 90], [180, 90], [170, 90], [170, 80]])
    held(narrow, [[175, 85], [-175, 85], [180, 89], [0, 90]])
    notHeld(narrow, [[0, 85], [169, 85], [-169, 85]])
  })

  it('leaves no crack beside a neighbor along a slanted edge: a point is in one, or in both and on the edge', () => {
    const a: Point = [0.1, 0.2]
    const b: Point = [9.7, 7.3]
    const upper = polygon([[...a], [...b], [0.1, 9], [...a]])
    const lower = polygon([[...a], [...b], [9.7, 0], [...a]])
    let both = 0
    fc.assert(fc.property(fc.double({ min: 0.001, max: 0.999, noNaN: true }), fc.integer({ min: -2, max: 2 }), (share, ulps) => {
      const x = a[0] + (b[0] - a[0]) * share
      const y = a[1] + (b[1] - a[1]) * share + ulps * 2 ** -51
      const inside = [upper, lower].map(extent => holds(lonLat, extent, [x, y]))
      assert.ok(inside[0] || inside[1])
      if (inside[0] && inside[1]) both++
    }), { numRuns: 2_000 })
    assert.ok(both < 100, `${both} of 2,000 random doubles near a line cannot lie on it`)
    held(upper, [[...a], [...b]])
    held(lower, [[...a], [...b]])
  })

  it('in a plane ends at its bounds, 180 being a number like any other', () => {
    const wide: Space = { kind: 'planar', minX: -1000, minY: -1000, maxX: 1000, maxY: 1000 }
    const extent = checkExtent(wide, { kind: 'polygon', rings: [[[-500, -500], [180, -500], [180, 500], [-500, 500], [-500, -500]]] }, 'p')
    for (const [x, y, inside] of [[180, 90, true], [180.00000000000003, 90, false], [-500, 500, true], [-180, 90, true], [700, 90, false], [0, -90, true]] as const) {
      assert.equal(holds(wide, extent, [x, y]), inside)
    }
    const right = checkExtent(wide, { kind: 'polygon', rings: [[[150, -10], [180, 0], [150, 10], [150, -10]]] }, 'p')
    assert.equal(holds(wide, right, [-180, 0]), false)
  })
})
