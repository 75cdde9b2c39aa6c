// The Hilbert curve: it strings the cells of a square grid on one line, so that cells next to each other on the line are
// next to each other on the map, and every aligned square of 4^k cells is one unbroken run.
// Source: D. Hilbert 1891; here as a machine of four states. A state says how the basic U lies: bit 0 "axes swapped",
// bit 1 "turned by half"; both commute, so a child's state is the parent's xor a constant of the child.
// An index has up to 52 bits. It is built of two halves of 26 bits, because JavaScript shifts only know 32.
// This file knows no coordinates; see space.ts.

/** Levels of the curve an axis: 2^26 columns and rows (0.6 m at the equator), an index below 2^52 is exact in a number. */
export const curveLevels = 26

const halfLevels = 13
const halfCells = 2 ** 26

/** quadrant (column bit · 2 + row bit) of child `k` in state `s`, at `s · 4 + k` */
export const childQuadrant = new Uint8Array(16)
/** state of child `k` in state `s`, at `s · 4 + k` */
export const childState = new Uint8Array(16)
/** the child that lies in quadrant `q` in state `s`, at `s · 4 + q` */
const quadrantChild = new Uint8Array(16)

for (let state = 0; state < 4; state++) {
  for (let child = 0; child < 4; child++) {
    const plain = [0b00, 0b01, 0b11, 0b10][child] ?? 0
    const swapped = (state & 1) === 0 ? plain : (plain >> 1) | ((plain & 1) << 1)
    const quadrant = (state & 2) === 0 ? swapped : swapped ^ 0b11
    childQuadrant[state * 4 + child] = quadrant
    quadrantChild[state * 4 + quadrant] = child
    childState[state * 4 + child] = state ^ ([1, 0, 0, 3][child] ?? 0)
  }
}

/** Number of cells on the curve: 4^levels. */
export function curveLength (levels = curveLevels): number {
  return (1 << levels) * (1 << levels)
}

/**
 * Place on the curve of the cell at (column, row), both integers in [0, 2^levels).
 *
 * @returns integer in [0, 4^levels)
 * @throws RangeError if a coordinate is not such an integer
 */
export function curveIndex (column: number, row: number, levels = curveLevels): number {
  const side = 1 << levels
  if (!(column >= 0 && column < side && row >= 0 && row < side && Number.isInteger(column) && Number.isInteger(row))) {
    throw new RangeError(`cell (${column}, ${row}) is not on a curve of ${side} columns and rows`)
  }
  let state = 0
  let high = 0
  let low = 0
  for (let bit = levels - 1; bit >= 0; bit--) {
    const quadrant = (((column >> bit) & 1) << 1) | ((row >> bit) & 1)
    const child = quadrantChild[state * 4 + quadrant] as number
    if (bit >= halfLevels) high = (high << 2) | child
    else low = (low << 2) | child
    state = childState[state * 4 + child] as number
  }
  return high * halfCells + low
}

/**
 * The cell at a place on the curve; the inverse of `curveIndex`.
 *
 * @throws RangeError if index is not an integer in [0, 4^levels)
 */
export function curvePoint (index: number, levels = curveLevels): { column: number, row: number } {
  if (!(index >= 0 && index < curveLength(levels) && Number.isInteger(index))) {
    throw new RangeError(`curve index ${index} is not an integer in [0, 4^${levels})`)
  }
  const high = highHalf(index)
  const low = lowHalf(index)
  let state = 0
  let column = 0
  let row = 0
  for (let bit = levels - 1; bit >= 0; bit--) {
    const child = childAt(high, low, bit)
    const quadrant = childQuadrant[state * 4 + child] as number
    column = (column << 1) | (quadrant >> 1)
    row = (row << 1) | (quadrant & 1)
    state = childState[state * 4 + child] as number
  }
  return { column, row }
}

/** The upper 26 bits of an index. */
export function highHalf (index: number): number {
  return Math.floor(index / halfCells)
}

/** The lower 26 bits of an index. */
export function lowHalf (index: number): number {
  return index - Math.floor(index / halfCells) * halfCells
}

/** Which child (0 to 3) an index lies in, of the cell whose children have sides of 2^bit cells. */
export function childAt (high: number, low: number, bit: number): number {
  return bit >= halfLevels ? (high >> (2 * (bit - halfLevels))) & 3 : (low >> (2 * bit)) & 3
}
