// The quantizer and its rules for 180, the poles and far edges, at the doubles where rounding shows.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { curveIndex } from '../../../overlay/space/curve.ts'
import { checkSpace, columnEdge, columnOf, indexOf, lonLat, pointColumn, rowEdge, rowOf, slackOf, type Space } from '../../../overlay/space/space.ts'

const last = 2 ** 26 - 1
const floor: Space = { kind: 'planar', minX: -3, minY: 10, maxX: 7, maxY: 10.5 }

describe('a space', () => {
  it('keeps the longitude just below 180 in the last column, although adding 180 rounds it to 360', () => {
    assert.equal(179.99999999999997 + 180, 360)
    assert.equal(columnOf(lonLat, 179.99999999999997), last)
    assert.equal(pointColumn(lonLat, [179.99999999999997, 0]), last)
  })

  it('indexes exactly 180 where -180 is', () => {
    assert.equal(pointColumn(lonLat, [180, 12]), 0)
    assert.equal(indexOf(lonLat, [180, 12]), indexOf(lonLat, [-180, 12]))
    assert.equal(columnOf(lonLat, 180), last, 'an edge of an extent at 180 is not wrapped')
  })

  it('indexes a pole at longitude 0 whatever longitude it was given', () => {
    const north = curveIndex(2 ** 25, last)
    const south = curveIndex(2 ** 25, 0)
    for (const longitude of [-180, -77.3, -0, 0, 135, 180]) {
      assert.equal(indexOf(lonLat, [longitude, 90]), north)
      assert.equal(indexOf(lonLat, [longitude, -90]), south)
    }
    assert.notEqual(indexOf(lonLat, [135, 89.99999999999999]), north)
    assert.equal(rowOf(lonLat, 89.99999999999999), last)
  })

  it('takes -0 for 0', () => {
    assert.equal(indexOf(lonLat, [-0, -0]), indexOf(lonLat, [0, 0]))
    assert.equal(columnOf(lonLat, 0), 2 ** 25)
    assert.equal(rowOf(lonLat, -0), 2 ** 25)
  })

  it('keeps points on the far edges of a plane in the last column and row', () => {
    assert.equal(columnOf(floor, 7), last)
    assert.equal(rowOf(floor, 10.5), last)
    assert.equal(columnOf(floor, -3), 0)
    assert.equal(rowOf(floor, 10), 0)
    assert.equal(columnOf(floor, 2), 2 ** 25)
    assert.equal(indexOf(floor, [7, 10.5]), curveIndex(last, last))
  })

  it('does not index what lies outside it', () => {
    for (const point of [[180.00000000000003, 0], [0, -90.00000000000001], [NaN, 0], [0, Infinity]] as const) assert.throws(() => indexOf(lonLat, point), RangeError)
    assert.throws(() => indexOf(floor, [7.000000000000001, 10]), RangeError)
  })

  it('quantizes monotonically, down to neighboring doubles', () => {
    const bits = new DataView(new ArrayBuffer(8))
    const after = (x: number): number => {
      bits.setFloat64(0, x)
      bits.setBigInt64(0, bits.getBigInt64(0) + (x >= 0 ? 1n : -1n))
      return x === 0 ? Number.MIN_VALUE : bits.getFloat64(0)
    }
    fc.assert(fc.property(fc.integer({ min: 0, max: last }), fc.integer({ min: -3, max: 3 }), (column, steps) => {
      let x = columnEdge(lonLat, column) + steps * 3e-14
      for (let n = 0; n < 8; n++) {
        const beyond = after(x)
        assert.ok(beyond > x && columnOf(lonLat, beyond) >= columnOf(lonLat, x))
        assert.ok(columnOf(floor, beyond / 36 + 2) >= columnOf(floor, x / 36 + 2))
        x = beyond
      }
    }), { numRuns: 2_000 })
  })

  it('has cells whose computed edges hold their points up to the stated slack', () => {
    const spaces: Space[] = [lonLat, floor, { kind: 'planar', minX: 1e15, minY: -1e-9, maxX: 1e15 + 1, maxY: 1e9 }]
    fc.assert(fc.property(fc.constantFrom(...spaces), fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }), (space, a, b) => {
      const x = columnEdge(space, 0) + (columnEdge(space, 2 ** 26) - columnEdge(space, 0)) * a
      const y = rowEdge(space, 0) + (rowEdge(space, 2 ** 26) - rowEdge(space, 0)) * b
      const slack = slackOf(space)
      const column = columnOf(space, x)
      const row = rowOf(space, y)
      assert.ok(x >= columnEdge(space, column) - slack.x && x <= columnEdge(space, column + 1) + slack.x)
      assert.ok(y >= rowEdge(space, row) - slack.y && y <= rowEdge(space, row + 1) + slack.y)
    }), { numRuns: 2_000 })
  })

  it('has exact cell edges on the globe', () => {
    assert.equal(columnEdge(lonLat, 2 ** 26), 180)
    assert.equal(columnEdge(lonLat, 2 ** 25 + 1), 360 / 2 ** 26)
    assert.equal(rowEdge(lonLat, 0), -90)
    assert.equal(rowEdge(lonLat, 2 ** 26), 90)
  })

  it('is checked when a user defines one', () => {
    assert.deepEqual(checkSpace({ kind: 'lonlat' }, 'extent'), lonLat)
    assert.deepEqual(checkSpace({ kind: 'planar', minX: -0, minY: 0, maxX: 1, maxY: 2 }, 'extent'), { kind: 'planar', minX: 0, minY: 0, maxX: 1, maxY: 2 })
    const plane = { kind: 'planar', minX: 0, minY: 0, maxX: 1, maxY: 1 }
    const bad: Array<[unknown, string]> = [
      [null, 'extent'], [undefined, 'extent'], ['lonlat', 'extent'], [{ kind: 'mercator' }, 'extent'],
      [{ ...plane, minX: NaN }, 'extent.minX'], [{ ...plane, maxX: Infinity }, 'extent.maxX'], [{ ...plane, maxY: '1' }, 'extent.maxY'], [{ ...plane, maxY: 1e101 }, 'extent.maxY'],
      [{ ...plane, maxX: 0 }, 'extent.maxX'], [{ ...plane, minY: 2 }, 'extent.maxY'], [{ ...plane, maxX: 1e-300 }, 'extent.maxX']
    ]
    for (const [value, field] of bad) assert.throws(() => checkSpace(value, 'extent'), { name: 'InvalidSpaceError', field, definite: true })
  })
})
