// The answering end towards a peer that asks and does not read: what waits for it stays bounded, whatever it asks.

import assert from 'node:assert/strict'
import type { Logger, Method, Metrics } from '../../../overlay/host.ts'
import type { FrameStream } from '../../../node/rpc/frame-stream.ts'
import { Handlers } from '../../../node/rpc/handlers.ts'
import { failureTextMax, replyBytesMax } from '../../../node/rpc/init.ts'
import { Responder } from '../../../node/rpc/responder.ts'
import { encodeHello, encodeRequest } from '../../../node/rpc/wire/frame.ts'

const silence = (): void => {}
const log: Logger = { debug: silence, info: silence, warn: silence, error: silence }
const metrics: Metrics = { count: silence, gauge: silence, observe: silence }
const raw = { encode: (bytes: Uint8Array) => bytes, decode: (bytes: Uint8Array) => bytes }
const echo: Method<Uint8Array, Uint8Array> = { name: 'test/1/echo', request: raw, reply: raw }

/** A stream whose far end takes nothing until it is told to. */
class StuckStream {
  queuedBytes = 0
  isPaused = false
  #onDrain = silence
  write (frame: Uint8Array): void { this.queuedBytes += frame.length }
  pause (): void { this.isPaused = true }
  resume (): void { this.isPaused = false }
  abort (): void {}
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

function begin (): { responder: Responder, stream: StuckStream } {
  const handlers = new Handlers()
  handlers.handle(echo, bytes => bytes)
  const stream = new StuckStream()
  const responder = new Responder({ handlers, log, metrics, stream: () => stream as unknown as FrameStream }, { peer: 'p', onContact: silence })
  responder.receive(frame(encodeHello([])))
  return { responder, stream }
}

describe('the answering end of a stream', () => {
  for (const [title, method, replyBytes] of [['requests that fail', 'no/such/method', failureTextMax + 100], ['requests that succeed', echo.name, 1100]] as const) {
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
    })
  }
})
