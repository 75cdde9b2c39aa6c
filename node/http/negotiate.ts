// Which of the forms on offer a client wants, by its Accept header (RFC 9110 section 12.5.1): the highest q, and among
// equals the more exactly named, then the first on offer.

import { Problem } from './problem.ts'

/** @throws Problem 406 that names what is on offer */
export function negotiate<T extends string> (accept: string | undefined, offered: readonly [T, ...T[]]): T {
  if (accept === undefined || accept === '*/*') return offered[0]
  let best: T | undefined
  let bestRank = 0
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.trim().toLowerCase().split(';').map(part => part.trim())
    const q = Number(parameters.find(parameter => parameter.startsWith('q='))?.slice(2) ?? 1)
    const match = offered.find(offer => matches(type, offer))
    const exact = type === '*/*' ? 0 : type.endsWith('/*') ? 1 : 2
    // q has three digits at most, so exactness decides only among equals
    const rank = q > 0 ? q * 10_000 + exact : 0
    if (match !== undefined && rank > bestRank) {
      best = match
      bestRank = rank
    }
  }
  if (best === undefined) throw new Problem(406, 'not-acceptable', `Accept: ${accept} is not on offer; this is: ${offered.join(', ')}`)
  return best
}

function matches (range: string, offer: string): boolean {
  return range === '*/*' || range === offer || (range.endsWith('/*') && offer.startsWith(range.slice(0, -1)))
}
