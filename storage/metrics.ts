// Names of what storage/ counts. Labels are from small fixed sets.

export const storageMetrics = {
  /** Requests answered as owner, by verb. */
  requests: 'isobar_storage_requests_total',
  /** Rows given by range and find, as owner. */
  rows: 'isobar_storage_rows_total',
  /** Rows that range and find looked at, as owner. */
  scanned: 'isobar_storage_scanned_rows_total',
  /** Intents driven in the background, by outcome: done, again, full. */
  intents: 'isobar_storage_intents_total',
  /** Rows that came in by fill. */
  filled: 'isobar_storage_filled_rows_total',
  /** Rows offered to their owner and dropped here. */
  offered: 'isobar_storage_offered_rows_total',
  /** Live records held as owner. */
  records: 'isobar_storage_records'
} as const
