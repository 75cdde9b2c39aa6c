// Questions of `isobar doctor` to daemons: each bounded in time, with what the daemon's clock said when it answered.

import type { RpcTarget } from '../cli/rpc-address.ts'

/** A daemon that takes longer is not well. A guess. */
export const answerMsMax = 3_000

export interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  /** The far wall clock minus this one's, in ms. HTTP tells it by the second, so it may be off by half of one. Undefined where it is not told. */
  readonly clockAheadMs: number | undefined
}

/** @throws what fetch throws, an AbortError or TimeoutError of the platform among it */
export async function ask ({ url, token }: Pick<RpcTarget, 'url' | 'token'>, path: string, deadlineMs = answerMsMax): Promise<Answer> {
  const startMs = Date.now()
  const response = await fetch(url + path, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(deadlineMs)
  })
  const endMs = Date.now()
  const body = await response.json().catch(() => ({})) as Record<string, unknown>
  const date = Date.parse(response.headers.get('date') ?? '')
  return { status: response.status, body, clockAheadMs: Number.isNaN(date) ? undefined : date + 500 - (startMs + endMs) / 2 }
}

/** What stands behind the "fetch failed" of a call that got no answer. */
export function causeOf (error: unknown): string {
  const { name, cause } = error as { name?: string, cause?: { code?: string } }
  return cause?.code ?? (name === 'TimeoutError' ? `no answer in ${answerMsMax / 1_000} s` : String(error))
}
