// Bounds of calls between nodes. The simulator keeps to those that protocol code can notice, so that what works there
// works on a network. For figures said to be measured see the end of docs/architecture.md, "Decisions"; the rest are
// guesses that say so.

/** Largest frame, so largest request, reply, notice or row with its envelope. Larger ones end the connection. */
export const frameBytesMax = 2 ** 20
/** Envelope of a request: kind, id, length of the name, name of at most 255 bytes. */
export const envelopeBytesMax = 261
/** Largest encoded message that may go into a frame. */
export const messageBytesMax = frameBytesMax - envelopeBytesMax
/** Frames of a tick are sent together up to this size: a Noise message holds 65,519 bytes, and Yamux adds 12 to each. */
export const batchBytesMax = 60_000
/** Bytes queued to one peer before calls to it fail with BusyError and notices are dropped (guess). */
export const queueBytesMax = 16 * 2 ** 20
/** Bytes of replies queued to one peer before its requests are no longer read (guess). */
export const replyBytesMax = 4 * 2 ** 20
/** The same, where replies to requests that were taken before come on top: then the peer is disconnected (guess). */
export const replyBytesLimit = 128 * 2 ** 20
/** A frame that has begun must have come whole after this long: 1 MiB at 35 kB/s (guess). */
export const frameMsMax = 30_000
/** A peer that does not take its replies for this long is disconnected (guess). */
export const repliesMsMax = 60_000
/** Requests and notices of one stream that are unknown here or cannot be read, within strangeMs, before its peer is disconnected. A peer of another version asks for some (guess). */
export const strangeMax = 1_000
export const strangeMs = 60_000
/** Time in which a pull must have said what it wants (guess). */
export const pullRequestMsMax = 10_000
/** Connections with one peer: one, or two where both have dialed; a few more while old ones end (guess). */
export const connectionsOfPeerMax = 8
/** Calls that wait for replies of one peer before further ones fail with BusyError (guess). */
export const callsInFlightMax = 8192
/** Requests of one peer whose handlers have not ended before further ones are answered with BusyError (guess). */
export const handlersMax = 8192
/** Notices kept for a peer while it is being dialed; further ones are dropped (guess). */
export const noticesWaitingMax = 64
/** Characters of an error's message that go to the caller (guess). */
export const failureTextMax = 512
/** Addresses of a contact that are sent or dialed; libp2p itself stops at 25 (guess). */
export const addressesMax = 16
/** A dial with its handshake takes 16 ms on loopback; this leaves room for slow and lossy lines (guess). */
export const dialTimeoutMs = 5_000
/** A dial to one of several addresses: one that is silent must not use up the time of the rest (guess). */
export const addressDialTimeoutMs = 1_500
/** Wait after the first failed dial; doubled by each further one, each time with jitter of one half to one (guess). */
export const backoffMsMin = 50
/** Bound of that wait, so that a node that has come back is found within a ping interval (guess). */
export const backoffMsMax = 2_000
/** Pulls of one peer that run at a time (guess). */
export const pullsMax = 64
/** A reader of bulk that takes nothing for this long is given up (guess). */
export const stallMsMax = 60_000
/** Bytes a bulk writer may have queued: more makes nothing faster (measured). */
export const bulkWriteBytesMax = 256 * 1024
/** Bytes a bulk reader holds before it stops the far end (guess; below Yamux's read buffer of 4 MiB). */
export const bulkReadBytesMax = 2 ** 20
/** Contacts that discover gives at most; it begins with connected peers, so a larger ring is known in part (guess). */
export const discoveredMax = 32
/** Time for addresses without a peer id where nobody is known yet, and for kad-dht where the list leads nowhere (guess). */
export const discoverMsMax = 1_500
/** Time for addresses without a peer id where others are known already (guess). */
export const discoverMoreMsMax = 300
/** Time that an orderly stop may take before the rest is aborted; the process gives itself 10 s. */
export const stopMsMax = 5_000
/** Time for a connection to close in good order when this node stops (guess). */
export const closeMsMax = 200
/** A call that times out on a stream from which nothing came for this long ends its connection: Yamux does not (guess). */
export const silentMsMax = 30_000
/** Connections to peers, at most, where the limit of open files leaves room for so many (guess). */
export const peerConnectionsMax = 1_000
