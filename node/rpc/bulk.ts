// Rows from one node to another, each pull on a stream of its own, so that bulk never delays a ping. The reader opens the
// stream, says who it is and what it wants, and closes its writing; the writer sends rows and then `end`, or a failure:
// without either, the connection was lost. A reader that leaves early resets the stream, and the writer's source is ended.

import type { Stream } from '@libp2p/interface'
import * as lp from 'it-length-prefixed'
import { pipe } from 'it-pipe'
import { AbortError, ConnectionLostError, RemoteError, TimeoutError } from '../../overlay/errors.ts'
import type { CallOptions, Codec, Contact, Logger } from '../../overlay/host.ts'
import type { Source } from '../../overlay/stream.ts'
import { sinkTo, sourceFrom } from './bulk-stream.ts'
import { OversizeError, SilentError } from './errors.ts'
import type { Handlers } from './handlers.ts'
import { failureOf } from './handlers.ts'
import { frameBytesMax, pullRequestMsMax } from './init.ts'
import type { Frame } from './wire/frame.ts'
import { decodeFrame, encodeEnd, encodeFailure, encodeHello, encodeNotice, encodeRow, lengthBytes } from './wire/frame.ts'
import { listenAbort } from '../listen-abort.ts'

const decoding = { maxDataLength: frameBytesMax }

/** Without its u32 length: streams of bulk have varint lengths. */
const bare = (frame: Buffer): Uint8Array => frame.subarray(lengthBytes)

function framesOf (stream: Stream): AsyncGenerator<Frame, void, undefined> {
  return pipe(
    sourceFrom(stream),
    source => lp.decode(source, decoding),
    async function * (source) {
      for await (const bytes of source) {
        const whole = bytes.subarray()
        yield decodeFrame(Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength))
      }
    }
  )
}

export interface PullRequest<Row> {
  readonly method: string
  readonly message: Uint8Array
  readonly row: Codec<Row>
  readonly self: Contact
  readonly options: CallOptions
}

/** Asks over a fresh stream and gives the rows as they come. Ending early resets the stream. */
export async function * pullRows<Row> (stream: Stream, request: PullRequest<Row>): AsyncGenerator<Row, void, undefined> {
  const { method, message, row, self, options } = request
  const frames = framesOf(stream)
  let complete = false
  try {
    await pipe([bare(encodeHello(self.addresses)), bare(encodeNotice(method, message))], source => lp.encode(source), async source => {
      for (const chunk of source) stream.send(chunk)
    })
    await stream.close({ signal: AbortSignal.timeout(options.deadlineMs) })
    for (;;) {
      const frame = await within(frames, method, options)
      if (frame.kind === 'row') {
        yield row.decode(frame.message)
      } else {
        complete = true
        if (frame.kind === 'failure') throw new RemoteError(frame.name, frame.text, frame.definite)
        if (frame.kind === 'end') return
        throw new RangeError(`a ${frame.kind} came where rows are expected`)
      }
    }
  } finally {
    if (!complete) stream.abort(new AbortError(`the reader of ${method} left`))
    // Its own end is the stream's, which has just come.
    frames.return().then(undefined, () => {})
  }
}

/** The next frame within the deadline. */
function within (frames: AsyncIterator<Frame>, method: string, { deadlineMs, signal }: CallOptions): Promise<Frame> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) { reject(new AbortError(`the caller gave up ${method}`)); return }
    const onAbort = (): void => { done(new AbortError(`the caller gave up ${method}`)) }
    const timer = setTimeout(() => { done(new TimeoutError(`no row of ${method} within ${deadlineMs} ms`)) }, deadlineMs)
    const done = (error: Error | undefined, frame?: Frame): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      if (frame === undefined) reject(error)
      else resolve(frame)
    }
    listenAbort(signal, onAbort)
    const lost = (): void => { done(new ConnectionLostError(`the stream of ${method} closed before its end`)) }
    frames.next().then(result => { if (result.done === true) lost(); else done(undefined, result.value) }, lost)
  })
}

