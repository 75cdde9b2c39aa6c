// The Hilbert curve against its definition: a bijection whose steps are steps on the grid, by brute force on small curves
// and by its own property (neighbors) at full depth.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { curveIndex, curveLength, curveLevels, curvePoint } from '../../../overlay/space/curve.ts'

describe('the Hilbert curve', () => {
  it('has the four cells of its first level in the order of a U that opens downwards', () => {
    const order = [0, 1, 2, 3].map(index => curvePoint(index, 1))
    assert.deepEqual(order, [{ column: 0, row: 0 }, { column: 0, row: 1 }, { column: 1, row: 1 }, { column: 1, row: 0 }])
  })

  for (const levels of [1, 2, 3, 6]) {
    it(`visits each of the ${4 ** levels} cells of ${levels} levels once, each beside the last`, () => {
      const seen = new Set<string>()
      let last: { column: number, row: number } | undefined
      for (let index = 0; index < 4 ** levels; index++) {
        const cell = curvePoint(index, levels)
        assert.equal(curveIndex(cell.column, cell.row, levels), index)
        assert.ok(cell.column >= 0 && cell.row >= 0 && cell.column < 2 ** levels && cell.row < 2 ** levels)
        if (last !== undefined) assert.equal(Math.abs(cell.column - last.column) + Math.abs(cell.row - last.row), 1)
        seen.add(`${cell.column} ${cell.row}`)
        last = cell
      }
      assert.equal(seen.size, 4 ** levels)
    })
  }

  const coordinate = fc.oneof(fc.integer({ min: 0, max: 2 ** 26 - 1 }), fc.constantFrom(0, 1, 2 ** 13, 2 ** 25 - 1, 2 ** 25, 2 ** 26 - 1))

  it('gives back the cell of any index at full depth, where indices pass 2^31 and 2^32', () => {
    fc.assert(fc.property(coordinate, coordinate, (column, row) => {
      const index = curveIndex(column, row)
      assert.ok(Number.isSafeInteger(index) && index >= 0 && index < 2 ** 52)
      assert.deepEqual(curvePoint(index), { column, row })
    }), { numRuns: 2_000 })
  })

  it('steps to a cell beside it at full depth, also over the seams of the two halves of an index', () => {
    const index = fc.oneof(fc.maxSafeInteger().map(n => Math.abs(n) % (2 ** 52 - 1)), fc.integer({ min: 1, max: 2 ** 26 - 1 }).map(n => n * 2 ** 26 - 1), fc.constantFrom(0, 2 ** 31 - 1, 2 ** 32 - 1, 2 ** 52 - 2))
    fc.assert(fc.property(index, at => {
      const a = curvePoint(at)
      const b = curvePoint(at + 1)
      assert.equal(Math.abs(a.column - b.column) + Math.abs(a.row - b.row), 1)
    }), { numRuns: 2_000 })
  })

  it('has no gap between depths: a cell\'s index shortened by two bits a level is its parent\'s', () => {
    fc.assert(fc.property(coordinate, coordinate, fc.integer({ min: 1, max: 26 }), (column, row, depth) => {
      const shift = curveLevels - depth
      // the first state depends on nothing, so the curve of fewer levels is the same curve seen from farther away
      assert.equal(Math.floor(curveIndex(column, row) / 4 ** shift), curveIndex(column >> shift, row >> shift, depth))
    }), { numRuns: 1_000 })
  })

  it('begins at the lower left corner and ends at the lower right', () => {
    assert.deepEqual(curvePoint(0), { column: 0, row: 0 })
    assert.deepEqual(curvePoint(2 ** 52 - 1), { column: 2 ** 26 - 1, row: 0 })
    assert.equal(curveLength(), 2 ** 52)
  })

  it('refuses cells and indices that are not on it', () => {
    for (const bad of [-1, 2 ** 26, 0.5, NaN, Infinity]) {
      assert.throws(() => curveIndex(bad, 0), RangeError)
      assert.throws(() => curveIndex(0, bad), RangeError)
    }
    for (const bad of [-1, 2 ** 52, 0.5, NaN, Infinity]) assert.throws(() => curvePoint(bad), RangeError)
  })
})
