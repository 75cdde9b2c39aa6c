// The name that somebody probably meant: the known one with the fewest edits (Levenshtein distance), if it is near
// enough to be worth naming. Used for settings, query parameters, fields and columns alike.

import { distance } from 'fastest-levenshtein'

/** Edits up to which a name is worth suggesting: for short names some, for longer ones a share of their length. Guesses. */
const shortEditsMax = 2
const editsShareMax = 0.5

/** The nearest of known, or undefined when none is near. */
export function nearest (name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestEdits = Infinity
  for (const candidate of known) {
    const edits = distance(name.toLowerCase(), candidate.toLowerCase())
    if (edits < bestEdits && edits <= Math.max(shortEditsMax, Math.max(name.length, candidate.length) * editsShareMax)) {
      best = candidate
      bestEdits = edits
    }
  }
  return best
}

/** ` (did you mean X?)`, or nothing. */
export function didYouMean (name: string, known: Iterable<string>): string {
  const best = nearest(name, known)
  return best === undefined ? '' : `; did you mean ${best}?`
}
