// What a second terminal asks of a running testnet: POST of a JSON object to /<verb> on a loopback port, with the token
// that stands in the running file, readable to its owner only. New daemons must be children of the testnet, to end with
// it; that is why `add` is not done by the second terminal itself.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Failure, exitCodes } from '../../node/cli/failure.ts'
import { loopback } from './ports.ts'
import type { Running } from './running-file.ts'

/** A verb: from the fields that were sent to those of the answer. What it throws is told to the caller. */
export type Verbs = Readonly<Record<string, (fields: Readonly<Record<string, unknown>>) => Promise<object>>>

export interface Control {
  readonly url: string
  readonly token: string
  close (): Promise<void>
}

const tokenBytes = 24
/** Requests are a few words long. */
const bodyBytesMax = 4_096

export async function openControl (verbs: Verbs): Promise<Control> {
  const token = randomBytes(tokenBytes).toString('hex')
  const server = createServer((request, response) => { void answer(verbs, token, request, response) })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, loopback, resolve)
  })
  return {
    url: `http://${loopback}:${(server.address() as AddressInfo).port}`,
    token,
    close: async () => {
      await new Promise<void>(resolve => {
        server.close(() => { resolve() })
        server.closeAllConnections()
      })
    }
  }
}

/** Ask a running testnet. @throws Failure with what it says */
export async function ask<T> (running: Running, verb: string, fields: object = {}): Promise<T> {
  const response = await fetch(`${running.control}/${verb}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${running.token}` },
    body: JSON.stringify(fields)
  }).catch(() => { throw new Failure(exitCodes.unreachable, `the testnet (process ${running.pid}) does not answer`) })
  const reply = await response.json() as { failure?: string }
  if (!response.ok) throw new Failure(exitCodes.failed, reply.failure ?? `the testnet answered ${response.status}`)
  return reply as T
}

async function answer (verbs: Verbs, token: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const send = (status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(body))
  }
  try {
    const verb = verbs[(request.url ?? '').slice(1)]
    if (!isRight(request.headers.authorization ?? '', `Bearer ${token}`)) send(401, { failure: 'the token is wrong' })
    else if (request.method !== 'POST' || verb === undefined) send(404, { failure: 'there is no such verb' })
    else send(200, await verb(await bodyOf(request)))
  } catch (error) {
    send(500, { failure: (error as Error).message })
  }
}

function isRight (given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)]
  return a.length === b.length && timingSafeEqual(a, b)
}

async function bodyOf (request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = ''
  for await (const chunk of request) {
    text += String(chunk)
    if (text.length > bodyBytesMax) throw new Error('the request is too long')
  }
  return JSON.parse(text) as Record<string, unknown>
}
