// The ceilings of an HTTP server on this machine: a Fastify handler that does nothing but answer with a value of the same
// size, and, to see whether the load generator is the limit, a bare socket that answers each request with ready bytes.

import Fastify from 'fastify'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { loopback } from '../../local/ports.ts'
import type { Tasks } from '../part.ts'

/** @returns its port */
async function fastify ({ value }: { value: string }): Promise<number> {
  const app = Fastify()
  const bytes = Buffer.from(value)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => { done(null, body) })
  app.get('/v1/objects', async (_request, reply) => reply.header('content-type', 'text/plain').send(bytes))
  app.put('/v1/objects', async (_request, reply) => reply.header('content-type', 'text/plain').send(bytes))
  await app.listen({ host: loopback, port: 0 })
  return (app.server.address() as AddressInfo).port
}

/** @returns its port */
async function bare ({ value }: { value: string }): Promise<number> {
  const answer = Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${value.length}\r\n\r\n${value}`)
  const server = createServer({ noDelay: true }, socket => {
    // Its only client has one request in flight, which comes in one piece.
    socket.on('data', () => { socket.write(answer) }).on('error', () => {})
  }).listen(0, loopback)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

export const tasks = { fastify, bare } satisfies Tasks
