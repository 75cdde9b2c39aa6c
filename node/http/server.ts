// The HTTP API of one node (Fastify): puts the groups of routes together, with the guard before them and problems as the
// form of every failure. Body bytes reach the routes as they came. A stop lets running requests end, then ends them.

import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Socket } from 'node:net'
import type { Registry } from 'prom-client'
import type { Logger, Metrics } from '../../overlay/host.ts'
import { formatHostPort, isLoopback, type HostPort } from '../config/listen.ts'
import { ListenError } from '../errors.ts'
import type { StoreHealth } from '../disk-store.ts'
import type { NodeView } from '../node-view.ts'
import { adminRoutes } from './admin.ts'
import { batchRoutes } from './batch.ts'
import { collectionRoutes } from './collections.ts'
import { findRoutes } from './find.ts'
import { Gate } from './gate.ts'
import { createGuard } from './guard.ts'
import { healthRoutes } from './health.ts'
import { httpLimits, type HttpLimits } from './init.ts'
import { Methods } from './methods.ts'
import { objectRoutes } from './objects.ts'
import { serveOpenApi } from './openapi.ts'
import { Problem, internalCode, problemOf, problemType } from './problem.ts'
import { rangeRoutes } from './range.ts'
import { guardSockets } from './sockets.ts'
import { statusRoutes } from './status.ts'
import { Surface } from './surface.ts'

export interface HttpInit {
  readonly node: NodeView
  readonly log: Logger
  readonly metrics: Metrics
  /** What /metrics shows. */
  readonly registry: Registry
  /** Callers must show it, if given. Without one, listen on loopback only. */
  readonly token?: string | undefined
  readonly limits?: Partial<HttpLimits>
  /** Connections at the same time; further ones are closed at once. */
  readonly connectionsMax?: number | undefined
  /** How the disk of the store is. Absent where there is none. */
  readonly disk?: (() => Promise<StoreHealth>) | undefined
  /** Called when POST /v1/admin/leave has succeeded and its answer is sent. */
  readonly onLeft?: () => void
}

export interface HttpServer {
  /** @returns the base URL, with the port that was taken. @throws ListenError, one line with the remedy */
  listen (address: HostPort): Promise<string>
  /** From now on /readyz says 503. */
  drain (): void
  /** Accept nothing more, let requests end, and end those that last; settles within closeGraceMs + closeForceMs and a little. */
  close (): Promise<void>
  /** Requests carried out and waiting, for tests and metrics. */
  readonly gate: Gate
}

/** A text of 16 KiB in the query, percent-encoded, and some more. Node's own bound is 16 KiB. */
const headBytesMax = 64 << 10
/** Names of collections stand in paths. Beyond that find-my-way answers 404. */
const pathParameterLengthMax = 1_024

export async function createHttpServer (init: HttpInit): Promise<HttpServer> {
  const limits = { ...httpLimits, ...init.limits }
  const { log, metrics, node, registry } = init
  const gate = new Gate(limits)
  const surface = new Surface({ node, limits, gate, log, metrics })
  const state = { loopback: true, closing: false }
  const app = createApp(limits, log)
  const closeSilent = guardSockets(app.server, log, init.connectionsMax)
  const guard = createGuard({ token: init.token, loopback: () => state.loopback })
  app.addHook('onRequest', (request, _reply, done) => {
    guard(request)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const kind = `${Math.floor(reply.statusCode / 100)}xx`
    metrics.count('http_requests', { route: request.routeOptions.url ?? 'unknown', status: kind })
    // A connection that falls idle during a stop would keep the server for as long as it may idle.
    if (state.closing) setImmediate(() => { app.server.closeIdleConnections() })
    done()
  })
  await serveOpenApi(app)
  healthRoutes(app, { node, registry, metrics, gate, closing: () => state.closing, disk: init.disk })
  objectRoutes(app, surface)
  batchRoutes(app, surface)
  rangeRoutes(app, surface)
  findRoutes(app, surface)
  collectionRoutes(app, surface)
  statusRoutes(app, surface, init.disk)
  adminRoutes(app, surface, init.onLeft ?? (() => {}))
  return {
    gate,
    listen: async address => {
      state.loopback = isLoopback(address.host)
      return await listen(app, address)
    },
    drain: () => { state.closing = true },
    close: async () => {
      state.closing = true
      closeSilent()
      await close(app, gate, limits)
    }
  }
}

