// The Host of a simulated node: calls, notices and pulls over the virtual network with the virtual clock. It differs from
// node/libp2p-host.ts in what a network does, not in what protocol code sees: a first contact costs a dial, a dead
// process refuses, an ended connection ends what waits on it, and messages pass through their wire codecs.

import { AbortError, RemoteError, StoppedError, UnreachableError } from '../../overlay/errors.ts'
import type { CallOptions, Codec, Contact, Gone, Host, Logger, Method, Metrics, Notice, PullMethod, TimerId } from '../../overlay/host.ts'
import type { Source } from '../../overlay/stream.ts'
import { MalformedMessageError, OversizeError, UnknownMethodError } from '../../node/rpc/errors.ts'
import { dialTimeoutMs, failureTextMax, messageBytesMax, noticesWaitingMax } from '../../node/rpc/init.ts'
import type { VirtualClock } from './clock.ts'
import type { Task } from './event-queue.ts'
import { Link } from './link.ts'
import type { Network } from './network.ts'
import { Packet, packetKinds } from './packet.ts'
import type { Failure } from './packet.ts'
import { PendingCall } from './pending-call.ts'
import { PullReader, PullWriter, failureOf, lostTo } from './pull-end.ts'
import { Random } from './random.ts'
import { SimTimers } from './sim-timers.ts'

/** TCP's first wait before it asks again (RFC 6298, section 2). */
const dialRepeatMs = 1000

/** `dead`: its process ended, its machine refuses dials. `silent`: nothing comes from it any more. */
export type SimState = 'up' | 'dead' | 'silent'

export interface SimHostComponents {
  readonly clock: VirtualClock
  readonly network: Network
  readonly log: Logger
  readonly metrics: Metrics
  /** The node that a contact's id stands for now; one that is dead if there is none. */
  readonly find: (id: string) => SimHost
}

export interface SimHostInit {
  readonly name: string
  /** How many nodes had this name before: each boot draws from streams of its own. */
  readonly boot: number
  readonly seed: number
  /** Order in which the world made its nodes. */
  readonly index: number
  readonly wallStartMs: number
  /** False: messages go as objects, which is faster and lets both ends share them. */
  readonly codecs: boolean
  readonly bootstrap: readonly Contact[]
}

interface Handler {
  readonly request: Codec<unknown>
  readonly reply: Codec<unknown> | undefined
  readonly fn: (request: never, from: Contact) => unknown
}

export class SimHost implements Host {
  readonly self: Contact
  readonly log: Logger
  readonly metrics: Metrics
  readonly index: number
  readonly network: Network
  /** Chances of what this node sends; apart from random(), so that latency and protocol do not disturb each other. */
  readonly networkRandom: Random
  state: SimState = 'up'
  paused = false
  /** While it is paused: is what comes lost, and not kept? */
  asleep = false
  wallOffsetMs = 0
  readonly #clock: VirtualClock
  readonly #find: (id: string) => SimHost
  readonly #init: SimHostInit
  readonly #random: Random
  readonly #timers: SimTimers
  readonly #handlers = new Map<string, Handler>()
  readonly #notices = new Map<string, Handler>()
  readonly #pulls = new Map<string, Handler>()
  readonly #links = new Map<string, Link>()
  readonly #onGone = new Set<(contact: Contact, why: Gone) => void>()
  #held: Task[] = []

  constructor ({ clock, network, log, metrics, find }: SimHostComponents, init: SimHostInit) {
    this.#clock = clock
    this.#find = find
    this.#init = init
    this.network = network
    this.log = log
    this.metrics = metrics
    this.index = init.index
    this.self = { id: init.name, addresses: [`/memory/${init.name}`] }
    // a second boot that drew the first one's numbers would be the same member with the same chain
    const stream = init.boot === 0 ? init.name : `${init.name}/boot ${init.boot}`
    this.#random = new Random(init.seed, stream)
    this.networkRandom = new Random(init.seed, `${stream}/network`)
    this.#timers = new SimTimers(clock, this)
    this.#links.set(init.name, new Link(this, 'open'))
  }

