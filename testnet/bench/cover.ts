// Benchmark of the curve's cover. First: how many owners a walk over an extent visits, beside how many overlap it.
// An owner overlaps if one of the aligned squares of cells that its interval falls into meets the extent; that is counted
// apart from the walk, over every owner. Second: the time to route a point and an extent by sorted boundaries (a stand-in
// for the atlas) beside an R-tree (rbush) and a uniform grid over the same intervals; all three must give the same owners.
// The boundaries of the second part lie on squares of depth 12, which is kind to the rivals: fewer boxes an interval.

import RBush from 'rbush'
import { curveLength, curveLevels } from '../../overlay/space/curve.ts'
import { prepare } from '../../overlay/space/cover.ts'
import { earthRadiusMeters } from '../../overlay/space/distance.ts'
import type { Box, Extent } from '../../overlay/space/extent.ts'
import { squaresOf } from '../../overlay/space/interval-box.ts'
import type { Point } from '../../overlay/space/point.ts'
import { regionOf } from '../../overlay/space/region.ts'
import { columnEdge, indexOf, lonLat, rowEdge } from '../../overlay/space/space.ts'
import type { BenchOptions, BenchResult } from './bench.ts'

const seed = 42
const coverIntervals = 1_000
const extentShares = [0.0001, 0.001, 0.01, 0.1]
const routeIntervals = [100, 1_000, 10_000]
const routeExtentShare = 0.001
const boundaryDepth = 12
/** Points routed between two readings of the clock, whose own cost is near that of one. */
const pointsPerReading = 50

/** Rows of kind 'cover' (owners and visits summed over all extents of the row) and of kind 'route' (medians, µs). */
export async function run (options: BenchOptions): Promise<BenchResult> {
  const random = randomFrom(seed)
  options.progress(`seed ${seed}, globe, curve of ${curveLevels} levels`)
  const rows: Array<Record<string, unknown>> = []
  const extents = options.quick ? 50 : 1_000
  const lows = randomLows(random, coverIntervals, curveLevels)
  for (const shape of ['box', 'circle'] as const) {
    for (const extentShare of extentShares) {
      options.progress(`cover: ${extents} extents (${shape}) of ${extentShare * 100} % over ${coverIntervals} intervals`)
      rows.push(coverRow(lows, shape, extentShare, Array.from({ length: extents }, () => randomExtent(random, shape, extentShare))))
    }
  }
  for (const intervals of routeIntervals) {
    options.progress(`route: ${intervals} intervals, boxes of ${routeExtentShare * 100} %`)
    rows.push(routeRow(random, intervals, options.quick ? 200 : 2_000))
  }
  return { setup: { seed, extents }, rows }
}

/** Splitmix32 (Steele, Lea and Flood 2014, 32-bit form): numbers in [0, 1). */
function randomFrom (start: number): () => number {
  let state = start >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32
  }
}

/** Distinct ascending lows of `count` intervals that tile the curve; they lie on squares of `depth`. */
function randomLows (random: () => number, count: number, depth: number): Float64Array {
  const lows = new Set([0])
  const step = 4 ** (curveLevels - depth)
  while (lows.size < count) lows.add(Math.floor((random() + random() / 2 ** 32) * (curveLength() / step)) * step % curveLength())
  return Float64Array.from(lows).sort()
}

/** An extent that holds `share` of the map (a box, by width and height) or of the sphere (a circle). */
function randomExtent (random: () => number, shape: 'box' | 'circle', share: number): Extent {
  const west = random() * 360 - 180
  if (shape === 'circle') {
    const latitude = Math.asin(random() * 2 - 1) * 180 / Math.PI
    return { kind: 'circle', center: [west, latitude], radiusMeters: Math.acos(1 - 2 * share) * earthRadiusMeters }
  }
  // width : height from 1 : 4 to 4 : 1 of the map's own 2 : 1
  const aspect = 4 ** (random() * 2 - 1)
  const width = Math.min(1, Math.sqrt(share * aspect))
  const height = Math.min(1, share / width)
  const south = random() * (1 - height) * 180 - 90
  const east = west + width * 360
  return { kind: 'box', west, south, east: east > 180 ? east - 360 : east, north: Math.min(90, south + height * 180) }
}

