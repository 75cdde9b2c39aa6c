// What went wrong, as RFC 9457 application/problem+json: a stable `code` for programs, one line with the remedy for
// people, `field` where a part of the request is at fault, and `definite: false` where a write may have happened.
// Errors of storage and overlay are told by their name, also when they come from another node.

import { errorName, isDefinite, RemoteError, OwnerUnreachableError } from '../../overlay/errors.ts'
import { splitKey, textOfBound } from '../key-text.ts'

export const problemType = 'application/problem+json'

const titles: Readonly<Record<number, string>> = {
  400: 'Bad request', 401: 'Token needed', 403: 'Not allowed', 404: 'Not found', 405: 'Method not allowed', 406: 'No such form', 409: 'Conflict', 413: 'Too large', 415: 'Content type not understood', 431: 'Headers too large', 499: 'Client gone', 500: 'Fault of this node', 503: 'Not available now', 504: 'No answer in time', 507: 'Disk full'
}

export interface ProblemInit {
  readonly field?: string | undefined
  /** Seconds after which a retry makes sense. */
  readonly retryAfterS?: number | undefined
  /** False: the write may have happened. */
  readonly definite?: boolean | undefined
  readonly extra?: object | undefined
}

/** An answer other than success, thrown by handlers. */
export class Problem extends Error {
  override readonly name = 'Problem'

  constructor (readonly status: number, readonly code: string, detail: string, readonly init: ProblemInit = {}) {
    super(detail)
  }

  body (): Record<string, unknown> {
    const { field, definite, extra } = this.init
    return {
      type: 'about:blank',
      title: titles[this.status] ?? 'Problem',
      status: this.status,
      code: this.code,
      detail: this.message,
      ...(field === undefined ? {} : { field }),
      ...(definite === undefined ? {} : { definite }),
      ...extra
    }
  }
}

/** 400 for one field. */
export function badField (field: string, detail: string): Problem {
  return new Problem(400, 'invalid-request', `${field}: ${detail}`, { field })
}

interface Rule {
  readonly status: number
  readonly code: string
  readonly remedy?: string
  readonly retryAfterS?: number
}

const retrySoon = 1
/** The code of what nobody foresaw. */
export const internalCode = 'internal'
/** By error name. Names that stand here are part of what storage and overlay promise. */
const rules: Readonly<Record<string, Rule>> = {
  InvalidRequestError: { status: 400, code: 'invalid-request' },
  InvalidSpaceError: { status: 400, code: 'invalid-request' },
  InvalidWordError: { status: 400, code: 'invalid-request' },
  ConfigError: { status: 400, code: 'invalid-request' },
  UnknownCollectionError: { status: 404, code: 'unknown-collection' },
  CollectionConflictError: { status: 409, code: 'collection-conflict', remedy: 'take another name' },
  UnfinishedError: { status: 504, code: 'unfinished', remedy: 'it is stored; find will show it soon' },
  JoinError: { status: 409, code: 'join-failed' },
  LeaveError: { status: 409, code: 'leave-failed' },
  StoppedError: { status: 503, code: 'stopping', remedy: 'ask another peer', retryAfterS: retrySoon },
  BusyError: { status: 503, code: 'busy', remedy: 'try again later', retryAfterS: retrySoon },
  UnreachableError: { status: 503, code: 'peer-unreachable', remedy: 'try again later', retryAfterS: retrySoon },
  OwnerUnreachableError: { status: 503, code: 'owner-unreachable', remedy: 'try again when it is back', retryAfterS: retrySoon },
  TimeoutError: { status: 504, code: 'deadline', remedy: 'give more time with deadlineMs, or look at /v1/peers' },
  ConnectionLostError: { status: 504, code: 'connection-lost', remedy: 'ask for the state before you repeat a write' },
  AbortError: { status: 499, code: 'aborted' },
  StoreFullError: { status: 507, code: 'disk-full' },
  StoreError: { status: 503, code: 'store-failing', remedy: 'see the log of that peer; others go on', retryAfterS: retrySoon },
  StoreLockedError: { status: 503, code: 'store-failing', retryAfterS: retrySoon },
  StoreCorruptError: { status: 500, code: 'store-damaged' }
}

/** Errors of Fastify, by their code. */
const frameworkRules: Readonly<Record<string, Rule>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { status: 413, code: 'body-too-large', remedy: '/v1/status tells the limit as bodyBytesMax' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { status: 415, code: 'content-type' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { status: 400, code: 'content-length' },
  FST_ERR_BAD_URL: { status: 400, code: 'invalid-url', remedy: 'percent-encode it' }
}

/** The problem that an error stands for. Unknown ones are faults of this node: 500, without their text. */
export function problemOf (error: unknown): Problem {
  if (error instanceof Problem) return error
  const rule = rules[errorName(error)] ?? frameworkRules[(error as { code?: string }).code ?? '']
  if (rule === undefined) return new Problem(500, internalCode, 'this node met a fault, see its log; other peers may answer')
  const message = error instanceof Error ? error.message : String(error)
  const detail = rule.remedy === undefined ? message : `${message}; ${rule.remedy}`
  const field = (error as { field?: unknown }).field ?? (error instanceof RemoteError ? fieldOf(message) : undefined)
  return new Problem(rule.status, rule.code, detail, {
    field: typeof field === 'string' ? field : undefined,
    retryAfterS: rule.retryAfterS,
    definite: rule.status >= 500 ? isDefinite(error) : undefined,
    extra: error instanceof OwnerUnreachableError ? { missing: [missingOf(error)] } : undefined
  })
}

/** Refusals of other nodes come as text alone, which begins with the field and a colon. */
function fieldOf (message: string): string | undefined {
  return /^(?<field>[A-Za-z][\w.[\]]*): /.exec(message)?.groups?.['field']
}

/** As in reads: keys without their collection; an end beyond it is open. */
function missingOf (error: OwnerUnreachableError): object {
  const low = splitKey(error.interval.low)
  const high = error.interval.high === undefined ? undefined : splitKey(error.interval.high)
  const to = high === undefined || high.collection !== low.collection ? null : textOfBound(high.key)
  return { from: textOfBound(low.key), to, peer: error.ownerId ?? null, reason: 'owner-unreachable' }
}
