// How a command ends: an exit code that scripts can tell apart, and for people one line with what to do.

export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  notFound: 4,
  partial: 5,
  interrupted: 130
} as const

/** A command that ends with another code than 0. The message is one line, without the program's name. */
export class Failure extends Error {
  override readonly name = 'Failure'

  constructor (readonly exitCode: number, message: string) {
    super(message)
  }
}

/** Wrong use of the command line. */
export function usage (message: string): Failure {
  return new Failure(exitCodes.usage, message)
}
