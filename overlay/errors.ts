// Errors of the overlay and of the doors. Told apart by `name`, also after the wire. `definite` says that nothing was
// or will be done; an indefinite write may have happened and is never retried blindly.

import type { Interval } from './interval.ts'

/** An error that is told by its name; `definite` is false where the outcome is unknown. */
export interface NamedError extends Error {
  readonly definite: boolean
}

/** No connection could be made: nothing was sent. */
export class UnreachableError extends Error implements NamedError {
  override readonly name = 'UnreachableError'
  readonly definite = true
}

/** No reply within the deadline. */
export class TimeoutError extends Error implements NamedError {
  override readonly name = 'TimeoutError'
  readonly definite = false
}

/** The connection closed before the reply came. */
export class ConnectionLostError extends Error implements NamedError {
  override readonly name = 'ConnectionLostError'
  readonly definite = false
}

/** What the handler at the far end threw: its name, message and definiteness. */
export class RemoteError extends Error implements NamedError {
  override readonly name = 'RemoteError'
  readonly remoteName: string
  readonly definite: boolean

  constructor (remoteName: string, message: string, definite: boolean) {
    super(message)
    this.remoteName = remoteName
    this.definite = definite
  }
}

/** A queue or table is full; try again later. Nothing was done. */
export class BusyError extends Error implements NamedError {
  override readonly name = 'BusyError'
  readonly definite = true
}

/** This node is stopping or has stopped. Nothing was done. */
export class StoppedError extends Error implements NamedError {
  override readonly name = 'StoppedError'
  readonly definite = true
}

/** The caller gave up. */
export class AbortError extends Error implements NamedError {
  override readonly name = 'AbortError'
  readonly definite = false
}

/** The store failed or is closed. */
export class StoreError extends Error implements NamedError {
  override readonly name: string = 'StoreError'
  readonly definite: boolean = false
}

/** The disk is full: the batch was not applied. */
export class StoreFullError extends Error implements NamedError {
  override readonly name = 'StoreFullError'
  readonly definite = true
}

/** The local error name, or for a RemoteError the name at the far end. */
export function errorName (error: unknown): string {
  if (error instanceof RemoteError) return error.remoteName
  return error instanceof Error ? error.name : 'Error'
}

/** True where the failed call surely had no effect. Unknown errors count as indefinite. */
export function isDefinite (error: unknown): boolean {
  return error instanceof Error && (error as Partial<NamedError>).definite === true
}

/** Nobody answers for these keys: their owner is dead or silent. `definite` tells whether the request surely had no effect. */
export class OwnerUnreachableError extends Error implements NamedError {
  override readonly name = 'OwnerUnreachableError'
  readonly definite: boolean
  /** The keys without an owner that answers, as far as live neighbors tell. */
  readonly interval: Interval
  /** The contact id of the silent owner, where known. */
  readonly ownerId: string | undefined

  constructor (message: string, init: { interval: Interval, ownerId: string | undefined, definite: boolean }) {
    super(message)
    this.interval = init.interval
    this.ownerId = init.ownerId
    this.definite = init.definite
  }
}
