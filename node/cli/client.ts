// The HTTP API as the commands call it. Every failure becomes one line and an exit code: no daemon there (3), nothing
// found (4), a request that was wrong (2) or failed (1).

import { Failure, exitCodes } from './failure.ts'
import type { RpcTarget } from './rpc-address.ts'

export interface Call {
  readonly method?: string
  /** Undefined values are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

export class Client {
  constructor (readonly target: RpcTarget) {}

  /** @throws Failure unless the answer is a success */
  async call (path: string, call: Call = {}): Promise<Response> {
    const given = Object.entries(call.query ?? {}).filter(([, value]) => value !== undefined).map(([name, value]) => [name, String(value)])
    const search = given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
    const authorization = this.target.token === undefined ? {} : { authorization: `Bearer ${this.target.token}` }
    const response = await fetch(this.target.url + path + search, {
      method: call.method ?? 'GET',
      headers: { ...authorization, ...call.headers },
      body: call.body as BodyInit | undefined ?? null
    }).catch((error: unknown) => { throw unreachable(this.target, error) })
    if (!response.ok) throw await failureOf(response, this.target, path, call)
    return response
  }

  async json<T> (path: string, call?: Call): Promise<T> {
    return await (await this.call(path, call)).json() as T
  }
}

/** Lines of a response; a connection that breaks is a Failure. */
export async function * linesOfResponse (response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      yield * lines
    }
  } catch {
    throw new Failure(exitCodes.failed, 'the answer broke off: the daemon stopped or a peer was lost; try again')
  }
  if (rest !== '') yield rest
}

function unreachable ({ url, found }: RpcTarget, error: unknown): Failure {
  const cause = (error as { cause?: { code?: string } }).cause
  return new Failure(exitCodes.unreachable, `no daemon answers at ${url} (from ${found}${cause?.code === undefined ? '' : `, ${cause.code}`}); start one with \`isobar daemon\`, or say where with --rpc`)
}

/** The code of problems that stands for a collection that nobody has defined. */
export const unknownCollectionCode = 'unknown-collection'

/** With the command that defines it: there is no other way than HTTP. */
export function unknownCollection (name: string, { url, token }: RpcTarget): Failure {
  const path = encodeURIComponent(name).replaceAll("'", '%27')
  const authorization = token === undefined ? '' : "-H 'authorization: Bearer TOKEN' "
  const command = `curl -X PUT ${authorization}-H 'content-type: application/json' -d '{"kind":"ordered"}' '${url}/v1/collections/${path}'`
  return new Failure(exitCodes.notFound, `collection ${JSON.stringify(name)} is not defined; this defines it ("spatial" for one with places): ${command}`)
}

async function failureOf (response: Response, target: RpcTarget, path: string, { query }: Call): Promise<Failure> {
  const problem = await response.json().catch(() => ({})) as { code?: string, detail?: string }
  const { status } = response
  if (problem.code === unknownCollectionCode) return unknownCollection(String(query?.['collection'] ?? decodeURIComponent(path.slice(path.lastIndexOf('/') + 1))), target)
  const code = status === 404 ? exitCodes.notFound : status === 400 ? exitCodes.usage : exitCodes.failed
  return new Failure(code, problem.detail ?? `the daemon answered ${status}`)
}
