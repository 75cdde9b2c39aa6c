// What clients did and saw, for the checkers of answers. Moments are counted, not timed: of two that fall into one millisecond
// it is known which came first. A failure is definite (nothing was or will be done) or not; what is indefinite may take
// effect at any time from its invocation on, once, or never.

export type Outcome = 'ok' | 'failed' | 'indefinite'

interface Done {
  /** Who asked whom, when, for reports. */
  readonly label: string
  readonly invoked: number
  /** Infinity while it runs, and for good where it is indefinite. */
  readonly returned: number
  readonly outcome: Outcome
}

/** One put, delete or get of one key. */
export interface Operation extends Done {
  /** With its collection: names one record. */
  readonly key: string
  readonly kind: 'put' | 'delete' | 'get'
  /** What was written, unlike all else that was ever written; or what was read, undefined where there was nothing. */
  readonly value: string | undefined
  /** Writes that are ok: was a record there before? Undefined where the answer does not say. */
  readonly had: boolean | undefined
}

export interface Row { readonly key: string, readonly value: string }

/** One read of many keys, over all its pages. */
export interface Scan extends Done {
  readonly kind: 'range' | 'find'
  /** False: some owners did not answer. */
  readonly complete: boolean
  /** In the order of the answer. */
  readonly rows: readonly Row[]
  /** A limit ended it: of what lies behind the last row nothing is said. */
  readonly isCut: boolean
  /** Does it ask for this record, when it has this value? For a range the value does not matter. */
  readonly asksFor: (row: Row) => boolean
  /** The order that it asks for. */
  readonly compare: (a: Row, b: Row) => number
}

type Open<T extends Done> = Omit<T, 'invoked' | 'returned' | 'outcome'>
type Writable<T> = { -readonly [Field in keyof T]: T[Field] }

export class History {
  readonly operations: Operation[] = []
  readonly scans: Scan[] = []
  #moments = 0

  /** An operation begins now. @returns what ends it */
  operation (open: Open<Operation>): (end: { outcome: Outcome, value?: string | undefined, had?: boolean | undefined }) => void {
    const operation: Writable<Operation> = { ...open, ...this.#begun() }
    this.operations.push(operation)
    return end => { Object.assign(operation, end, this.#ended(end.outcome)) }
  }

  scan (open: Omit<Open<Scan>, 'complete' | 'rows' | 'isCut'>): (end: Pick<Scan, 'outcome' | 'complete' | 'rows' | 'isCut'>) => void {
    const scan: Writable<Scan> = { ...open, complete: false, rows: [], isCut: false, ...this.#begun() }
    this.scans.push(scan)
    return end => { Object.assign(scan, end, this.#ended(end.outcome)) }
  }

  #begun (): Pick<Done, 'invoked' | 'returned' | 'outcome'> {
    return { invoked: ++this.#moments, returned: Infinity, outcome: 'indefinite' }
  }

  #ended (outcome: Outcome): Pick<Done, 'returned'> {
    return { returned: outcome === 'indefinite' ? Infinity : ++this.#moments }
  }
}

export function textOf ({ kind, value, had, outcome, label, invoked, returned }: Operation): string {
  const what = kind === 'get' ? `get gave ${value ?? 'nothing'}` : kind === 'put' ? `put of ${value ?? ''}` : 'delete'
  const answer = outcome !== 'ok' ? ` (${outcome})` : had === undefined ? '' : ` (${had ? 'over a record' : 'over nothing'})`
  return `${what}${answer} by ${label}, moments ${invoked} to ${returned}`
}