function coverRow (lows: Float64Array, shape: string, extentShare: number, extents: Extent[]): Record<string, unknown> {
  const squares = Array.from(lows, (low, owner) => [...squaresOf(low, highOf(lows, owner))])
  let owners = 0
  let visits = 0
  let jumps = 0
  let wrong = 0
  for (const extent of extents) {
    const region = regionOf(lonLat, extent, curveLevels)
    const overlapping = squares.flatMap((list, owner) => list.some(({ column, row, side }) => region.meets(column, row, side)) ? [owner] : [])
    const visited = walk(lows, extent)
    owners += overlapping.length
    visits += visited.length
    jumps += visited.filter((owner, at) => at > 0 && owner !== (visited[at - 1] as number) + 1).length
    if (!same(visited, overlapping)) wrong++
  }
  return {
    kind: 'cover',
    shape,
    extentShare,
    intervals: lows.length,
    extents: extents.length,
    owners,
    visits,
    visitsPerOwner: visits / owners,
    ownersPerExtent: owners / extents.length,
    jumpsPerVisit: jumps / visits,
    wrong
  }
}

/** The owners of an extent by the curve: start at its first index, go on at the first one past each owner's high. */
function walk (lows: Float64Array, extent: Extent): number[] {
  const prepared = prepare(lonLat, extent)
  const visited: number[] = []
  for (let at = prepared.next(0); at !== undefined;) {
    const owner = ownerOf(lows, at)
    visited.push(owner)
    at = prepared.next(highOf(lows, owner))
  }
  return visited
}

/** Binary search for the last low at or before an index. */
function ownerOf (lows: Float64Array, index: number): number {
  let first = 0
  let end = lows.length
  while (end - first > 1) {
    const middle = (first + end) >> 1
    if ((lows[middle] as number) <= index) first = middle
    else end = middle
  }
  return first
}

function highOf (lows: Float64Array, owner: number): number {
  return lows[owner + 1] ?? curveLength()
}

/** A square of an interval, in degrees; half-open to the east and north, so that a point lies in one. */
interface OwnedBox { minX: number, minY: number, maxX: number, maxY: number, owner: number }

/** Routes points and extents; an extent's owners ascend. */
interface Router { point (point: Point): number, extent (box: Box): number[] }

function routeRow (random: () => number, intervals: number, samples: number): Record<string, unknown> {
  const lows = randomLows(random, intervals, boundaryDepth)
  const boxes = Array.from(lows, (low, owner) => [...squaresOf(low, highOf(lows, owner))].map(({ column, row, side }): OwnedBox => ({
    minX: columnEdge(lonLat, column), minY: rowEdge(lonLat, row), maxX: columnEdge(lonLat, column + side), maxY: rowEdge(lonLat, row + side), owner
  }))).flat()
  const byBoundaries: Router = { point: point => ownerOf(lows, indexOf(lonLat, point)), extent: box => walk(lows, box) }
  const routers = [byBoundaries, treeRouter(boxes), gridRouter(boxes, intervals)]
  const points = Array.from({ length: samples * pointsPerReading }, (): Point => [random() * 360 - 180, random() * 180 - 90])
  const extents = Array.from({ length: samples }, () => randomExtent(random, 'box', routeExtentShare) as Box)
  check(routers, points.slice(0, samples), extents)
  const [pointUs, rtreePointUs, gridPointUs] = routers.map(router => medianUs(samples, at => {
    for (let n = 0; n < pointsPerReading; n++) router.point(points[at * pointsPerReading + n] as Point)
  }) / pointsPerReading)
  const [extentUs, rtreeExtentUs, gridExtentUs] = routers.map(router => medianUs(samples, at => router.extent(extents[at] as Box)))
  const ownersPerExtent = extents.reduce((sum, extent) => sum + byBoundaries.extent(extent).length, 0) / samples
  return { kind: 'route', intervals, extentShare: routeExtentShare, ownersPerExtent, rivalBoxes: boxes.length, pointUs, extentUs, rtreePointUs, rtreeExtentUs, gridPointUs, gridExtentUs }
}

