// A wire codec made by protons as a codec of domain messages. Both forms have the same fields; protons leaves an absent
// one out, the domain writes `undefined`, which protons treats alike. What a message must have is checked here once,
// so handlers never meet half a message.

import type { Codec } from './host.ts'

interface WireCodec {
  encode (message: never): Uint8Array
  decode (bytes: Uint8Array): unknown
}

/** A peer sent bytes that are no such message. Nothing was done. */
export class InvalidMessageError extends Error {
  override readonly name = 'InvalidMessageError'
  readonly definite = true
}

/**
 * @param wire - what protons generated
 * @param required - paths of nested messages that must be there: `a.b`, and `list[].b` for each item of a list. A path
 * below an absent optional message is not looked at unless that message is listed too.
 */
export function codec<T> (wire: WireCodec, required: readonly string[] = []): Codec<T> {
  const paths = required.map(path => path.split('.'))
  return {
    encode: message => wire.encode(message as never),
    decode (bytes) {
      const message = wire.decode(bytes)
      for (const path of paths) requirePath(message, path, 0)
      return message as T
    }
  }
}

function requirePath (value: unknown, path: readonly string[], at: number): void {
  const step = path[at]
  if (step === undefined || value === undefined) return
  const list = step.endsWith('[]')
  const child = (value as Record<string, unknown>)[list ? step.slice(0, -2) : step]
  if (list) {
    for (const item of child as unknown[]) requirePath(item, path, at + 1)
  } else if (child === undefined && at === path.length - 1) {
    throw new InvalidMessageError(`message lacks ${path.join('.')}`)
  } else {
    requirePath(child, path, at + 1)
  }
}
