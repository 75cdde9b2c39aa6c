// A week of all earthquakes that the USGS knew of, 2018-01-31 to 02-07: 1,707 objects, most of them in a few ten-degree cells,
// some on both sides of the antimeridian. The file is committed, so that the first run needs no package.
// Rows come as in the file, newest first; the depth, which GeoJSON keeps as third coordinate, goes into the value.
import { DataError, readDataFile } from './source.ts'
import type { LoadOptions, LocatedRow } from './row.ts'

interface QuakeFeature {
  id: string
  properties: { place: string, mag: number, time: number } & Record<string, unknown>
  geometry: { coordinates: [number, number, number] }
}

/**
 * key = USGS event id, text = the place in words ("4km W of Castaic, CA"), value = {depth in km, mag, time in ms since 1970, ...}.
 *
 * @param options - folder: where earthquakes.json lies, when not in the usual places
 * @throws DataError when the file is missing or not a FeatureCollection
 */
export async function * quakes (options: LoadOptions & { folder?: string } = {}): AsyncGenerator<LocatedRow> {
  const collection = await readDataFile('earthquakes.json', options.folder) as { features?: QuakeFeature[] } | null
  if (!Array.isArray(collection?.features)) throw new DataError('earthquakes.json holds no GeoJSON features: restore it with git checkout')
  for (const { id, properties, geometry } of collection.features) {
    options.signal?.throwIfAborted()
    const [longitude, latitude, depth] = geometry.coordinates
    const { place, ...others } = properties
    yield { key: id, point: [longitude, latitude], text: place, value: { ...others, depth } }
  }
}
