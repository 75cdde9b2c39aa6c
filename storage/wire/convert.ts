// Domain forms of what the generated codecs spell otherwise: points, spaces and extents are lists of numbers on the
// wire, and rows a run of bytes. What a peer sends is checked only for its shape: it went through the user's checks there.

import { InvalidMessageError } from '../../overlay/codec.ts'
import type { Codec } from '../../overlay/host.ts'
import type { Extent } from '../../overlay/space/extent.ts'
import type { Point } from '../../overlay/space/point.ts'
import { lonLat } from '../../overlay/space/space.ts'
import type { Space } from '../../overlay/space/space.ts'
import type { State } from '../records/record.ts'
import type * as wire from './storage.ts'

/** A codec of domain messages over one of wire messages. */
export function mapped<T, W> (inner: Codec<W>, toWire: (message: T) => W, fromWire: (message: W) => T): Codec<T> {
  return { encode: message => inner.encode(toWire(message)), decode: bytes => fromWire(inner.decode(bytes)) }
}

export function stateToWire ({ value, contentType, point, text }: State): wire.State {
  return { value, contentType, point: point === undefined ? undefined : { x: point[0], y: point[1] }, text } as wire.State
}

export function stateFromWire ({ value, contentType, point, text }: wire.State): State {
  return { value, contentType, point: point === undefined ? undefined : [point.x, point.y], text }
}

export function spaceToWire (space: Space): wire.Space {
  return { planar: space.kind === 'lonlat' ? [] : [space.minX, space.minY, space.maxX, space.maxY] }
}

export function spaceFromWire ({ planar }: wire.Space): Space {
  if (planar.length === 0) return lonLat
  const [minX, minY, maxX, maxY] = exactly(planar, 4)
  return { kind: 'planar', minX: minX!, minY: minY!, maxX: maxX!, maxY: maxY! }
}

export function extentToWire (extent: Extent): wire.Extent {
  const none: wire.Extent = { box: [], circle: [], rings: [] }
  switch (extent.kind) {
    case 'box': return { ...none, box: [extent.west, extent.south, extent.east, extent.north] }
    case 'circle': return { ...none, circle: [...extent.center, extent.radiusMeters] }
    case 'polygon': return { ...none, rings: extent.rings.map(ring => ({ coordinates: ring.flat() })) }
  }
}

export function extentFromWire ({ box, circle, rings }: wire.Extent): Extent {
  if (box.length > 0) {
    const [west, south, east, north] = exactly(box, 4)
    return { kind: 'box', west: west!, south: south!, east: east!, north: north! }
  }
  if (circle.length > 0) {
    const [x, y, radiusMeters] = exactly(circle, 3)
    return { kind: 'circle', center: [x!, y!], radiusMeters: radiusMeters! }
  }
  return { kind: 'polygon', rings: rings.map(ring => pointsOf(ring.coordinates)) }
}

function pointsOf (coordinates: readonly number[]): Point[] {
  const points: Point[] = []
  for (let at = 0; at + 1 < coordinates.length; at += 2) points.push([coordinates[at]!, coordinates[at + 1]!])
  return points
}

function exactly (numbers: readonly number[], count: number): readonly number[] {
  if (numbers.length !== count) throw new InvalidMessageError(`${numbers.length} numbers; expected ${count}`)
  return numbers
}
