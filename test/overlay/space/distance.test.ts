// The distance against arcs known by arithmetic and against the angle of vectors.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { distanceBetween, earthRadiusMeters } from '../../../overlay/space/distance.ts'
import type { Point } from '../../../overlay/space/point.ts'
import { lonLat } from '../../../overlay/space/space.ts'

const near = (actual: number, expected: number, within: number): void => assert.ok(Math.abs(actual - expected) <= within, `${actual} is not ${expected} within ${within}`)

describe('the distance on the globe', () => {
  it('is the arc of a stated sphere', () => {
    const degree = Math.PI * 6_371_008.8 / 180
    near(distanceBetween(lonLat, [0, 0], [0, 1]), degree, 1e-8)
    near(distanceBetween(lonLat, [0, 0], [90, 0]), degree * 90, 1e-8)
    near(distanceBetween(lonLat, [12, 34], [-168, -34]), degree * 180, 1e-8)
    near(distanceBetween(lonLat, [10, 80], [-170, 80]), degree * 20, 1e-8)
    near(distanceBetween(lonLat, [179.5, 0], [-179.5, 0]), degree, 1e-8)
  })

  it('resolves a nanodegree beside a point and beside the point opposite to it', () => {
    const nano = 1e-9 * Math.PI * earthRadiusMeters / 180
    near(distanceBetween(lonLat, [0, 0], [1e-9, 0]), nano, nano * 1e-6)
    near(Math.PI * earthRadiusMeters - distanceBetween(lonLat, [0, 0], [180, 1e-9]), nano, 1e-8)
  })

  it('does not see the longitude of a pole, nor the two names of the meridian 180', () => {
    for (const longitude of [-180, -5, 0, 123.4, 180]) {
      assert.equal(distanceBetween(lonLat, [longitude, 90], [31, 12]), distanceBetween(lonLat, [0, 90], [31, 12]))
    }
    assert.equal(distanceBetween(lonLat, [180, 5], [31, 12]), distanceBetween(lonLat, [-180, 5], [31, 12]))
  })

  it('is the same both ways, zero for one place, and that of the vectors\' angle', () => {
    const point: fc.Arbitrary<Point> = fc.tuple(fc.double({ min: -180, max: 180, noNaN: true }), fc.double({ min: -90, max: 90, noNaN: true }))
    const vector = ([lon, lat]: Point): number[] => {
      const l = lon * Math.PI / 180
      const f = lat * Math.PI / 180
      return [Math.cos(f) * Math.cos(l), Math.cos(f) * Math.sin(l), Math.sin(f)]
    }
    fc.assert(fc.property(point, point, (a, b) => {
      const distance = distanceBetween(lonLat, a, b)
      assert.equal(distance, distanceBetween(lonLat, b, a))
      assert.equal(distanceBetween(lonLat, a, a), 0)
      const [u, v] = [vector(a), vector(b)]
      const chord = Math.hypot(...u.map((part, at) => part - (v[at] as number)))
      const sum = Math.hypot(...u.map((part, at) => part + (v[at] as number)))
      near(distance, 2 * earthRadiusMeters * Math.atan2(chord, sum), 1e-7)
    }), { numRuns: 1_000 })
  })
})

it('the distance in a plane is straight and in its own unit', () => {
  assert.equal(distanceBetween({ kind: 'planar', minX: 0, minY: 0, maxX: 10, maxY: 10 }, [1, 2], [4, 6]), 5)
})
