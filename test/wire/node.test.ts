// The bytes of messages of node/, laid down by hand from wire/node.proto.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { describeMethod } from '../../node/describe.ts'

const hex = (bytes: Uint8Array): string => toString(bytes, 'base16')

describe('messages of node', () => {
  it('hold the question what an owner says of itself, and its answer', () => {
    assert.equal(describeMethod.name, 'node/1/describe')
    assert.equal(hex(describeMethod.request.encode({ key: fromString('k') })), '0a016b')
    const reply = { state: 'serving', rpc: 'http://a', records: 300, loadPerSecond: 0.5 } as const
    const expected = '0a0773657276696e67' + '1208687474703a2f2f61' + '18ac02' + '21000000000000e03f'
    assert.equal(hex(describeMethod.reply.encode(reply)), expected)
    assert.deepEqual({ ...describeMethod.reply.decode(fromString(expected, 'base16')) }, reply)
    assert.equal(hex(describeMethod.reply.encode({ state: 'serving', records: 0, loadPerSecond: 0 })), '0a0773657276696e67')
  })
})
