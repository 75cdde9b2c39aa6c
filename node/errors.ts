// Errors of the machine around a node: what an operator can put right. Each says in one line what is wrong, with which
// value, and what to do. Told apart by `name`. Errors of protocol code stand in overlay/errors.ts.

/** A setting, from whatever source, that cannot be used. `setting` is its name as the operator wrote it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly definite = true

  constructor (readonly setting: string, message: string) {
    super(message)
  }
}

/** The identity file cannot be used, and a new one would silently make this another peer. */
export class IdentityError extends Error {
  override readonly name = 'IdentityError'
  readonly definite = true
}

/** The data directory cannot be made, read or locked. */
export class DataDirError extends Error {
  override readonly name = 'DataDirError'
  readonly definite = true
}

/** An address that cannot be listened on. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
  readonly definite = true
}
