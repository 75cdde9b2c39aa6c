// The step of every walk over an extent: the first place on the curve at or after an index whose cell meets the extent,
// and its mirror image, the last at or before. Down the Hilbert quad tree along the index while its cells meet, up to the
// nearest sibling beyond it that meets, and down into that one; at most 8 tests a level, no stack, no allocation.
// Source: Tornado's neighbor-based search carried over to a curve. It may name a cell too many, never one too few.

import { childAt, childQuadrant, childState, highHalf, lowHalf } from './curve.ts'
import type { Region } from './region.ts'

/** No cell meets. */
export const nowhere = -1

/**
 * @param index - integer in [0, 4^levels)
 * @param step - 1 for the first at or after index, -1 for the last at or before
 * @returns an index, or `nowhere`
 */
export function seek (region: Region, index: number, levels: number, step: 1 | -1): number {
  if (!region.meets(0, 0, 1 << levels)) return nowhere
  const high = highHalf(index)
  const low = lowHalf(index)
  let state = 0
  let column = 0
  let row = 0
  let start = 0
  let bit = levels - 1
  // down: as far as the cells around the index meet
  for (; bit >= 0; bit--) {
    const side = 1 << bit
    const own = childAt(high, low, bit)
    const quadrant = childQuadrant[state * 4 + own] as number
    const childColumn = column + (quadrant >> 1) * side
    const childRow = row + (quadrant & 1) * side
    if (!region.meets(childColumn, childRow, side)) break
    column = childColumn
    row = childRow
    start += own * side * side
    state = childState[state * 4 + own] as number
  }
  if (bit < 0) return index
  // up: until a sibling beyond the index meets
  for (; bit < levels; bit++) {
    const side = 1 << bit
    const own = childAt(high, low, bit)
    for (let child = own + step; child >= 0 && child <= 3; child += step) {
      const quadrant = childQuadrant[state * 4 + child] as number
      const childColumn = column + (quadrant >> 1) * side
      const childRow = row + (quadrant & 1) * side
      if (region.meets(childColumn, childRow, side)) return outermost(region, childState[state * 4 + child] as number, childColumn, childRow, start + child * side * side, bit, step)
    }
    if (bit + 1 === levels) break
    const parentOwn = childAt(high, low, bit + 1)
    column &= -(side * 4)
    row &= -(side * 4)
    start -= parentOwn * side * side * 4
    state = childState[state * 4 + parentOwn] as number // a step of the state undoes itself
  }
  return nowhere
}

/** The first (step 1) or last (step -1) place that meets, inside a cell with a side of 2^bit that does. */
function outermost (region: Region, state: number, column: number, row: number, start: number, bit: number, step: 1 | -1): number {
  while (bit > 0) {
    bit--
    const side = 1 << bit
    const cells = side * side
    let child = step === 1 ? 0 : 3
    while (child >= 0 && child <= 3) {
      const quadrant = childQuadrant[state * 4 + child] as number
      if (region.meets(column + (quadrant >> 1) * side, row + (quadrant & 1) * side, side)) break
      child += step
    }
    // a cell that met only by the slack of a rounded test: name its outermost place, so that nothing is skipped
    if (child < 0 || child > 3) return step === 1 ? start : start + 4 * cells - 1
    const quadrant = childQuadrant[state * 4 + child] as number
    column += (quadrant >> 1) * side
    row += (quadrant & 1) * side
    start += child * cells
    state = childState[state * 4 + child] as number
  }
  return start
}
