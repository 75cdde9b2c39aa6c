// The one error of this folder's validators: what a user gave is no point, extent or space. It says which field, which
// value, and what was expected, so that the surface can answer with it unchanged. Nothing was stored, so it is definite.

/** A point, extent or space that was refused. `field` names the part at fault, such as `bbox.west`. */
export class InvalidSpaceError extends Error {
  override readonly name = 'InvalidSpaceError'
  readonly definite = true
  readonly field: string

  constructor (field: string, reason: string) {
    super(`${field}: ${reason}`)
    this.field = field
  }
}

/** A value as an error message shows it: short, and telling null, strings, NaN and -0 apart. */
export function show (value: unknown): string {
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value)
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint' || value === undefined) return typeof value
  let text: string
  try {
    // JSON has no NaN and no Infinity and writes null for them
    text = JSON.stringify(value, (_key, part: unknown) => typeof part === 'number' && !Number.isFinite(part) ? String(part) : part)
  } catch {
    return typeof value
  }
  return text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}…` : text
}

/** guess: enough to recognize what one sent */
const shownCharactersMax = 80
