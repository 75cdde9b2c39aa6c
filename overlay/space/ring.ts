// The rings of a polygon as edges. On the globe edges are straight in lon/lat (RFC 7946 section 3.1.6), an edge whose ends
// are more than 180 degrees of longitude apart goes the short way over +-180, and a ring that would go around a pole is
// refused. An edge along a pole has no length; its way around is the one that brings the ring back to where it began.
// Each edge is kept from its western to its eastern end, so that a meridian meets it at most once.

import { InvalidSpaceError } from './invalid-space.ts'
import { orientation } from './orientation.ts'
import type { Point } from './point.ts'
import type { Space } from './space.ts'

/**
 * From (west, westY) eastwards to (east + 360 · turns, eastY); on the globe west < 180 and turns is 0 or 1.
 * `eastIndexed` is east as points there are indexed (180 as -180).
 */
export interface Edge { readonly west: number, readonly westY: number, readonly east: number, readonly eastY: number, readonly turns: number, readonly eastIndexed: number }

/** Whole turns of 360 degrees that the way from one vertex to the next adds to the difference of their longitudes. */
type Turns = -1 | 0 | 1

/**
 * The edges of a closed ring of checked points.
 *
 * @throws InvalidSpaceError if the ring goes around a pole or has no area
 */
export function edgesOf (space: Space, ring: readonly Point[], field: string): Edge[] {
  const turns = space.kind === 'lonlat' ? turnsOf(ring) : ring.slice(1).map((): Turns => 0)
  if (turns.reduce((sum: number, turn) => sum + turn, 0) !== 0) {
    throw new InvalidSpaceError(field, 'the ring goes around a pole; carry it along latitude 90 or -90 with vertices at most 180 degrees of longitude apart, or use a circle')
  }
  checkArea(ring, turns, field)
  return turns.map((turn, at) => {
    const a = ring[at] as Point
    const b = ring[at + 1] as Point
    const eastwards = turn === 0 ? b[0] >= a[0] : turn > 0
    return space.kind === 'lonlat' ? globeEdge(eastwards ? a : b, eastwards ? b : a, turn !== 0) : planeEdge(eastwards ? a : b, eastwards ? b : a)
  })
}

function planeEdge (from: Point, to: Point): Edge {
  return { west: from[0], westY: from[1], east: to[0], eastY: to[1], turns: 0, eastIndexed: to[0] }
}

/** An edge from its western end; `crosses` if it goes over ±180 or from one name of that meridian to the other. */
function globeEdge (from: Point, to: Point, crosses: boolean): Edge {
  const eastIndexed = to[0] === 180 ? -180 : to[0]
  const west = from[0] === 180 ? -180 : from[0]
  const alongSeam = west === -180 && eastIndexed === -180 && (crosses || from[0] === to[0])
  // what leaves ±180 eastwards begins at -180 and does not cross any more
  const east = alongSeam ? -180 : to[0]
  return { west, westY: from[1], east, eastY: to[1], turns: crosses && west !== -180 ? 1 : 0, eastIndexed }
}

/** For each edge of a ring on the globe the turns that it adds. */
function turnsOf (ring: readonly Point[]): Turns[] {
  const turns: Turns[] = []
  const alongPole: number[] = []
  for (let at = 0; at + 1 < ring.length; at++) {
    const a = ring[at] as Point
    const b = ring[at + 1] as Point
    const difference = b[0] - a[0]
    const short: Turns = difference > 180 ? -1 : difference < -180 ? 1 : 0
    const polar = short !== 0 && a[1] === b[1] && Math.abs(a[1]) === 90
    if (polar) alongPole.push(at)
    turns.push(polar && Math.abs(difference) === 360 ? 0 : short)
  }
  let sum = turns.reduce((total: number, turn) => total + turn, 0)
  for (const at of alongPole) {
    if (sum === 0) break
    const short: Turns = (ring[at + 1] as Point)[0] > (ring[at] as Point)[0] ? -1 : 1
    const other: Turns = turns[at] === 0 ? short : 0
    const change = other - (turns[at] as number)
    if (Math.abs(sum + change) < Math.abs(sum)) {
      turns[at] = other
      sum += change
    }
  }
  return turns
}

/** All vertices on one line hold nothing; most often a ring around the world that the short way has folded up. */
function checkArea (ring: readonly Point[], turns: readonly Turns[], field: string): void {
  const first = ring[0] as Point
  let second: Point | undefined
  let secondTurns = 0
  let lifted = 0
  for (let at = 0; at < turns.length; at++) {
    const point = ring[at] as Point
    // 180 and the next turn's -180 are the same place
    const apart = point[1] !== first[1] || point[0] - first[0] + 360 * lifted !== 0
    if (second === undefined && apart) {
      second = point
      secondTurns = lifted
    } else if (second !== undefined && orientation(first[0], first[1], second[0], second[1], secondTurns, point[0], point[1], lifted) !== 0) return
    lifted += turns[at] as number
  }
  throw new InvalidSpaceError(field, 'the ring has no area: all its vertices lie on one line (an edge over more than 180 degrees of longitude goes the short way over 180; put vertices between)')
}