function treeRouter (boxes: OwnedBox[]): Router {
  const tree = new RBush<OwnedBox>().load(boxes)
  return {
    point: ([x, y]) => tree.search({ minX: x, minY: y, maxX: x, maxY: y }).find(box => holdsPoint(box, x, y))?.owner ?? -1,
    extent: extent => {
      const owners = new Set<number>()
      for (const { west, south, east, north } of turnsOf(extent)) {
        for (const box of tree.search({ minX: west, minY: south, maxX: east, maxY: north })) if (box.maxX > west && box.maxY > south) owners.add(box.owner)
      }
      return ascending(owners)
    }
  }
}

/** About four cells an interval; each lists the boxes that reach into it. */
function gridRouter (boxes: OwnedBox[], intervals: number): Router {
  const side = Math.ceil(Math.sqrt(intervals * 4))
  const cells = Array.from({ length: side * side }, (): OwnedBox[] => [])
  const at = (share: number): number => Math.min(side - 1, Math.floor(share * side))
  const visit = (minX: number, minY: number, maxX: number, maxY: number, each: (cell: OwnedBox[]) => void): void => {
    for (let row = at((minY + 90) / 180); row <= at((maxY + 90) / 180); row++) {
      for (let column = at((minX + 180) / 360); column <= at((maxX + 180) / 360); column++) each(cells[row * side + column] as OwnedBox[])
    }
  }
  for (const box of boxes) visit(box.minX, box.minY, box.maxX, box.maxY, cell => cell.push(box))
  return {
    point: ([x, y]) => {
      const cell = cells[at((y + 90) / 180) * side + at((x + 180) / 360)] as OwnedBox[]
      for (const box of cell) if (holdsPoint(box, x, y)) return box.owner
      return -1
    },
    extent: extent => {
      const owners = new Set<number>()
      for (const { west, south, east, north } of turnsOf(extent)) {
        visit(west, south, east, north, cell => {
          for (const box of cell) if (box.minX <= east && box.maxX > west && box.minY <= north && box.maxY > south) owners.add(box.owner)
        })
      }
      return ascending(owners)
    }
  }
}

function holdsPoint (box: OwnedBox, x: number, y: number): boolean {
  return x >= box.minX && x < box.maxX && y >= box.minY && y < box.maxY
}

/** A box over 180 as two. */
function turnsOf (box: Box): Box[] {
  return box.west <= box.east ? [box] : [{ ...box, east: 180 }, { ...box, west: -180 }]
}

function ascending (owners: Set<number>): number[] {
  return [...owners].sort((a, b) => a - b)
}

/** A benchmark of wrong answers is worth nothing. */
function check (routers: Router[], points: Point[], extents: Box[]): void {
  const [first, ...others] = routers as [Router, ...Router[]]
  for (const other of others) {
    for (const point of points) if (other.point(point) !== first.point(point)) throw new Error(`routers disagree on point ${point.join()}`)
    for (const extent of extents) if (!same(other.extent(extent), first.extent(extent))) throw new Error(`routers disagree on ${JSON.stringify(extent)}`)
  }
}

function same (a: number[], b: number[]): boolean {
  return a.length === b.length && a.every((value, at) => value === b[at])
}

/** Median time of `work`, µs, after a warm-up run of all samples. */
function medianUs (samples: number, work: (at: number) => void): number {
  for (let at = 0; at < samples; at++) work(at)
  const times = Array.from({ length: samples }, (_, at) => {
    const start = performance.now()
    work(at)
    return (performance.now() - start) * 1_000
  }).sort((a, b) => a - b)
  return times[samples >> 1] as number
}
