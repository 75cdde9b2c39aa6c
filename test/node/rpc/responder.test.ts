// The answering end towards a peer that asks and does not read, or asks nonsense: what waits for it stays bounded, and what
// is logged of it too.

import assert from 'node:assert/strict'
import type { Logger, Method, Metrics, Notice } from '../../../overlay/host.ts'
import { FakeTimers } from '../fake-timers.ts'
import { LimitedLog } from '../../../node/limited-log.ts'
import type { FrameStream } from '../../../node/rpc/frame-stream.ts'
import { Handlers } from '../../../node/rpc/handlers.ts'
import { failureTextMax, replyBytesMax } from '../../../node/rpc/init.ts'
import { Responder } from '../../../node/rpc/responder.ts'
import { encodeHello, encodeNotice, encodeRequest } from '../../../node/rpc/wire/frame.ts'

const silence = (): void => {}
const log: Logger = { debug: silence, info: silence, warn: silence, error: silence }
const metrics: Metrics = { count: silence, gauge: silence, observe: silence }
const raw = { encode: (bytes: Uint8Array) => bytes, decode: (bytes: Uint8Array) => bytes }
const failing: Method<Uint8Array, Uint8Array> = { name: 'test/1/failing', request: raw, reply: raw }
const slow: Method<Uint8Array, Uint8Array> = { name: 'test/1/slow', request: raw, reply: raw }
const malformed: Notice<never> = { name: 'test/1/malformed', message: { encode: () => new Uint8Array(0), decode: () => { throw new RangeError('cut off') } } }
const echo: Method<Uint8Array, Uint8Array> = { name: 'test/1/echo', request: raw, reply: raw }

/** A stream whose far end takes nothing until it is told to. */
class StuckStream {
  queuedBytes = 0
  isPaused = false
  ended: Error | undefined
  #onDrain = silence
  write (frame: Uint8Array): void { this.queuedBytes += frame.length }
  pause (): void { this.isPaused = true }
  resume (): void { this.isPaused = false }
  abort (error: Error): void { this.ended ??= error }
  onDrain (fn: () => void): void { this.#onDrain = fn }
  take (bytes: number): void {
    this.queuedBytes -= bytes
    this.#onDrain()
  }
}

/** Without the length before it, as the framer hands it on. */
function frame (bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.subarray(4))
}

interface Begun {
  readonly responder: Responder
  readonly stream: StuckStream
  readonly warned: string[]
  /** Ends the handlers of `slow` that wait, each with a reply of so many bytes. */
  readonly finish: (bytes: number) => Promise<void>
}

function begin (): Begun {
  const warned: string[] = []
  const waiting: Array<(reply: Uint8Array) => void> = []
  const handlers = new Handlers()
  handlers.handle(echo, bytes => bytes)
  handlers.handle(failing, () => { throw new Error('x'.repeat(failureTextMax)) })
  handlers.handle(slow, async () => await new Promise<Uint8Array>(resolve => { waiting.push(resolve) }))
  handlers.onNotice(malformed, silence)
  const stream = new StuckStream()
  const limitedLog = new LimitedLog({ ...log, warn: (_fields, text) => { warned.push(text) } })
  const responder = new Responder({ handlers, log, limitedLog, metrics, stream: () => stream as unknown as FrameStream }, { peer: 'p', onContact: silence })
  responder.receive(frame(encodeHello([])))
  const finish = async (bytes: number): Promise<void> => {
    for (const resolve of waiting.splice(0)) resolve(new Uint8Array(bytes))
    await new Promise(resolve => { setImmediate(resolve) })
  }
  return { responder, stream, warned, finish }
}

const ofAnotherVersion = 'a peer asks for what is unknown here or cannot be read; is it of another version?'

describe('the answering end of a stream', () => {
  for (const [title, method, replyBytes] of [['requests that fail', failing.name, failureTextMax + 100], ['requests that succeed', echo.name, 1100]] as const) {
    it(`reads no further once 4 MiB of replies wait, for ${title}, and goes on when half of it is taken`, () => {
      const { responder, stream } = begin()
      const request = frame(encodeRequest(1, method, new Uint8Array(1000)))
      for (let count = 0; count < 100_000 && !stream.isPaused; count++) responder.receive(request)
      assert.equal(stream.isPaused, true)
      assert(stream.queuedBytes > 4 * 2 ** 20 && stream.queuedBytes <= 4 * 2 ** 20 + replyBytes, `${stream.queuedBytes} bytes wait`)
      stream.take(stream.queuedBytes - replyBytesMax / 2 - 1)
      assert.equal(stream.isPaused, true)
      stream.take(1)
      assert.equal(stream.isPaused, false)
      responder.ended()
    })
  }

  it('ends the stream of a peer that takes none of its replies for a minute, and not of one that takes them late', () => {
    const timers = new FakeTimers()
    try {
      const { responder, stream } = begin()
      const request = frame(encodeRequest(1, echo.name, new Uint8Array(1_000_000)))
      for (let count = 0; count < 5; count++) responder.receive(request)
      timers.tick(59_999)
      stream.take(stream.queuedBytes)
      timers.tick(60_000)
      const early = stream.ended
      for (let count = 0; count < 5; count++) responder.receive(request)
      timers.tick(60_000)
      assert.deepEqual([early, stream.ended?.name], [undefined, 'SilentError'])
    } finally {
      timers.end()
    }
  })

  it('ends the stream before replies to requests that it has taken fill the memory', async () => {
    const { responder, stream, finish } = begin()
    for (let id = 0; id < 300; id++) responder.receive(frame(encodeRequest(id, slow.name, new Uint8Array(0))))
    await finish(1_000_000)
    assert(stream.ended instanceof RangeError)
    assert(stream.queuedBytes >= 128 * 2 ** 20)
    responder.ended()
  })

  it('answers a thousand requests for what it does not know, says so once, and ends the stream at the next', () => {
    const { responder, stream, warned } = begin()
    const request = frame(encodeRequest(1, 'no/such/method', new Uint8Array(0)))
    for (let count = 0; count < 1_000; count++) responder.receive(request)
    assert(stream.queuedBytes > 1_000 * request.length)
    assert.throws(() => { responder.receive(request) }, RangeError)
    assert.deepEqual(warned, [ofAnotherVersion])
  })

  it('says once that notices cannot be read, and ends the stream after a thousand', () => {
    const { responder, warned } = begin()
    const notice = frame(encodeNotice(malformed.name, new Uint8Array(3)))
    for (let count = 0; count < 1_000; count++) responder.receive(notice)
    assert.throws(() => { responder.receive(notice) }, RangeError)
    assert.deepEqual(warned, [ofAnotherVersion])
  })
})
