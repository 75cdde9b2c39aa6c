// The Host of a real machine, over libp2p. Calls to one peer share one long-lived stream, batched by turns of the event
// loop; bulk has streams of its own. What differs from the simulated host is what networks do, not what protocol code
// sees: test/conformance/host.ts is the suite of both.

import './promise-with-resolvers.ts'
import { setMaxListeners } from 'node:events'
import type { Stream } from '@libp2p/interface'
import { AbortError, RemoteError, StoppedError, TimeoutError, UnreachableError, errorName, isDefinite } from '../overlay/errors.ts'
import type { CallOptions, Contact, Gone, Host, Logger, Method, Metrics, Notice, PullMethod, TimerId } from '../overlay/host.ts'
import type { Source } from '../overlay/stream.ts'
import { discover } from './discover.ts'
import { HostTimers } from './host-timers.ts'
import { createLibp2pNode, withoutPeerId } from './libp2p-node.ts'
import type { Libp2pNode, Libp2pNodeInit } from './libp2p-node.ts'
import { pullRows } from './rpc/bulk.ts'
import type { Caller } from './rpc/caller.ts'
import { Dialer } from './rpc/dialer.ts'
import { Handlers, encodeMessage } from './rpc/handlers.ts'
import { addressesMax, discoveredMax, closeMsMax, noticesWaitingMax, stopMsMax } from './rpc/init.ts'
import { Peers } from './rpc/peers.ts'
import { SteadyClock, machineClocks, type Clocks } from './steady-clock.ts'
import { listenAbort } from './listen-abort.ts'

export interface Libp2pHostInit extends Libp2pNodeInit {
  readonly log: Logger
  readonly metrics: Metrics
  /** Those of the machine, if not given. */
  readonly clocks?: Clocks | undefined
}

/** libp2p made, nothing listens yet: handlers come first, then `start`. */
export async function createLibp2pHost (init: Libp2pHostInit): Promise<Libp2pHost> {
  return new Libp2pHost({ libp2p: await createLibp2pNode(init) }, init)
}

/** True for libp2p's fault of sending on a stream that closes at that moment: no fault of this program, and no reason to end it. */
export function isStreamStateFault (error: unknown): boolean {
  return error instanceof Error && error.name === 'StreamStateError'
}

export class Libp2pHost implements Host {
  /** For node/ only. */
  readonly libp2p: Libp2pNode
  readonly log: Logger
  readonly metrics: Metrics
  readonly #bootstrap: string[]
  readonly #clock: SteadyClock
  readonly #timers = new HostTimers()
  readonly #handlers = new Handlers()
  readonly #peers: Peers
  readonly #onGone = new Set<(contact: Contact, why: Gone) => void>()
  readonly #stopping = new AbortController()
  /** Notices that wait for their peer's stream, by peer. */
  readonly #notices = new Map<string, Array<(caller: Caller) => void>>()
  #self: Contact