export interface BulkComponents {
  readonly handlers: Handlers
  readonly log: Logger
  /** Told when a stream does not begin as a pull does. */
  readonly onBreach: (error: Error) => void
}

/** Answers one stream of bulk that a peer opened. Never rejects. */
export async function serveRows ({ handlers, log, onBreach }: BulkComponents, stream: Stream, peer: string): Promise<void> {
  let method = ''
  try {
    const { hello, request } = await beginningOf(stream)
    method = request.method
    const from = { id: peer, addresses: hello.addresses }
    await pipe(
      frameRows(handlers, request.method, request.message, from, stream),
      limitFrames,
      source => lp.encode(source, { maxDataLength: frameBytesMax }),
      sinkTo(stream)
    )
  } catch (error) {
    log.debug({ method, error }, 'a pull ended early')
    if (method === '' && isBreach(error)) onBreach(error)
    if (stream.status === 'open') stream.abort(error as Error)
  }
}

interface Beginning {
  readonly hello: Extract<Frame, { kind: 'hello' }>
  readonly request: Extract<Frame, { kind: 'notice' }>
}

/** @throws RangeError and SilentError, for which the peer is to blame; what the stream closed with */
async function beginningOf (stream: Stream): Promise<Beginning> {
  const late = setTimeout(() => { stream.abort(new SilentError(`a pull did not say within ${pullRequestMsMax} ms what it wants`)) }, pullRequestMsMax)
  try {
    const frames = framesOf(stream)
    const hello = (await frames.next()).value
    const request = (await frames.next()).value
    await frames.return()
    if (hello?.kind !== 'hello' || request?.kind !== 'notice') throw new RangeError('a pull begins with hello and request')
    return { hello, request }
  } finally {
    clearTimeout(late)
  }
}

/** Bytes that are no frame, or a length beyond the bound, which it-length-prefixed tells by its own error. */
function isBreach (error: unknown): error is Error {
  return error instanceof RangeError || error instanceof SilentError || (error instanceof Error && /^InvalidDataLength(?:Length)?Error$/.test(error.name))
}

/** The rows as frames, then `end`; or the failure that ended them. */
async function * frameRows (handlers: Handlers, method: string, message: Uint8Array, from: Contact, stream: Stream): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    const { rows, codec } = handlers.startPull(method, message, from)
    for await (const row of untilClosed(rows, stream)) yield bare(encodeRow(codec.encode(row)))
    yield bare(encodeEnd())
  } catch (error) {
    const { name, text, definite } = failureOf(error)
    yield bare(encodeFailure(0, definite, name, text))
  }
}

/** Frames that fit; a row that does not is told as the failure of the pull. */
async function * limitFrames (frames: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const frame of frames) {
    if (frame.length > frameBytesMax) {
      const { name, message, definite } = new OversizeError(`a row has at most ${frameBytesMax - 1} bytes, not ${frame.length - 1}`, false)
      yield bare(encodeFailure(0, definite, name, message))
      return
    }
    yield frame
  }
}

/** Ends rows as soon as the stream closes, also while they wait for their next. */
async function * untilClosed<Row> (rows: Source<Row>, stream: Stream): AsyncGenerator<Row, void, undefined> {
  const iterator = rows[Symbol.asyncIterator]()
  let closed = stream.status !== 'open'
  let wake: (() => void) | undefined
  const onClose = (): void => { closed = true; wake?.() }
  stream.addEventListener('close', onClose)
  let ended = false
  try {
    while (!closed) {
      const result = await new Promise<IteratorResult<Row> | undefined>((resolve, reject) => {
        wake = () => { resolve(undefined) }
        iterator.next().then(resolve, reject)
      })
      if (result?.done === true) { ended = true; return }
      if (result !== undefined) yield result.value
    }
  } finally {
    stream.removeEventListener('close', onClose)
    // An error of a source that nobody reads any more concerns nobody.
    if (!ended) iterator.return?.().then(undefined, () => {})
  }
}