function createApp (limits: HttpLimits, log: Logger): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: limits.bodyBytesMax,
    http: { maxHeaderSize: headBytesMax },
    forceCloseConnections: 'idle',
    // The state tells it: requests that come on open connections during a stop still get an answer.
    return503OnClosing: false,
    routerOptions: { maxParamLength: pathParameterLengthMax, querystringParser: () => ({}) },
    clientErrorHandler: refuse,
    frameworkErrors: (error, request, reply) => { fail(log, error, request, reply) }
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => { done(null, body) })
  app.setErrorHandler((error, request, reply) => { fail(log, error, request, reply) })
  const methods = new Methods(app)
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    const allowed = methods.of(path).join(', ')
    if (allowed !== '') reply.header('allow', allowed)
    const problem = allowed === ''
      ? new Problem(404, 'no-such-route', `there is no ${path}; /openapi.json lists what there is`)
      : new Problem(405, 'method-not-allowed', `${path} takes no ${request.method}; it takes ${allowed}`)
    fail(log, problem, request, reply)
  })
  return app
}

/** What Node's parser does not take never becomes a request. */
function refuse (error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error)
    return
  }
  const problem = error.code === 'HPE_INVALID_URL'
    ? new Problem(400, 'invalid-url', 'the URL holds characters that must be percent-encoded as UTF-8 (curl: -G --data-urlencode key=…)', { field: 'url' })
    : error.code === 'HPE_HEADER_OVERFLOW'
      ? new Problem(431, 'headers-too-large', 'URL and headers together are too long; a key may have some thousand bytes')
      : new Problem(400, 'no-http', `this is no HTTP request that can be read (${error.code ?? error.message})`)
  const body = JSON.stringify(problem.body())
  socket.end(`HTTP/1.1 ${problem.status} ${problem.status === 431 ? 'Request Header Fields Too Large' : 'Bad Request'}\r\nConnection: close\r\nContent-Type: ${problemType}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
}

/** Answer with the problem, as bytes, since Fastify adds a charset to text, which JSON has not. Faults of this node are logged, here and only here. */
function fail (log: Logger, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const problem = problemOf(error)
  if (problem.code === internalCode) log.error({ area: 'http', method: request.method, route: request.routeOptions.url, error }, 'a request met a fault')
  const { retryAfterS } = problem.init
  if (retryAfterS !== undefined) reply.header('retry-after', String(retryAfterS))
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer')
  // The rest of a body that was refused is not worth reading.
  if (problem.status === 413) reply.header('connection', 'close')
  reply.removeHeader('etag')
  reply.code(problem.status).header('content-type', problemType).send(Buffer.from(JSON.stringify(problem.body())))
}

async function listen (app: FastifyInstance, address: HostPort): Promise<string> {
  try {
    await app.listen(address)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    const where = formatHostPort(address)
    if (code === 'EADDRINUSE') throw new ListenError(`${where} is in use by another program; give --rpc-listen another port (0 for any), or stop that program`)
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') throw new ListenError(`cannot listen on ${where} (${code}); give --rpc-listen an address of this machine that may be used`)
    throw error
  }
  const bound = app.server.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : address.port
  return `http://${formatHostPort({ host: address.host, port })}`
}

async function close (app: FastifyInstance, gate: Gate, limits: HttpLimits): Promise<void> {
  const timers = [
    setTimeout(() => { gate.abortAll() }, limits.closeGraceMs),
    setTimeout(() => { app.server.closeAllConnections() }, limits.closeGraceMs + limits.closeForceMs)
  ]
  try {
    await app.close()
  } finally {
    for (const timer of timers) clearTimeout(timer)
  }
}
