// Names of what storage/ counts. Labels are from small fixed sets.

export const storageMetrics = {
  /** Requests answered as owner, by verb. */
  requests: 'storage_requests',
  /** Rows given by range and find, as owner. */
  rows: 'storage_rows',
  /** Rows that range and find looked at, as owner. */
  scanned: 'storage_scanned_rows',
  /** Intents driven in the background, by outcome: done, again, full. */
  intents: 'storage_intents',
  /** Rows that went out by fill, as source. */
  sent: 'storage_sent_rows',
  /** Rows that came in by fill. */
  filled: 'storage_filled_rows',
  /** Rows offered to their owner and dropped here. */
  offered: 'storage_offered_rows',
  /** Live records held as owner. */
  records: 'storage_records'
} as const
