// The sockets under the HTTP API: connections beyond the bound are closed by Node at once, and idle ones make room for
// those that come next. A failed accept, which Node tells as an error of the server, must not end the process.

import type { Server } from 'node:http'
import type { Logger } from '../../overlay/host.ts'
import { LimitedLog } from '../limited-log.ts'

/** @param connectionsMax - any number, if not given */
export function guardSockets (server: Server, log: Logger, connectionsMax: number | undefined): void {
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
}
