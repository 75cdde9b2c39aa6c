// One signal may end many calls at once (a node's own stop ends all it waits for), each with a listener that is removed
// when its call ends. Their number is bounded by the calls in flight, so Node's warning of a leak is lifted here.

import { setMaxListeners } from 'node:events'

export function listenAbort (signal: AbortSignal | undefined, listener: () => void): void {
  if (signal === undefined) return
  setMaxListeners(0, signal)
  signal.addEventListener('abort', listener, { once: true })
}
