// Which methods a path takes: a request with another one is told them, by 405 with Allow (RFC 9110 section 15.5.6),
// which the router does not do.

import type { FastifyInstance } from 'fastify'

export class Methods {
  readonly #routes: Array<{ readonly path: RegExp, readonly methods: readonly string[] }> = []

  /** To be made before the first route. */
  constructor (app: FastifyInstance) {
    app.addHook('onRoute', ({ url, method }) => { this.#routes.push({ path: pathOf(url), methods: [method].flat() }) })
  }

  /** In alphabetical order; none for a path that is not there. */
  of (path: string): string[] {
    return [...new Set(this.#routes.filter(route => route.path.test(path)).flatMap(({ methods }) => methods))].sort()
  }
}

/** As the router reads it: :name is a segment, :: a colon. */
function pathOf (url: string): RegExp {
  const segments = url.split('/').map(segment => /^:[^:]/.test(segment) ? '[^/]+' : segment.replaceAll('::', ':').replace(/[^\w-]/g, '\\$&'))
  return new RegExp(`^${segments.join('/')}$`)
}
