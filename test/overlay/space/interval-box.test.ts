// The box and the share of an interval against brute force over its cells, and the squares that make it up.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { curvePoint } from '../../../overlay/space/curve.ts'
import { holds } from '../../../overlay/space/extent.ts'
import { boxOfInterval, shareOfInterval, squaresOf } from '../../../overlay/space/interval-box.ts'
import { indexOf, lonLat, type Space } from '../../../overlay/space/space.ts'

const levels = 4
const plane: Space = { kind: 'planar', minX: 0, minY: 0, maxX: 16, maxY: 32 }

describe('an interval of the curve', () => {
  it('has the smallest box around its cells', () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 1, max: 256 }), (low, size) => {
      const high = Math.min(256, low + size)
      const cells = Array.from({ length: high - low }, (_, at) => curvePoint(low + at, levels))
      const columns = cells.map(cell => cell.column)
      const rows = cells.map(cell => cell.row)
      assert.deepEqual(boxOfInterval(plane, low, high, levels), {
        kind: 'box', west: Math.min(...columns), south: Math.min(...rows) * 2, east: Math.max(...columns) + 1, north: (Math.max(...rows) + 1) * 2
      })
    }), { numRuns: 500 })
  })

  it('falls into aligned squares that make it up in order, no four of which make a larger one', () => {
    for (let low = 0; low < 256; low += 7) {
      for (let high = low; high <= 256; high += 5) {
        let at = low
        for (const { column, row, side } of squaresOf(low, high, levels)) {
          assert.equal(at % (side * side), 0)
          for (let n = 0; n < side * side; n++) {
            const cell = curvePoint(at + n, levels)
            assert.ok(cell.column >= column && cell.column < column + side && cell.row >= row && cell.row < row + side)
          }
          if (at % (4 * side * side) === 0) assert.ok(at + 4 * side * side > high)
          at += side * side
        }
        assert.equal(at, high)
      }
    }
  })

  it('of everything is the world, of nothing has no box', () => {
    assert.deepEqual(boxOfInterval(lonLat, 0, 2 ** 52), { kind: 'box', west: -180, south: -90, east: 180, north: 90 })
    assert.equal(boxOfInterval(lonLat, 77, 77), undefined)
    assert.equal(shareOfInterval(0, 2 ** 52), 1)
    assert.equal(shareOfInterval(77, 77), 0)
    assert.equal(shareOfInterval(2 ** 50, 3 * 2 ** 50), 0.5)
  })

  it('has a box that holds the points indexed in it, at 180 and the poles too', () => {
    const point = fc.tuple(
      fc.oneof(fc.integer({ min: -1800, max: 1800 }).map(n => n / 10), fc.constantFrom(180, -180)),
      fc.oneof(fc.integer({ min: -900, max: 900 }).map(n => n / 10), fc.constantFrom(90, -90)))
    fc.assert(fc.property(point, fc.integer({ min: 0, max: 2 ** 30 }), fc.integer({ min: 1, max: 2 ** 30 }), (place, before, after) => {
      const at = indexOf(lonLat, place)
      const box = boxOfInterval(lonLat, Math.max(0, at - before), Math.min(2 ** 52, at + after))
      assert.ok(box !== undefined && holds(lonLat, box, place))
    }), { numRuns: 1_000 })
  })

  it('must lie on the curve', () => {
    for (const [low, high] of [[-1, 5], [5, 4], [0, 2 ** 52 + 2], [0.5, 1], [NaN, 1]] as const) {
      assert.throws(() => boxOfInterval(lonLat, low, high), RangeError)
      assert.throws(() => shareOfInterval(low, high), RangeError)
    }
  })
})
