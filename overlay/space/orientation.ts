// On which side of a line a point lies, decided exactly: floating point first, and where its error could hide the sign,
// whole numbers of any length. So a point on a polygon's edge is on it for every peer, and two polygons that share an edge
// leave no crack. Source: the idea of a filtered predicate, J. R. Shewchuk 1997; the bound here is a looser one of our own.
// Longitudes may be carried on by whole turns of 360 degrees; sums with 360 are never rounded in the exact part.

/** Bound of the relative rounding error of the determinant: 3 subtractions and products a side give less than 4 ulps. */
const filterRelative = 16 * Number.EPSILON
/** Bound of the rounding of sums with 360, degrees a turn: ulp(720) = 1.2e-13, twice a side. */
const turnErrorDegrees = 1e-12
/** Products so small that they lose bits. */
const filterAbsolute = 1e-290

/**
 * 1 if c lies left of the line from a to b, -1 if right, 0 if on it. The x of b and c are meant with `turns · 360` added.
 */
export function orientation (ax: number, ay: number, bx: number, by: number, bTurns: number, cx: number, cy: number, cTurns: number): number {
  const abY = by - ay
  const acY = cy - ay
  const left = (bx - ax + bTurns * 360) * acY
  const right = abY * (cx - ax + cTurns * 360)
  const determinant = left - right
  const turning = turnErrorDegrees * (Math.abs(bTurns) + Math.abs(cTurns)) * (Math.abs(abY) + Math.abs(acY))
  const error = filterRelative * (Math.abs(left) + Math.abs(right)) + turning + filterAbsolute
  if (Math.abs(determinant) > error) return Math.sign(determinant)
  return exactOrientation(ax, ay, bx, by, bTurns, cx, cy, cTurns)
}

function exactOrientation (ax: number, ay: number, bx: number, by: number, bTurns: number, cx: number, cy: number, cTurns: number): number {
  const x = wholeNumbers([ax, bx, cx, 360])
  const y = wholeNumbers([ay, by, cy])
  const turn = x[3] as bigint
  const abX = (x[1] as bigint) - (x[0] as bigint) + BigInt(bTurns) * turn
  const acX = (x[2] as bigint) - (x[0] as bigint) + BigInt(cTurns) * turn
  const abY = (y[1] as bigint) - (y[0] as bigint)
  const acY = (y[2] as bigint) - (y[0] as bigint)
  const determinant = abX * acY - abY * acX
  return determinant > 0n ? 1 : determinant < 0n ? -1 : 0
}

/** Doubles as whole multiples of one power of two, the smallest that any of them needs. */
function wholeNumbers (values: number[]): bigint[] {
  const parts = values.map(mantissaAndExponent)
  const exponent = Math.min(...parts.map(part => part.mantissa === 0n ? Infinity : part.exponent))
  return parts.map(part => part.mantissa === 0n ? 0n : part.mantissa << BigInt(part.exponent - exponent))
}

/** value = mantissa · 2^exponent (IEEE 754 binary64). */
function mantissaAndExponent (value: number): { mantissa: bigint, exponent: number } {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  const bits = view.getBigUint64(0)
  const fraction = bits & 0xfffffffffffffn
  const biased = Number((bits >> 52n) & 0x7ffn)
  const magnitude = biased === 0 ? fraction : fraction | 0x10000000000000n
  return { mantissa: bits >> 63n === 1n ? -magnitude : magnitude, exponent: Math.max(biased, 1) - 1075 }
}
