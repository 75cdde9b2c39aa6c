// A membership vector is 32 random bits, lowest first. Two nodes are in the same list at level l when their first l
// bits are equal; level 0 is the list of all. Source: Aspnes and Shah, Skip Graphs, section 2.

/** Levels above 0 at most: beyond 2^32 nodes. */
export const levelsMax = 32

/** Number of leading bits that a and b share, 0 to 32. */
export function sharedLevels (a: number, b: number): number {
  const different = (a ^ b) >>> 0
  if (different === 0) return levelsMax
  // the lowest set bit alone, then its position
  return 31 - Math.clz32(different & -different)
}
