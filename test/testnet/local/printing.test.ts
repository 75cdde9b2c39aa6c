// What the testnet prints: the table of peers, and commands that a shell takes as they are meant.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { shellWord } from '../../../testnet/local/example.ts'
import { recordsNote } from '../../../node/cli/status.ts'
import { peerTable } from '../../../testnet/local/peer-table.ts'

describe('what the testnet prints', () => {
  it('shows a place on the curve by the digits that tell it apart, other keys as they are, and the busiest with a full bar', () => {
    const place = { collection: 'places', key: '\u0000\u0008\u0000\u0000\u0000\u0000\u0000\u0000', hex: '706c61636573000008000000000000' }
    const word = { collection: 'kv', key: 'moon', hex: '6b76006d6f6f6e' }
    const peer = { peerId: '12D3KooWAbcdefghij', rpc: 'http://127.0.0.1:7700', state: 'serving', records: 1_707 }
    const text = peerTable([
      { ...peer, number: 1, interval: { low: null, high: word }, spatial: [], loadPerSecond: 4 },
      { ...peer, number: 2, interval: { low: word, high: place }, spatial: [{ collection: 'places', bbox: [-180, -90, 0, 90] }], loadPerSecond: 1 },
      { ...peer, number: 3, interval: { low: place, high: null }, spatial: [], loadPerSecond: 0, rpc: null, state: 'unreachable' }
    ])
    assert.deepEqual(text.trimEnd().split('\n').map(line => line.trim().split(/ {2,}/)), [
      ['#', 'PEER', 'RPC', 'KEYS', 'BOX', 'RECORDS', 'LOAD/s'],
      ['1', '12D3..efghij', 'http://127.0.0.1:7700', '[-inf, kv/moon)', '-', '1,707', '4.0', '████████'],
      ['2', '12D3..efghij', 'http://127.0.0.1:7700', '[kv/moon, places/0x0008)', '-180,-90,0,90', '1,707', '1.0', '██'],
      ['3', '12D3..efghij', 'unreachable', '[places/0x0008, +inf)', '-', '1,707', '0.0'],
      [recordsNote.trimEnd()]
    ])
  })

  it('quotes words so that a shell gives back the same', () => {
    const word = fc.string().filter(text => !text.includes('\0'))
    fc.assert(fc.property(fc.array(word, { minLength: 20, maxLength: 60 }), words => {
      const script = `printf '%s\\n--\\n' ${words.map(shellWord).join(' ')}`
      assert.equal(execFileSync('sh', ['-c', script], { encoding: 'utf8' }), words.map(text => `${text}\n--\n`).join(''))
    }), { numRuns: 20 })
  })
})
