// What users send as a point and must not: each with the field and the words of the refusal.
import assert from 'node:assert/strict'
import { checkPoint } from '../../../overlay/space/point.ts'
import { lonLat, type Space } from '../../../overlay/space/space.ts'

describe('a point given by a user', () => {
  it('comes back as it was given, at the bounds too', () => {
    for (const point of [[0, 0], [-180, -90], [180, 90], [179.99999999999997, -89.99999999999999]]) assert.deepEqual(checkPoint(lonLat, point, 'location'), point)
  })

  it('loses the sign of a negative zero', () => {
    assert.ok(Object.is(checkPoint(lonLat, [-0, -0], 'location')[0], 0))
  })

  const bad: Array<[unknown, string, RegExp]> = [
    [null, 'location', /null is no point; expected \[lon, lat\]/],
    [undefined, 'location', /expected \[lon, lat\]/],
    ['1,2', 'location', /"1,2" is no point/],
    [{ lon: 1, lat: 2 }, 'location', /expected \[lon, lat\]/],
    [[], 'location', /two numbers/],
    [[0], 'location', /\[0\] is no point/],
    [[1, 2, 3], 'location', /\[1,2,3\] is no point/],
    [[null, 0], 'location[0]', /longitude null is not a number; the order is \[lon, lat\]/],
    [['1', 2], 'location[0]', /longitude "1" is not a number/],
    [[1, 2n], 'location[1]', /latitude bigint is not a number/],
    [[NaN, 0], 'location[0]', /longitude NaN is outside \[-180, 180\]; the order is \[lon, lat\]/],
    [JSON.parse('[1e999, 0]'), 'location[0]', /longitude Infinity is outside/],
    [[1e300, 0], 'location[0]', /longitude 1e\+300 is outside/],
    [[-207.2, 0], 'location[0]', /longitude -207.2 is outside/],
    [[33.5, -112.2], 'location[1]', /latitude -112.2 is outside \[-90, 90\]; the order is \[lon, lat\]/],
    [[180.00000000000003, 0], 'location[0]', /outside/],
    [[0, 90.00000000000001], 'location[1]', /outside/]
  ]
  for (const [value, field, message] of bad) {
    it(`is refused with its field and the reason: ${message.source}`, () => {
      assert.throws(() => checkPoint(lonLat, value, 'location'), { name: 'InvalidSpaceError', field, message })
    })
  }

  it('is held against the bounds of a plane, in the order x, y', () => {
    const floor: Space = { kind: 'planar', minX: 0, minY: 200, maxX: 100, maxY: 300 }
    assert.deepEqual(checkPoint(floor, [100, 200], 'at'), [100, 200])
    assert.throws(() => checkPoint(floor, [200, 100], 'at'), { field: 'at[0]', message: /x 200 is outside \[0, 100\]; the order is \[x, y\]/ })
  })
})
