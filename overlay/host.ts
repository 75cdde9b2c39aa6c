// The one door from protocol code to the network, time and chance. node/libp2p-host.ts opens it on real machines and
// testnet/simulator/sim-host.ts on virtual ones; test/conformance/host.ts is the suite that both pass.
//
// Methods are typed by their codecs: what is said here is what goes over the wire in both. A handler decides in one
// synchronous step; it may return a promise, which stands only for a flush, a gate that opens or a procedure that ends.

import type { Source } from './stream.ts'

/** What one node knows of another: enough to call it. In node/ the id is a libp2p peer id and the addresses are multiaddrs. */
export interface Contact {
  readonly id: string
  readonly addresses: readonly string[]
}

export interface Codec<T> {
  encode (message: T): Uint8Array
  decode (bytes: Uint8Array): T
}

/** A request with one reply. `name` is `<folder>/<wire version>/<verb>`. */
export interface Method<Request, Reply> {
  readonly name: string
  readonly request: Codec<Request>
  readonly reply: Codec<Reply>
}

/** A message without a reply: it may be lost, and nobody is told. */
export interface Notice<Message> {
  readonly name: string
  readonly message: Codec<Message>
}

/** A request answered by a stream of rows with backpressure, on a stream of its own, so bulk never delays a ping. */
export interface PullMethod<Request, Row> {
  readonly name: string
  readonly request: Codec<Request>
  readonly row: Codec<Row>
}

export interface CallOptions {
  /** Milliseconds until the call fails with TimeoutError. Each call has one. */
  readonly deadlineMs: number
  readonly signal?: AbortSignal | undefined
}

/** Why a contact is gone: its connection closed, or a new one was refused (its process is dead). */
export type Gone = 'closed' | 'refused'

export interface Logger {
  debug (fields: object, text: string): void
  info (fields: object, text: string): void
  warn (fields: object, text: string): void
  error (fields: object, text: string): void
}

/** Counts by metric name; labels are from small fixed sets, never peer ids, keys or error texts. */
export interface Metrics {
  count (name: string, labels?: Readonly<Record<string, string>>, by?: number): void
  gauge (name: string, value: number, labels?: Readonly<Record<string, string>>): void
  observe (name: string, value: number, labels?: Readonly<Record<string, string>>): void
}

export type TimerId = number

export interface Host {
  /** This node as others call it. Addresses are complete once the host listens. */
  readonly self: Contact
  readonly log: Logger
  readonly metrics: Metrics

  /** Milliseconds since an arbitrary start, never going back, counting sleep of the machine. For leases and deadlines. */
  now (): number
  /** Wall clock in ms since 1970, which may jump. For versions only. */
  wallClock (): number
  /** Resolves after ms; rejects with AbortError when signal aborts first. */
  sleep (ms: number, signal?: AbortSignal): Promise<void>
  after (ms: number, fn: () => void): TimerId
  cancel (timer: TimerId): void
  /** A signal that aborts after ms, or when parent does. */
  deadline (ms: number, parent?: AbortSignal): AbortSignal
  /** Uniform in [0, 1), from this node's own stream. */
  random (): number

  /** A handler for a method; one per name. What it throws goes to the caller as RemoteError with its name and message. */
  handle<Request, Reply> (method: Method<Request, Reply>, fn: (request: Request, from: Contact) => Reply | Promise<Reply>): void
  onNotice<Message> (notice: Notice<Message>, fn: (message: Message, from: Contact) => void): void
  handlePull<Request, Row> (method: PullMethod<Request, Row>, fn: (request: Request, from: Contact) => Source<Row>): void

  /**
   * Ask contact and wait for its reply. A call to self runs the handler here, through no wire.
   *
   * @throws UnreachableError (definite: nothing was sent), TimeoutError, ConnectionLostError (indefinite: it may have
   * been carried out), RemoteError (what the handler threw), AbortError
   */
  call<Request, Reply> (contact: Contact, method: Method<Request, Reply>, request: Request, options: CallOptions): Promise<Reply>
  notify<Message> (contact: Contact, notice: Notice<Message>, message: Message): void
  /** Rows as the far end yields them. Errors as of call; ending early stops the far end. deadlineMs bounds the wait for each row. */
  pull<Request, Row> (contact: Contact, method: PullMethod<Request, Row>, request: Request, options: CallOptions): Source<Row>

  /** Told of each contact whose connection closed, and of each dial that was refused. Returns its own removal. */
  onGone (fn: (contact: Contact, why: Gone) => void): () => void
  /**
   * Contacts that may lead into a ring: bootstrap list, kad-dht. Best first, bounded, may be empty. A listed address at
   * which nobody answered yet has the empty id, and calls to it are unreachable; this node's own are left out.
   */
  discover (): Promise<Contact[]>
}
