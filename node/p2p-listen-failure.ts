// libp2p tells in many words, with a stack among them, that it could not listen. For operators: one line, the address,
// and what to do.

import { ListenError } from './errors.ts'

const codes = ['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL']

/**
 * @param addresses - multiaddrs that libp2p was told to listen at
 * @returns a ListenError where that is what error tells, else error
 */
export function p2pListenFailure (error: unknown, addresses: readonly string[]): unknown {
  const text = error instanceof Error ? error.message : ''
  const code = codes.find(code => text.includes(code))
  if (code === undefined) return error
  const named = addresses.filter(address => text.includes(address))
  const where = (named.length > 0 ? named : addresses).join(', ')
  return new ListenError(code === 'EADDRINUSE'
    ? `${where} is in use by another program; give --p2p-listen another port (0 for any), or stop that program`
    : `cannot listen on ${where} (${code}); give --p2p-listen an address of this machine that may be used`)
}
