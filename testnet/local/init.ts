// Bounds and times of the local testnet.

export const testnetDefaults = {
  peers: 8,
  /** RPC ports are basePort and on; 7700 is the default of a daemon. */
  basePort: 7_700,
  load: 'quakes'
} as const

/** Guess: a daemon takes about 90 MB, so 32 fill a small machine. */
export const peersMax = 32
/** The ports by which peers talk to each other begin so far above the RPC ports. More than peersMax. */
export const p2pPortOffset = 100
/** Time for a daemon to serve, on a machine that has much else to do (guess; half a second when it has not). */
export const readyMsMax = 60_000
/** Between two looks at something that is awaited (guess). */
export const pollMs = 50
/** A peer that has not stopped by then is killed; a stop as a whole must end in 10 s. */
export const stopMsMax = 8_000
/** Signals closer together are one: on a terminal npm, its shell and the kernel each pass on the same Ctrl-C (guess). */
export const sameSignalMs = 500
/** Lines of a peer's log that an error report shows (guess). */
export const logLinesShown = 5
/** Rows of one batch, and peers that are written to at once (guesses: requests of a tenth of a second; two cores). */
export const batchRows = 500
export const loadPeersMax = 4
/** Rounds for rows that were refused with 503, and the first wait, doubled each time (guesses: 12 s in all). */
export const retriesMax = 7
export const retryMsMin = 100
/** Refusals that are shown. */
export const problemsShownMax = 3
