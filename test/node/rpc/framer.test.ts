// Cutting bytes into frames, however they arrive.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { Framer } from '../../../node/rpc/framer.ts'
import { frameBytesMax } from '../../../node/rpc/init.ts'

function prefixed (frames: readonly Uint8Array[]): Buffer {
  return Buffer.concat(frames.flatMap(frame => {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(frame.length)
    return [length, frame]
  }))
}

describe('the framer', () => {
  it('gives the same frames wherever the bytes were cut', () => {
    const frame = fc.uint8Array({ minLength: 1, maxLength: 40 })
    fc.assert(fc.property(fc.array(frame, { maxLength: 12 }), fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (frames, cuts) => {
      const bytes = prefixed(frames)
      const got: string[] = []
      const framer = new Framer(frame => { got.push(frame.toString('hex')) })
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const end = at + cuts[i % cuts.length]!
        framer.push(bytes.subarray(at, end))
        at = end
      }
      assert.deepEqual(got, frames.map(frame => Buffer.from(frame).toString('hex')))
    }))
  })

  it('takes a frame of the largest size and refuses a larger one, or an empty one', () => {
    let got = 0
    const framer = new Framer(frame => { got = frame.length })
    framer.push(prefixed([new Uint8Array(frameBytesMax)]))
    assert.equal(got, frameBytesMax)
    assert.throws(() => { framer.push(Buffer.from([1, 0, 16, 0])) }, /1 to 1048576 bytes, not 1048577/)
    assert.throws(() => { new Framer(() => {}).push(Buffer.alloc(4)) }, RangeError)
  })

  it('gives no frame while it is paused, not even the rest of a chunk, and then all, in order', () => {
    const got: string[] = []
    const framer = new Framer(frame => {
      got.push(frame.toString())
      if (got.length === 2) framer.pause()
    })
    const bytes = prefixed(['a', 'bb', 'ccc', 'dddd', 'eeeee'].map(text => Buffer.from(text)))
    framer.push(bytes.subarray(0, 25))
    framer.push(bytes.subarray(25))
    assert.deepEqual([got, framer.isWithinFrame], [['a', 'bb'], false])
    framer.resume()
    assert.deepEqual(got, ['a', 'bb', 'ccc', 'dddd', 'eeeee'])
  })

  it('knows whether a frame has begun that has not come whole', () => {
    const framer = new Framer(() => {})
    let fed = 0
    const seen = [3, 1, 2, 5, 2].map(count => {
      framer.push(Buffer.from([5, 0, 0, 0, 1, 2, 3, 4, 5, 1, 0, 0, 0, 9].slice(fed, fed += count)))
      return [framer.isWithinFrame, framer.framesCount]
    })
    assert.deepEqual(seen, [[true, 0], [true, 0], [true, 0], [true, 1], [true, 1]])
    framer.push(Buffer.from([9]))
    assert.deepEqual([framer.isWithinFrame, framer.framesCount], [false, 2])
  })
})
