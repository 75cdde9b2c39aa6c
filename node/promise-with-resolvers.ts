// libp2p 3 calls Promise.withResolvers, which Node 20 lacks. First import of every entry point of the daemon;
// without it the far end of a dial dies with a misleading ECONNRESET.

Promise.withResolvers ??= function withResolvers<T> () {
  let resolve!: (value: T | PromiseLike<T>) => void
  let reject!: (reason?: unknown) => void
  const promise = new Promise<T>((_resolve, _reject) => { resolve = _resolve; reject = _reject })
  return { promise, resolve, reject }
}
