// The bytes of each frame, worked out by hand from the layout. They may never change: other versions read them.

import assert from 'node:assert/strict'
import { decodeFrame, encodeEnd, encodeFailure, encodeHello, encodeNotice, encodeReply, encodeRequest, encodeRow } from '../../node/rpc/wire/frame.ts'
import type { Frame } from '../../node/rpc/wire/frame.ts'

const message = new Uint8Array([0xca, 0xfe])

/** Title, frame as encoded, its bytes in hexadecimal, what they are read as. */
const golden: Array<[string, Buffer, string, Frame]> = [
  ['a hello', encodeHello(['ab', 'ö']), '0a000000' + '00' + '02' + '0200' + '6162' + '0200' + 'c3b6', { kind: 'hello', addresses: ['ab', 'ö'] }],
  ['a request', encodeRequest(0x01020304, 'a/1/b', message), '0d000000' + '01' + '04030201' + '05' + '612f312f62' + 'cafe', { kind: 'request', id: 0x01020304, method: 'a/1/b', message: Buffer.from(message) }],
  ['a reply', encodeReply(0xffffffff, message), '07000000' + '02' + 'ffffffff' + 'cafe', { kind: 'reply', id: 0xffffffff, message: Buffer.from(message) }],
  ['a failure', encodeFailure(5, true, 'E', 'no'), '0a000000' + '03' + '05000000' + '01' + '01' + '45' + '6e6f', { kind: 'failure', id: 5, definite: true, name: 'E', text: 'no' }],
  ['a notice', encodeNotice('n', message), '05000000' + '04' + '01' + '6e' + 'cafe', { kind: 'notice', method: 'n', message: Buffer.from(message) }],
  ['a row', encodeRow(message), '03000000' + '05' + 'cafe', { kind: 'row', message: Buffer.from(message) }],
  ['an end', encodeEnd(), '01000000' + '06', { kind: 'end' }]
]

describe('frames on the wire', () => {
  for (const [title, encoded, hex, frame] of golden) {
    it(`hold ${title} in the bytes laid down`, () => {
      assert.equal(encoded.toString('hex'), hex)
      assert.deepEqual(decodeFrame(Buffer.from(hex, 'hex').subarray(4)), frame)
    })
  }

  it('are refused where they end too early or are of no known kind', () => {
    for (const hex of ['', '07', '0104', '0104030201', '010403020105612f', '02ffff', '03050000000105', '0405', '000161', '00ff', '00010500']) {
      assert.throws(() => decodeFrame(Buffer.from(hex, 'hex')), RangeError, hex)
    }
  })

  it('take names of methods of 1 to 255 characters', () => {
    assert.throws(() => encodeRequest(1, '', message), RangeError)
    assert.throws(() => encodeNotice('x'.repeat(256), message), RangeError)
    assert.deepEqual(decodeFrame(encodeNotice('x'.repeat(255), message).subarray(4)), { kind: 'notice', method: 'x'.repeat(255), message: Buffer.from(message) })
  })
})