  constructor ({ libp2p }: { readonly libp2p: Libp2pNode }, init: Libp2pHostInit) {
    this.libp2p = libp2p
    this.#clock = new SteadyClock(init.clocks ?? machineClocks)
    this.log = init.log
    this.metrics = init.metrics
    this.#bootstrap = [...init.bootstrap]
    this.#self = { id: libp2p.peerId.toString(), addresses: [] }
    setMaxListeners(0, this.#stopping.signal)
    const { log, metrics } = init
    const onGone = (contact: Contact, why: Gone): void => { for (const fn of [...this.#onGone]) fn(contact, why) }
    const dialer = new Dialer({ libp2p, log, metrics, now: () => this.now(), random: () => this.random(), onRefused: contact => { onGone(contact, 'refused') } })
    this.#peers = new Peers({ libp2p, handlers: this.#handlers, dialer, log, metrics }, { self: () => this.#self, onGone })
  }

  async start (): Promise<void> {
    await this.#peers.start()
    await this.libp2p.start()
    const addresses = this.libp2p.getMultiaddrs().map(address => withoutPeerId(address.toString()))
    this.#self = { id: this.#self.id, addresses: addresses.slice(0, addressesMax) }
  }

  /** Ends all that waits, then libp2p. A second call does nothing. */
  async stop (): Promise<void> {
    if (this.#stopping.signal.aborted) return
    const error = new StoppedError('this node stops')
    this.#stopping.abort(error)
    this.#timers.stop()
    this.#peers.stop(error)
    const end = await Promise.race([this.#stopLibp2p(error), new Promise<'late'>(resolve => { setTimeout(resolve, stopMsMax, 'late').unref() })])
    if (end !== 'late') return
    this.log.warn({ stopMsMax }, 'libp2p did not stop in time; its connections are aborted')
    for (const connection of this.libp2p.getConnections()) connection.abort(error)
  }

  /** Connections first: libp2p waits half a second for each whose far end stops too. */
  async #stopLibp2p (error: Error): Promise<void> {
    await Promise.all(this.libp2p.getConnections().map(async connection => {
      await connection.close({ signal: AbortSignal.timeout(closeMsMax) }).catch(() => { connection.abort(error) })
    }))
    await this.libp2p.stop()
  }

  get self (): Contact { return this.#self }
  now (): number { return this.#clock.now() }
  wallClock (): number { return this.#clock.wallClock() }
  sleep (ms: number, signal?: AbortSignal): Promise<void> { return this.#timers.sleep(ms, signal) }
  after (ms: number, fn: () => void): TimerId { return this.#timers.after(ms, fn) }
  cancel (timer: TimerId): void { this.#timers.cancel(timer) }
  deadline (ms: number, parent?: AbortSignal): AbortSignal { return this.#timers.deadline(ms, parent) }
  random (): number { return Math.random() }

  handle<Request, Reply> (method: Method<Request, Reply>, fn: (request: Request, from: Contact) => Reply | Promise<Reply>): void {
    this.#handlers.handle(method, fn)
  }

  onNotice<Message> (notice: Notice<Message>, fn: (message: Message, from: Contact) => void): void {
    this.#handlers.onNotice(notice, fn)
  }

  handlePull<Request, Row> (method: PullMethod<Request, Row>, fn: (request: Request, from: Contact) => Source<Row>): void {
    this.#handlers.handlePull(method, fn)
  }

  async call<Request, Reply> (contact: Contact, method: Method<Request, Reply>, request: Request, options: CallOptions): Promise<Reply> {
    if (this.#isStopped) throw new StoppedError('this node has stopped')
    if (options.signal?.aborted === true) throw new AbortError(`the caller gave up ${method.name}`)
    if (contact.id === this.#self.id) return await this.#callHere(method.name, request, options) as Reply
    if (contact.id === '') throw new UnreachableError(`nobody has answered at ${contact.addresses.join()}`)
    const message = encodeMessage(method.request, request)
    const ready = this.#peers.ready(contact.id)
    if (ready !== undefined) return await ready.call(method.name, message, method.reply, options) as Reply
    const start = this.now()
    const caller = await this.#within(this.#peers.caller(contact), options, () => new UnreachableError(`no connection to ${contact.id} within ${options.deadlineMs} ms for ${method.name}`))
    const deadlineMs = Math.max(1, options.deadlineMs - (this.now() - start))
    return await caller.call(method.name, message, method.reply, { ...options, deadlineMs }) as Reply
  }

  notify<Message> (contact: Contact, notice: Notice<Message>, message: Message): void {
    if (this.#isStopped) return
    if (contact.id === this.#self.id) {
      queueMicrotask(() => { this.#handlers.noticeHere(notice.name, message, this.#self) })
      return
    }
    const bytes = encodeMessage(notice.message, message)
    const ready = this.#peers.ready(contact.id)
    if (ready === undefined) this.#notifyLater(contact, caller => { caller.notify(notice.name, bytes) })
    else ready.notify(notice.name, bytes)
  }

  async * pull<Request, Row> (contact: Contact, method: PullMethod<Request, Row>, request: Request, options: CallOptions): AsyncGenerator<Row, void, undefined> {
    if (this.#isStopped) throw new StoppedError('this node has stopped')
    if (contact.id === this.#self.id) {
      yield * this.#pullHere(method.name, request) as AsyncGenerator<Row, void, undefined>
      return
    }
    const message = encodeMessage(method.request, request)
    const open = this.#peers.bulkStream(contact, this.deadline(options.deadlineMs, options.signal))
    let stream: Stream
    try {
      stream = await this.#within(open, options, () => new UnreachableError(`no connection to ${contact.id} within ${options.deadlineMs} ms for ${method.name}`))
    } catch (error) {
      // A stream that opens after all is of no use to anyone.
      open.then(late => { late.abort(error as Error) }, () => {})
      throw error
    }
    yield * pullRows(stream, { method: method.name, message, row: method.row, self: this.#self, options })
  }

  /** One more multiaddr for discover to try. */
  introduce (address: string): void {
    if (this.#bootstrap.length < discoveredMax && !this.#bootstrap.includes(address)) this.#bootstrap.push(address)
  }

  onGone (fn: (contact: Contact, why: Gone) => void): () => void {
    this.#onGone.add(fn)
    return () => { this.#onGone.delete(fn) }
  }

  async discover (): Promise<Contact[]> {
    if (this.#isStopped) return []
    return await discover({ libp2p: this.libp2p, log: this.log, contacts: this.#peers.contacts, deadline: ms => this.deadline(ms) }, this.#bootstrap)
  }

  get #isStopped (): boolean { return this.#stopping.signal.aborted }

  /** What promise gives, unless the deadline, the caller's signal or the end of this host comes first. */
  #within<T> (promise: Promise<T>, { deadlineMs, signal }: CallOptions, late: () => Error): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const stopping = this.#stopping.signal
      const end = (settle: () => void): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        stopping.removeEventListener('abort', onStop)
        settle()
      }
      const onAbort = (): void => { end(() => { reject(new AbortError('the caller gave up')) }) }
      const onStop = (): void => { end(() => { reject(new StoppedError('this node stops')) }) }
      const timer = setTimeout(() => { end(() => { reject(late()) }) }, deadlineMs)
      listenAbort(signal, onAbort)
      listenAbort(stopping, onStop)
      promise.then(value => { end(() => { resolve(value) }) }, error => { end(() => { reject(error) }) })
    })
  }

  async #callHere (method: string, request: unknown, options: CallOptions): Promise<unknown> {
    await undefined
    let result: unknown
    try {
      result = this.#handlers.runHere(method, request, this.#self)
    } catch (error) {
      throw asRemote(error)
    }
    if (!(result instanceof Promise)) return result
    const told = result.catch((error: unknown) => { throw asRemote(error) })
    return await this.#within(told, options, () => new TimeoutError(`no reply to ${method} from this node within ${options.deadlineMs} ms`))
  }

  async * #pullHere (method: string, request: unknown): AsyncGenerator<unknown, void, undefined> {
    try {
      yield * this.#handlers.pullHere(method, request, this.#self)
    } catch (error) {
      throw asRemote(error)
    }
  }

  /** Sends once the peer's stream is open; more than a few are dropped, and all if it does not open. */
  #notifyLater (contact: Contact, send: (caller: Caller) => void): void {
    const waiting = this.#notices.get(contact.id)
    if (waiting !== undefined) {
      if (waiting.length < noticesWaitingMax) waiting.push(send)
      return
    }
    const first = [send]
    this.#notices.set(contact.id, first)
    this.#peers.caller(contact).then(
      caller => { for (const send of first) send(caller) },
      error => { this.log.debug({ peer: contact.id, error }, 'notices were dropped') }
    ).finally(() => { this.#notices.delete(contact.id) })
  }
}

/** What a handler of this node threw, as a far one would tell it. */
function asRemote (error: unknown): RemoteError {
  return new RemoteError(errorName(error), error instanceof Error ? error.message : String(error), isDefinite(error))
}
