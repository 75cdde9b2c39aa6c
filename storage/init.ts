// Settings and bounds of storage/, each with its unit and where it comes from. Users may change what StorageInit
// names; the constants are part of what peers promise each other or of an on-disk form, the same on every peer.

import type { MemberId } from '../overlay/member.ts'

/** Bytes of a key as users give it, without its collection. Guess: LevelDB reads a key whole at every step of a seek. */
export const keyBytesMax = 1024
/** Bytes of a value. Guess: four fit in a frame of 1 MiB; larger ones are content. */
export const valueBytesMax = 256 * 1024
/** Bytes of an object's text. Guess: words are made of it at every put, on the asking peer. */
export const textBytesMax = 16 * 1024
/** Bytes of a content type. RFC 6838 section 4.2 allows 127 for each half and the slash. */
export const contentTypeBytesMax = 255
/** Bytes of a request id. Guess: room for a UUID or a hash in any spelling. */
export const requestIdBytesMax = 128
/** Bytes of a collection's name. Guess: it is repeated in each key. */
export const collectionNameBytesMax = 64
/** Keywords of a find before the word rule splits them. Guess. */
export const keywordsMax = 64
/** Characters of a cursor: a key in base64 and its query's hash. */
export const cursorCharactersMax = 4096

export interface StorageInit {
  /** Id of this node's store: the last part of its versions. 32 lower-case hex digits. */
  readonly memberId: MemberId
  /** Unicode version of the JavaScript engine; stored words made under another one are made anew. */
  readonly unicodeVersion: string

  /** Rows of one answer to range or find, at most; the cursor leads on. */
  readonly pageRowsMax: number
  /** Bytes of keys and values of one answer, at most (one row may exceed it). */
  readonly pageBytesMax: number
  /** Rows and bytes in one message of a walk. */
  readonly messageRowsMax: number
  readonly messageBytesMax: number
  /** Rows that an owner looks at for one message; beyond, it answers with what it has and where to go on. */
  readonly scannedRowsMax: number
  /** Rows that a snapshot gives a page. */
  readonly scanPageRows: number
  /** Ids that a find remembers to tell each object once. */
  readonly toldIdsMax: number
  /** The least time that a walk gives to one owner, in ms, while it has as much left. */
  readonly askMsMin: number

  /** ms that a member has to flush a message of copies before it is asked again, and for which a write waits for its members. */
  readonly copyMs: number
  readonly spreadMsMax: number

  /** Updates of one id that wait for their turn; one more is told `busy`. See docs/places.md, "One orderer an object". */
  readonly updatesWaitingMax: number
  /** ms in which an update's place entries must answer, before the client is told that it is unfinished. */
  readonly updateMsMax: number
  /** ms between an update's answer and the write that closes its intent. */
  readonly closeDelayMs: number
  /** Intents driven at the same time in the background, and that wait for it. */
  readonly drivenMax: number
  readonly drivesWaitingMax: number
  /** ms between two tries of an intent: the first, and the bound of its doubling. */
  readonly driveAgainMsMin: number
  readonly driveAgainMsMax: number
  /** ms for which a mark is kept where an object was: longer than any message lives. */
  readonly markMs: number
  /** Marks that wait for their end in memory; the oldest go first. */
  readonly marksMax: number

  /** ms for which a collection's definition is believed without asking; and how many are. */
  readonly definitionMs: number
  readonly definitionsMax: number

  /** Bytes of rows in a frame of bulk. */
  readonly frameBytesMax: number
  /** Keys that a fill may leave to its tail. */
  readonly tailKeysMax: number
  /** Keys that a copy which is brought in line may have otherwise than its source until the tail. */
  readonly surplusKeysMax: number
  /** Rounds in which a fill tries to catch up before it gives up. */
  readonly fillRoundsMax: number
  /** ms after which a fill session that nobody asked for anything is forgotten. */
  readonly sessionMs: number
  /** Fill sessions at the same time, at either end. */
  readonly sessionsMax: number
  /** ms for which a learner's answer may wait for its round; the caller asks again. */
  readonly learnWaitMs: number
  /** ms for one call between holders, and for one row of bulk. */
  readonly callMs: number
  /** ms between two looks for rows that this node holds and does not own. */
  readonly strayCheckMs: number
  /** ms between a change of holdings and the recount. */
  readonly recountMs: number
  /** Bytes that the whole curve of a collection weighs, beside records: makes empty nodes split it evenly. */
  readonly curveWeightBytes: number
  /** Bytes of rows below which an interval is cut by its share of the curve, and up to which it is cut by reading it. */
  readonly cutBytesMin: number
  readonly cutScanBytesMax: number
}

/** Values to start from. All are guesses to be measured, but for what their fields say. */
export const storageDefaults: Omit<StorageInit, 'memberId' | 'unicodeVersion'> = {
  copyMs: 2000, // guess: above a slow flush; a silent member is replaced meanwhile
  spreadMsMax: 8000, // guess: below the deadline of a request
  pageRowsMax: 10_000,
  pageBytesMax: 8 << 20,
  messageRowsMax: 1_000,
  messageBytesMax: 256 << 10,
  scannedRowsMax: 20_000,
  scanPageRows: 256,
  toldIdsMax: 100_000,
  askMsMin: 500,
  updatesWaitingMax: 16,
  updateMsMax: 10_000,
  closeDelayMs: 200,
  drivenMax: 16,
  drivesWaitingMax: 10_000,
  driveAgainMsMin: 250,
  driveAgainMsMax: 60_000,
  markMs: 120_000,
  marksMax: 100_000,
  definitionMs: 30_000,
  definitionsMax: 1_000,
  frameBytesMax: 64 << 10,
  tailKeysMax: 100,
  surplusKeysMax: 10_000,
  fillRoundsMax: 20,
  sessionMs: 60_000,
  sessionsMax: 64,
  learnWaitMs: 2_000,
  callMs: 10_000,
  strayCheckMs: 60_000,
  recountMs: 1_000,
  curveWeightBytes: 4 << 10,
  cutBytesMin: 4 << 10,
  cutScanBytesMax: 4 << 20
}
