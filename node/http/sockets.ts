// The sockets under the HTTP API: connections beyond the bound are closed by Node at once, and idle ones make room for
// those that come next. A failed accept, which Node tells as an error of the server, must not end the process. Nor may a
// stop wait for a connection that was opened ahead of need, as browsers and undici do, and has never asked anything.

import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from '../../overlay/host.ts'
import { LimitedLog } from '../limited-log.ts'

/**
 * @param connectionsMax - any number, if not given
 * @returns to be called when the server closes: ends the connections that have sent nothing, which Node counts as busy
 */
export function guardSockets (server: Server, log: Logger, connectionsMax: number | undefined): () => void {
  const limited = new LimitedLog(log)
  if (connectionsMax !== undefined) server.maxConnections = connectionsMax
  server.on('drop', () => {
    limited.warn('drop', { connectionsMax }, 'connections are turned away: as many are open as the limit of open files leaves room for; raise it (ulimit -n)')
    server.closeIdleConnections()
  })
  server.on('error', (error: NodeJS.ErrnoException) => {
    // Before it listens whoever told it to is told.
    if (server.listening) limited.warn('accept', { error }, 'a connection could not be accepted')
  })
  const sockets = new Set<Socket>()
  server.on('connection', socket => {
    sockets.add(socket)
    socket.once('close', () => { sockets.delete(socket) })
  })
  return () => {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }
}
