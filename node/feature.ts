// A GeoJSON Feature (RFC 7946 section 3.2) as an object: its place is the first two coordinates of its Point, its text
// the first of some properties. One rule for the HTTP API and for `isobar import`.

/** Properties that may give the text of a Feature, first to last. */
const textProperties = ['text', 'title', 'name', 'place'] as const

export type Properties = Readonly<Record<string, unknown>>

/** The text of a Feature's words, or undefined. */
export function textOfProperties (properties: Properties): string | undefined {
  for (const name of textProperties) {
    const value = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (typeof value === 'string') return value
  }
  return undefined
}

/**
 * What a geometry gives as a point, unchecked; undefined for null, which is an object without a place. A third
 * coordinate, height or depth, is left out (RFC 7946 section 3.1.1).
 *
 * @throws TypeError for any geometry but a Point
 */
export function pointOfGeometry (geometry: unknown): unknown {
  if (geometry === null || geometry === undefined) return undefined
  const { type, coordinates } = geometry as { type?: unknown, coordinates?: unknown }
  if (type !== 'Point') throw new TypeError('must be a Point, or null for an object without a place')
  return Array.isArray(coordinates) && coordinates.length === 3 && typeof coordinates[2] === 'number' ? coordinates.slice(0, 2) : coordinates ?? null
}
