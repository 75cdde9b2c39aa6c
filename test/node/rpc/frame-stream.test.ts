// A stream of frames whose far end stops in the middle of one, or trickles, with time that the test moves; and libp2p's
// trap of a pause from within its resume.

import assert from 'node:assert/strict'
import type { Stream } from '@libp2p/interface'
import { FakeTimers } from '../fake-timers.ts'
import { FrameStream } from '../../../node/rpc/frame-stream.ts'

/** What of a libp2p stream a FrameStream uses: its events, and a resume that gives what it holds before it goes on. */
class FakeStream extends EventTarget {
  status = 'open'
  writeStatus = 'writable'
  readStatus = 'readable'
  writeBufferLength = 0
  /** Told the far end: stop, go on. */
  readonly told: string[] = []
  aborted: Error | undefined
  readonly #held: Uint8Array[] = []

  come (...bytes: number[]): void {
    this.#held.push(Uint8Array.from(bytes))
    this.#give()
  }

  pause (): void {
    this.readStatus = 'paused'
    this.told.push('pause')
  }

  resume (): void {
    this.readStatus = 'readable'
    this.#give()
    this.told.push('resume')
  }

  abort (error: Error): void {
    this.aborted = error
    this.status = 'aborted'
  }

  #give (): void {
    while (this.readStatus === 'readable' && this.#held.length > 0) this.dispatchEvent(Object.assign(new Event('message'), { data: this.#held.shift() }))
  }
}

interface Begun {
  readonly stream: FakeStream
  readonly frames: FrameStream
  readonly got: number[]
  readonly ends: Array<Error | undefined>
}

/** @param onFrame - told the number of frames so far */
function begin (onFrame: (count: number, frames: FrameStream) => void = () => {}): Begun {
  const stream = new FakeStream()
  const got: number[] = []
  const ends: Array<Error | undefined> = []
  const frames: FrameStream = new FrameStream({
    stream: stream as unknown as Stream,
    onFrame: frame => {
      got.push(frame[0]!)
      onFrame(got.length, frames)
    },
    onEnd: error => { ends.push(error) }
  })
  return { stream, frames, got, ends }
}

describe('a stream of frames', () => {
  let timers: FakeTimers
  beforeEach(() => { timers = new FakeTimers() })
  afterEach(() => { timers.end() })

  it('is ended when a frame has not come whole after half a minute, however it trickles', () => {
    const { stream, ends } = begin()
    stream.come(100, 0, 0, 0, 1)
    for (let passedMs = 0; passedMs < 29_000; passedMs += 1_000) {
      timers.tick(1_000)
      stream.come(1)
    }
    assert.equal(ends.length, 0)
    timers.tick(1_000)
    assert.deepEqual(ends.map(error => error?.name), ['SilentError'])
    assert.equal(stream.aborted, ends[0])
  })

  it('is not ended while it is idle, or frames come whole, each within its time', () => {
    const { stream, got, ends } = begin()
    timers.tick(1_000_000)
    for (let frame = 0; frame < 20; frame++) {
      stream.come(2, 0, 0, 0, 7)
      timers.tick(20_000)
      stream.come(7)
      timers.tick(20_000)
    }
    assert.deepEqual([got.length, ends], [20, []])
  })

  it('gives no frame after it has ended, though the chunk holds more', () => {
    const { stream, got, ends } = begin((count, frames) => { if (count === 2) frames.abort(new Error('enough')) })
    stream.come(1, 0, 0, 0, 10, 1, 0, 0, 0, 11, 1, 0, 0, 0, 12)
    assert.deepEqual([got, ends.length], [[10, 11], 1])
  })

  it('stays paused when it is paused by a frame that its resume gave', () => {
    const { stream, frames, got } = begin((count, frames) => { if (count <= 2) frames.pause() })
    stream.come(1, 0, 0, 0, 10)
    stream.come(1, 0, 0, 0, 11)
    stream.come(1, 0, 0, 0, 12)
    assert.deepEqual(got, [10])
    frames.resume()
    assert.equal(stream.told.at(-1), 'pause')
    frames.resume()
    assert.deepEqual([got, stream.told.at(-1)], [[10, 11, 12], 'resume'])
  })
})
