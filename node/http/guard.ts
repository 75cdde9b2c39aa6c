// Who may call. On loopback a web page must not: neither by a name that resolves to this machine (DNS rebinding: the Host
// header tells), nor by a request across origins (the Origin header tells; there is no CORS). With a token, callers show
// it as `Authorization: Bearer …`; it is compared in constant time. Life signs need none.

import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { isLoopback } from '../config/listen.ts'
import { Problem } from './problem.ts'

/** Hosts that passed are remembered, since each request asks. A guess: name and port vary little. */
const knownHostsMax = 64
/** What supervisors ask before they know anything. */
const openPaths = new Set(['/healthz', '/readyz', '/version'])

export interface GuardInit {
  readonly token: string | undefined
  /** Does the server listen where only this machine reaches it? */
  readonly loopback: () => boolean
}

/** @returns a check that throws Problem 401 or 403 */
export function createGuard ({ token, loopback }: GuardInit): (request: FastifyRequest) => void {
  const expected = token === undefined ? undefined : digest(`Bearer ${token}`)
  const knownHosts = new Set<string>()
  return request => {
    const { host, origin, authorization } = request.headers
    if (loopback() && !knownHosts.has(host ?? '') && !isLocalHost(host)) {
      throw new Problem(403, 'host-not-allowed', `Host ${JSON.stringify(host ?? '')} is not this machine; call it as localhost, 127.0.0.1 or [::1]`)
    }
    if (host !== undefined && loopback() && knownHosts.size < knownHostsMax) knownHosts.add(host)
    if (origin !== undefined && origin !== `http://${host ?? ''}`) {
      throw new Problem(403, 'origin-not-allowed', 'web pages of another origin may not call this API')
    }
    if (expected === undefined || openPaths.has(request.routeOptions.url ?? '')) return
    if (authorization === undefined || !timingSafeEqual(digest(authorization), expected)) {
      throw new Problem(401, 'token-needed', 'this API needs its token: Authorization: Bearer TOKEN (with isobar: --rpc-token-file FILE)')
    }
  }
}

function isLocalHost (host: string | undefined): boolean {
  if (host === undefined) return false
  const name = /^(?:\[(?<ipv6>[^\]]+)\]|(?<name>[^:]+))(?::\d+)?$/.exec(host)?.groups
  const plain = (name?.['ipv6'] ?? name?.['name'] ?? '').toLowerCase()
  return isLoopback(plain) || plain.endsWith('.localhost')
}

/** Of equal length for any input, as the comparison needs. */
function digest (text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