  now (): number { return this.#clock.now() }
  wallClock (): number { return Math.floor(this.#init.wallStartMs + this.#clock.now() + this.wallOffsetMs) }
  sleep (ms: number, signal?: AbortSignal): Promise<void> { return this.#timers.sleep(ms, signal) }
  after (ms: number, fn: () => void): TimerId { return this.#timers.after(ms, fn) }
  cancel (timer: TimerId): void { this.#timers.cancel(timer) }
  deadline (ms: number, parent?: AbortSignal): AbortSignal { return this.#timers.deadline(ms, parent) }
  random (): number { return this.#random.next() }

  handle<Request, Reply> (method: Method<Request, Reply>, fn: (request: Request, from: Contact) => Reply | Promise<Reply>): void {
    register(this.#handlers, method.name, { request: method.request, reply: method.reply, fn })
  }

  onNotice<Message> (notice: Notice<Message>, fn: (message: Message, from: Contact) => void): void {
    register(this.#notices, notice.name, { request: notice.message, reply: undefined, fn })
  }

  handlePull<Request, Row> (method: PullMethod<Request, Row>, fn: (request: Request, from: Contact) => Source<Row>): void {
    register(this.#pulls, method.name, { request: method.request, reply: method.row, fn })
  }

  call<Request, Reply> (contact: Contact, method: Method<Request, Reply>, request: Request, options: CallOptions): Promise<Reply> {
    return this.#ask(contact, method, method.reply, request, options, undefined)
  }

  notify<Message> (contact: Contact, notice: Notice<Message>, message: Message): void {
    if (this.state !== 'up') return
    const link = this.#linkTo(contact.id)
    if ((link.waiting?.length ?? 0) >= noticesWaitingMax) return
    const body = this.#encode(link.far, notice.message, message)
    link.send(new Packet(this.network, packetKinds.notice, this, link.far, notice.name, body))
  }

  async * pull<Request, Row> (contact: Contact, method: PullMethod<Request, Row>, request: Request, options: CallOptions): AsyncGenerator<Row, void, undefined> {
    const link = this.#linkTo(contact.id)
    const codec = this.#codecFor(link.far, method.row)
    const reader = new PullReader({ method: method.name, host: this, link, codec })
    try {
      await this.#ask(contact, method, method.row, request, options, reader)
    } catch (error) {
      link.removePull(reader)
      throw error
    }
    yield * reader.rows(options.deadlineMs, options.signal) as AsyncGenerator<Row, void, undefined>
  }

  onGone (fn: (contact: Contact, why: Gone) => void): () => void {
    this.#onGone.add(fn)
    return () => { this.#onGone.delete(fn) }
  }

  async discover (): Promise<Contact[]> {
    return this.#init.bootstrap.filter(contact => contact.id !== this.self.id)
  }

  /** Keeps what came while the node is paused. */
  hold (task: Task): void { this.#held.push(task) }

  /** What was held happens now, in the order in which it came. */
  release (): void {
    const held = this.#held
    this.#held = []
    for (const task of held) this.#clock.schedule(0, task)
  }

  /** Ends the node as a process that ends: its far ends learn it, and later dials are refused. */
  end (state: 'dead' | 'silent'): void {
    for (const link of this.#links.values()) {
      if (link.far === this || state === 'silent' || link.state !== 'open') continue
      this.network.send(new Packet(this.network, packetKinds.closed, this, link.far, '', undefined))
    }
    this.state = state
    this.#held = []
  }

  /** An orderly end: what waits here is told so. */
  stop (): void {
    if (this.state !== 'up') return
    this.end('dead')
    for (const link of this.#links.values()) {
      link.close(() => lostTo(link.id), () => new StoppedError('this node has stopped'))
    }
    this.#timers.stop()
  }

  receive (packet: Packet): void {
    const { kind, from } = packet
    switch (kind) {
      case packetKinds.request: this.#answer(packet); break
      case packetKinds.reply: this.#onReply(packet); break
      case packetKinds.failure: packet.call?.reject(remoteError(packet.body as Failure)); break
      case packetKinds.notice: this.#onNoticePacket(packet); break
      case packetKinds.row: case packetKinds.end: packet.session?.reader.receive(packet); break
      case packetKinds.credit: case packetKinds.stop: packet.session?.writer?.receive(packet); break
      case packetKinds.dial: this.#accept(from); packet.answer(packetKinds.accept, undefined); break
      case packetKinds.accept: this.#opened(from); break
      case packetKinds.refuse: this.#ended(from, 'refused'); break
      case packetKinds.closed: this.#ended(from, 'closed'); break
    }
  }

  #ask<Request, Reply> (contact: Contact, method: { name: string, request: Codec<Request> }, codec: Codec<Reply>, request: Request, options: CallOptions, reader: PullReader | undefined): Promise<Reply> {
    return new Promise<unknown>((resolve, reject) => {
      if (this.state !== 'up') { reject(new StoppedError('this node has stopped')); return }
      if (options.signal?.aborted === true) { reject(new AbortError(`the caller gave up ${method.name}`)); return }
      const link = this.#linkTo(contact.id)
      const body = this.#encode(link.far, method.request, request)
      const packet = new Packet(this.network, packetKinds.request, this, link.far, method.name, body)
      packet.call = new PendingCall(this.#clock, this, link, method.name, codec, options, resolve, reject)
      packet.session = reader?.session
      link.send(packet)
    }) as Promise<Reply>
  }

  #codecFor<T> (far: SimHost, codec: Codec<T>): Codec<T> | undefined {
    return this.#init.codecs && far !== this ? codec : undefined
  }

  #encode<T> (far: SimHost, codec: Codec<T>, message: T): unknown {
    if (!this.#init.codecs || far === this) return message
    const bytes = codec.encode(message)
    if (bytes.length > messageBytesMax) throw new OversizeError(`a message has at most ${messageBytesMax} bytes, not ${bytes.length}`, true)
    return bytes
  }

  #decode (from: SimHost, codec: Codec<unknown>, body: unknown): unknown {
    return this.#init.codecs && from !== this ? codec.decode(body as Uint8Array) : body
  }

  #linkTo (id: string): Link {
    const link = this.#links.get(id)
    if (link !== undefined && link.state !== 'closed') return link
    const dialing = new Link(this.#find(id), 'dialing')
    this.#links.set(id, dialing)
    if (this.state === 'up') this.#dial(dialing, this.now() + dialTimeoutMs)
    return dialing
  }

  /** Asks again each second until there is an answer, as TCP does. */
  #dial (link: Link, untilMs: number): void {
    if (link.state !== 'dialing') return
    if (this.now() >= untilMs) {
      this.#drop(link, () => new UnreachableError(`no connection to ${link.id} within ${dialTimeoutMs} ms`))
      return
    }
    this.network.send(new Packet(this.network, packetKinds.dial, this, link.far, '', undefined))
    this.after(dialRepeatMs, () => { this.#dial(link, untilMs) })
  }

  #accept (from: SimHost): void {
    const link = this.#links.get(from.self.id)
    if (link !== undefined && link.far === from && link.state !== 'closed') {
      if (link.state === 'dialing') link.open()
      return
    }
    if (link !== undefined && link.state !== 'closed') this.#ended(link.far, 'closed')
    this.#links.set(from.self.id, new Link(from, 'open'))
  }

  #opened (from: SimHost): void {
    const link = this.#links.get(from.self.id)
    if (link?.far === from && link.state === 'dialing') link.open()
  }

  #ended (from: SimHost, why: Gone): void {
    const link = this.#links.get(from.self.id)
    if (link === undefined || link.far !== from || link.state === 'closed') return
    this.#drop(link, () => new UnreachableError(`${from.self.id} refused the connection`))
    for (const fn of [...this.#onGone]) fn(from.self, why)
  }

  #drop (link: Link, unsent: () => Error): void {
    this.#links.delete(link.id)
    link.close(() => lostTo(link.id), unsent)
  }

  #answer (packet: Packet): void {
    const handler = (packet.session === undefined ? this.#handlers : this.#pulls).get(packet.method)
    if (handler === undefined) { this.#fail(packet, new UnknownMethodError(`no handler for ${packet.method}`)); return }
    let result: unknown
    try {
      result = handler.fn(this.#read(packet.from, handler, packet.body) as never, packet.from.self)
    } catch (error) {
      this.#fail(packet, error)
      return
    }
    if (packet.session !== undefined) { this.#startPull(packet, handler, result as Source<unknown>); return }
    if (result instanceof Promise) result.then(reply => { this.#reply(packet, handler, reply) }, error => { this.#fail(packet, error) })
    else this.#reply(packet, handler, result)
  }

  #read (from: SimHost, handler: Handler, body: unknown): unknown {
    try {
      return this.#decode(from, handler.request, body)
    } catch (error) {
      throw new MalformedMessageError(error instanceof Error ? error.message : String(error), true)
    }
  }

  #startPull (packet: Packet, handler: Handler, source: Source<unknown>): void {
    const link = this.#links.get(packet.from.self.id)
    if (link === undefined || packet.session === undefined) return
    const codec = this.#codecFor(packet.from, handler.reply!)
    const writer = new PullWriter({ method: packet.method, host: this, link, codec }, packet.session, source)
    packet.session = undefined
    packet.answer(packetKinds.reply, undefined)
    void writer.run()
  }

  #reply (packet: Packet, handler: Handler, reply: unknown): void {
    if (this.state !== 'up') return
    let body
    try {
      body = this.#encode(packet.from, handler.reply!, reply)
    } catch (error) {
      this.#fail(packet, error instanceof OversizeError ? new OversizeError(error.message, false) : error)
      return
    }
    packet.answer(packetKinds.reply, body)
  }

  #fail (packet: Packet, error: unknown): void {
    if (this.state !== 'up') return
    const failure = failureOf(error)
    packet.session = undefined
    packet.answer(packetKinds.failure, { ...failure, message: failure.message.slice(0, failureTextMax) })
  }

  #onReply (packet: Packet): void {
    const { call } = packet
    if (call === undefined || call.settled) return
    try {
      call.resolve(packet.body === undefined ? undefined : this.#decode(packet.from, call.codec, packet.body))
    } catch (error) {
      call.reject(new MalformedMessageError(String(error), false))
    }
  }

  #onNoticePacket (packet: Packet): void {
    const handler = this.#notices.get(packet.method)
    if (handler === undefined) return
    try {
      handler.fn(this.#decode(packet.from, handler.request, packet.body) as never, packet.from.self)
    } catch (error) {
      this.log.warn({ notice: packet.method, error }, 'a handler of notices threw')
    }
  }
}

function register (handlers: Map<string, Handler>, name: string, handler: object): void {
  if (handlers.has(name)) throw new Error(`${name} has a handler already`)
  handlers.set(name, handler as Handler)
}

function remoteError (failure: Failure): RemoteError {
  return new RemoteError(failure.name, failure.message, failure.definite)
}
