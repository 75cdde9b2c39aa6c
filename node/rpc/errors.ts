// Errors of calls that the overlay does not know: told by name, like all.

import type { NamedError } from '../../overlay/errors.ts'

/** A message is larger than a frame may be. Definite for a request, which was not sent; not for a reply: its work was done. */
export class OversizeError extends Error implements NamedError {
  override readonly name = 'OversizeError'
  readonly definite: boolean

  constructor (message: string, definite: boolean) {
    super(message)
    this.definite = definite
  }
}

/** The far end has no handler for the method. */
export class UnknownMethodError extends Error implements NamedError {
  override readonly name = 'UnknownMethodError'
  readonly definite = true
}

/** Bytes that the codec of the method does not read. Definite for a request: the handler was not run; not for a reply. */
export class MalformedMessageError extends Error implements NamedError {
  override readonly name = 'MalformedMessageError'
  readonly definite: boolean

  constructor (message: string, definite: boolean) {
    super(message)
    this.definite = definite
  }
}

/** Nothing came over a connection for so long that it is held for dead. */
export class SilentError extends Error implements NamedError {
  override readonly name = 'SilentError'
  readonly definite = false
}
