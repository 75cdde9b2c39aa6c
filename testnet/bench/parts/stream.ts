// The ceiling of calls between two nodes: the real host over libp2p (TCP, Noise, Yamux), one long-lived stream, frames of
// the sizes of a get, with no protocol above it. One part listens and answers, another calls.

import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Contact, Logger, Method, Metrics } from '../../../overlay/host.ts'
import { createLibp2pHost, type Libp2pHost } from '../../../node/libp2p-host.ts'
import { loopback } from '../../local/ports.ts'
import type { Tasks } from '../part.ts'
import type { Done, Span } from './load.ts'

interface CallsInput {
  readonly contact: Contact
  readonly requestBytes: number
  readonly inFlight: number
  readonly span: Span
}

const same = { encode: (bytes: Uint8Array) => bytes, decode: (bytes: Uint8Array) => bytes }
const echo: Method<Uint8Array, Uint8Array> = { name: 'bench/1/get', request: same, reply: same }
const callMs = 10_000

const silence = (): void => {}
const log: Logger = { debug: silence, info: silence, warn: silence, error: silence }
const metrics: Metrics = { count: silence, gauge: silence, observe: silence }

let host: Libp2pHost | undefined

async function start (): Promise<Libp2pHost> {
  host = await createLibp2pHost({ privateKey: await generateKeyPair('Ed25519'), listen: [`/ip4/${loopback}/tcp/0`], bootstrap: [], log, metrics })
  return host
}

async function listen ({ replyBytes }: { replyBytes: number }): Promise<Contact> {
  const listening = await start()
  const reply = new Uint8Array(replyBytes)
  listening.handle(echo, () => reply)
  await listening.start()
  return listening.self
}

async function calls ({ contact, requestBytes, inFlight, span }: CallsInput): Promise<Done> {
  if (host === undefined) await (await start()).start()
  const calling = host!
  const request = new Uint8Array(requestBytes)
  // The dial is not part of it.
  await calling.call(contact, echo, request, { deadlineMs: callMs })
  let count = 0
  const startMs = performance.now()
  await Promise.all(Array.from({ length: inFlight }, async () => {
    while (count < span.count || performance.now() - startMs < span.ms) {
      await calling.call(contact, echo, request, { deadlineMs: callMs })
      count++
    }
  }))
  return { count, ms: performance.now() - startMs }
}

export const tasks = { listen, calls } satisfies Tasks
