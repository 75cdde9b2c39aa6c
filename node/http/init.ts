// Bounds of the HTTP API. Those that users meet are stated by /v1/status.

export interface HttpLimits {
  /** Largest body of a request, and largest line of a batch. */
  readonly bodyBytesMax: number
  /** Time for a request that names none, and the most that it may name. */
  readonly requestDeadlineMs: number
  readonly deadlineMsMax: number
  /** Requests carried out at once, and those that wait for their turn. */
  readonly requestsMax: number
  readonly requestsQueuedMax: number
  /** Rows of a page in JSON or GeoJSON: the default, and where a greater limit is cut, with a cursor to go on. */
  readonly pageRowsMax: number
  /** Lines of one batch carried out at once. */
  readonly batchLinesMax: number
  /** Results of a batch that wait for a client which sends before it reads. */
  readonly batchResultBytesMax: number
  /** Characters of a cursor. */
  readonly cursorLengthMax: number
  /** After that time a stop ends the requests that still run, */
  readonly closeGraceMs: number
  /** and after that time more their connections. Together below the 10 s in which a daemon must be gone. */
  readonly closeForceMs: number
}

/** All guesses, but bodyBytesMax and requestDeadlineMs, which are settings. */
export const httpLimits: HttpLimits = {
  bodyBytesMax: 2 << 20,
  requestDeadlineMs: 10_000,
  deadlineMsMax: 600_000,
  requestsMax: 256,
  requestsQueuedMax: 8_192,
  pageRowsMax: 10_000,
  batchLinesMax: 64,
  batchResultBytesMax: 8 << 20,
  cursorLengthMax: 4_096,
  closeGraceMs: 3_000,
  closeForceMs: 2_000
}

/** The two collections that are there from the start; see storage/records/collection.ts. */
export const orderedDefault = 'kv'
export const spatialDefault = 'places'
