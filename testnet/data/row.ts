// What the loaders of this folder yield: one row a record, ready to be put into a collection. A located row goes into a
// spatial collection, an ordered row into an ordered one. Values are plain JSON. Where each set comes from stands in SOURCES.md.

export interface LocatedRow {
  /** Unique within its set. */
  key: string
  /** [longitude, latitude] in degrees, as in GeoJSON. */
  point: [number, number]
  /** What the words of the object are made from. */
  text: string
  value: unknown
}

export interface OrderedRow {
  /** Unique within its set; rows come in ascending byte order. */
  key: string
  value: unknown
}

export interface LoadOptions {
  /** Ends the loading between two rows by throwing its reason. */
  signal?: AbortSignal
}
