// An extent as the curve sees it: a test of one point, and two tests of an aligned square of cells. `meets` may say yes too
// often but never no wrongly, so a cover misses nothing; `within` may say no too often, which only makes a cover finer.
// Boxes answer both in whole numbers. It does not know the curve; see cover.ts and seek.ts.

import { boxRegion } from './box.ts'
import { circleRegion } from './circle.ts'
import type { Extent } from './extent.ts'
import type { Point } from './point.ts'
import { polygonRegion } from './polygon.ts'
import type { Space } from './space.ts'

export interface Region {
  /** The exact filter, on coordinates as given. */
  holds (point: Point): boolean
  /** False only if no point of the extent is indexed in the square of `side` cells whose least cell is (column, row). */
  meets (column: number, row: number, side: number): boolean
  /** True only if every point indexed in that square is in the extent, up to the rounding of the quantizer. */
  within (column: number, row: number, side: number): boolean
}

/** The region of a checked extent, over a curve of `levels` levels. */
export function regionOf (space: Space, extent: Extent, levels: number): Region {
  switch (extent.kind) {
    case 'box': return boxRegion(space, extent, levels)
    case 'circle': return circleRegion(space, extent, levels)
    case 'polygon': return polygonRegion(space, extent, levels)
  }
}
