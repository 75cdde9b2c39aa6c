// The formats of files that come in and go out, and which of them a name stands for.

import { extname } from 'node:path'

export const fileFormats = ['ndjson', 'geojson', 'csv'] as const
export type FileFormat = (typeof fileFormats)[number]

/** By endings. Lines of GeoJSON are lines first: each stands for itself. */
const comesIn: Readonly<Record<string, FileFormat>> = {
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  geojsonl: 'ndjson',
  geojson: 'geojson',
  geojsons: 'geojson',
  json: 'geojson',
  csv: 'csv'
}

/** Fewer: a .json could be either. */
const goesOut: Readonly<Record<string, 'ndjson' | 'geojson'>> = { ndjson: 'ndjson', jsonl: 'ndjson', geojson: 'geojson' }

/** Undefined for a name that tells nothing. */
export function formatToRead (file: string): FileFormat | undefined {
  return comesIn[endingOf(file)]
}

/** Undefined for a name that tells nothing. */
export function formatToWrite (file: string): 'ndjson' | 'geojson' | undefined {
  return goesOut[endingOf(file)]
}

function endingOf (file: string): string {
  return extname(file).slice(1).toLowerCase()
}
