// Errors of storage/. Told apart by `name`, also after the wire; `definite` says that nothing was or will be done.

import type { NamedError } from '../overlay/errors.ts'

/** A request that is refused for what it says. `field` names the part at fault; nothing was done. */
export class InvalidRequestError extends Error implements NamedError {
  override readonly name = 'InvalidRequestError'
  readonly definite = true
  readonly field: string

  /** @param reason - what is wrong with which value, and what was expected */
  constructor (field: string, reason: string) {
    super(`${field}: ${reason}`)
    this.field = field
  }
}

/** No collection of this name is defined. Nothing was done. */
export class UnknownCollectionError extends Error implements NamedError {
  override readonly name = 'UnknownCollectionError'
  readonly definite = true
}

/** A collection of this name is there and is another one. Nothing was done. */
export class CollectionConflictError extends Error implements NamedError {
  override readonly name = 'CollectionConflictError'
  readonly definite = true
}

/** An update is stored and will take effect, but not all places have answered yet: it is seen by its id, perhaps not yet by find. */
export class UnfinishedError extends Error implements NamedError {
  override readonly name = 'UnfinishedError'
  readonly definite = false
}

/** A fill session that the source does not know: it restarted, or nobody asked for long. The fill begins anew. */
export class UnknownSessionError extends Error implements NamedError {
  override readonly name = 'UnknownSessionError'
  readonly definite = true
}

/** A fill that cannot be done or did not end in its bounds. */
export class FillError extends Error implements NamedError {
  override readonly name = 'FillError'
  readonly definite = true
}

/** Stored bytes that are no row of a layout known here: a newer version wrote them, or the disk is damaged. */
export class UnreadableRowError extends Error implements NamedError {
  override readonly name = 'UnreadableRowError'
  readonly definite = true
}
