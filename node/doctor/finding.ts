// What one check of `isobar doctor` has found: a line for people, a record for programs.

export type Verdict = 'ok' | 'warning' | 'problem'

export interface Finding {
  readonly check: string
  readonly verdict: Verdict
  /** What is so, in one line. */
  readonly text: string
  /** What to do; absent where nothing is to be done. */
  readonly remedy?: string
}

export const ok = (check: string, text: string): Finding => ({ check, verdict: 'ok', text })
export const warning = (check: string, text: string, remedy: string): Finding => ({ check, verdict: 'warning', text, remedy })
export const problem = (check: string, text: string, remedy: string): Finding => ({ check, verdict: 'problem', text, remedy })

/** From an error whose message says what and, behind the first semicolon, what to do; else `remedy` is that. */
export function problemFrom (check: string, error: unknown, remedy: string): Finding {
  const message = (error as Error).message.replaceAll(/\s*\n\s*/g, ' ')
  const at = message.indexOf('; ')
  return at < 0 ? problem(check, message, remedy) : problem(check, message.slice(0, at), message.slice(at + 2))
}

const verdictColumns = 'problem'.length
const checkColumns = 'identity'.length

export function lineOf ({ verdict, check, text, remedy }: Finding): string {
  return `${verdict.padEnd(verdictColumns)}  ${check.padEnd(checkColumns)}  ${text}${remedy === undefined ? '' : `; ${remedy}`}\n`
}
