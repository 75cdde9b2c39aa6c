// What this node answers, by name of the method, and how an answer is made of a request: decode, run, encode, with each
// kind of failure told apart by whether the handler had run.

import type { Codec, Contact, Method, Notice, PullMethod } from '../../overlay/host.ts'
import type { Source } from '../../overlay/stream.ts'
import { errorName, isDefinite } from '../../overlay/errors.ts'
import { MalformedMessageError, OversizeError, UnknownMethodError } from './errors.ts'
import { failureTextMax, messageBytesMax } from './init.ts'

interface Handler {
  readonly request: Codec<unknown>
  readonly reply: Codec<unknown>
  readonly fn: (request: unknown, from: Contact) => unknown
}

/** An error as it goes over the wire. */
export interface Failure {
  readonly name: string
  readonly text: string
  readonly definite: boolean
}

export class Handlers {
  readonly #calls = new Map<string, Handler>()
  readonly #notices = new Map<string, Handler>()
  readonly #pulls = new Map<string, Handler>()

  handle<Request, Reply> (method: Method<Request, Reply>, fn: (request: Request, from: Contact) => Reply | Promise<Reply>): void {
    add(this.#calls, method.name, { request: method.request, reply: method.reply, fn: fn as Handler['fn'] })
  }

  onNotice<Message> (notice: Notice<Message>, fn: (message: Message, from: Contact) => void): void {
    add(this.#notices, notice.name, { request: notice.message, reply: notice.message as Codec<unknown>, fn: fn as Handler['fn'] })
  }

  handlePull<Request, Row> (method: PullMethod<Request, Row>, fn: (request: Request, from: Contact) => Source<Row>): void {
    add(this.#pulls, method.name, { request: method.request, reply: method.row as Codec<unknown>, fn: fn as Handler['fn'] })
  }

  /** The handler's own result for a call to self, through no wire. */
  runHere (method: string, request: unknown, self: Contact): unknown {
    return known(this.#calls, method).fn(request, self)
  }

  noticeHere (notice: string, message: unknown, self: Contact): void { this.#notices.get(notice)?.fn(message, self) }

  pullHere (method: string, request: unknown, self: Contact): Source<unknown> {
    return known(this.#pulls, method).fn(request, self) as Source<unknown>
  }

  /** The reply's bytes, or a promise of them where the handler waits. Throws what becomes a failure. */
  answer (method: string, message: Uint8Array, from: Contact): Uint8Array | Promise<Uint8Array> {
    const handler = known(this.#calls, method)
    const result = handler.fn(decode(handler.request, message), from)
    return result instanceof Promise ? result.then(reply => encodeReply(handler.reply, reply)) : encodeReply(handler.reply, result)
  }

  notice (notice: string, message: Uint8Array, from: Contact): void {
    const handler = this.#notices.get(notice)
    handler?.fn(decode(handler.request, message), from)
  }

  /** The rows that a handler of bulk yields, and their codec. */
  startPull (method: string, message: Uint8Array, from: Contact): { rows: Source<unknown>, codec: Codec<unknown> } {
    const handler = known(this.#pulls, method)
    return { rows: handler.fn(decode(handler.request, message), from) as Source<unknown>, codec: handler.reply }
  }
}

export function failureOf (error: unknown): Failure {
  const text = error instanceof Error ? error.message : String(error)
  return { name: errorName(error), text: text.slice(0, failureTextMax), definite: isDefinite(error) }
}

/** @throws OversizeError, definite. */
export function encodeMessage<T> (codec: Codec<T>, message: T): Uint8Array {
  const bytes = codec.encode(message)
  if (bytes.length > messageBytesMax) throw new OversizeError(`a message has at most ${messageBytesMax} bytes, not ${bytes.length}`, true)
  return bytes
}

function add (handlers: Map<string, Handler>, name: string, handler: object): void {
  if (handlers.has(name)) throw new Error(`${name} has a handler already`)
  handlers.set(name, handler as Handler)
}

function known (handlers: ReadonlyMap<string, Handler>, method: string): Handler {
  const handler = handlers.get(method)
  if (handler === undefined) throw new UnknownMethodError(`no handler for ${method}`)
  return handler
}

function decode (codec: Codec<unknown>, message: Uint8Array): unknown {
  try {
    return codec.decode(message)
  } catch (error) {
    throw new MalformedMessageError(error instanceof Error ? error.message : String(error), true)
  }
}

/** The work is done: that its reply does not fit says nothing about what it did. */
function encodeReply (codec: Codec<unknown>, reply: unknown): Uint8Array {
  const bytes = codec.encode(reply)
  if (bytes.length > messageBytesMax) throw new OversizeError(`a reply has at most ${messageBytesMax} bytes, not ${bytes.length}`, false)
  return bytes
}
