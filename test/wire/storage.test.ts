// The bytes of storage on disk and between nodes, laid down by hand from the layouts: a change here breaks stored data and
// peers of another build.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { arriveMethod, closeMethod, digestMethod, fillMethod, findMethod, learnMethod, offerMethod, putMethod, rangeMethod } from '../../storage/messages.ts'
import { idKey, placeKey } from '../../storage/records/key-layout.ts'
import { idHash } from '../../storage/records/id-hash.ts'
import { decodeHeld, encodeHeld, hasOpen, isLive, kindOf, versionOf, withoutValue } from '../../storage/records/record.ts'
import type { Held } from '../../storage/records/record.ts'
import { rowFrame } from '../../storage/records/row-frame.ts'
import { writeCursor } from '../../storage/records/cursor.ts'

const hex = (bytes: Uint8Array): string => toString(bytes, 'base16')
const plain = (text: string): string => text.replace(/\s/g, '')
const bytes = (text: string): Uint8Array => fromString(text)

const member = '00112233445566778899aabbccddeeff'
const version = { ms: 0x0102_0304_0506, counter: 0x0708_090a, member }
// u48, u32, member
const versionHex = '010203040506 0708090a 00112233445566778899aabbccddeeff'

const rows: Array<[string, Held, string]> = [
  ['a record with a content type', {
    kind: 'ordered', version, state: { value: bytes('hi'), contentType: 'a/b', point: undefined, text: undefined }, requested: undefined
  }, `01 00 03 ${versionHex} 03 612f62 02 6869`],
  ['a tombstone that remembers its request', {
    kind: 'ordered', version, state: undefined, requested: { id: 'r1', had: true }
  }, `01 00 20 ${versionHex} 02 7231 01`],
  ['an id record with an open intent', {
    kind: 'id',
    version,
    state: { value: bytes('v'), contentType: undefined, point: [1, -2], text: 'é' },
    requested: undefined,
    place: bytes('new'),
    open: [{ version, from: { place: bytes('old'), point: [0, 0.5], text: 't' }, to: bytes('new') }]
  }, `01 01 cd ${versionHex} 3ff0000000000000 c000000000000000 02 c3a9 03 6e6577
      01 ${versionHex} 07 03 6f6c64 0000000000000000 3fe0000000000000 01 74 03 6e6577 01 76`],
  ['the tombstone of an object, with its intent', {
    kind: 'id', version, state: undefined, requested: undefined, place: undefined, open: [{ version, from: { place: bytes('old'), point: [0, 0], text: undefined }, to: undefined }]
  }, `01 01 80 ${versionHex} 01 ${versionHex} 01 03 6f6c64 0000000000000000 0000000000000000`],
  ['an entry at a place', {
    kind: 'place',
    version,
    state: { value: bytes('v'), contentType: undefined, point: [1, -2], text: 'A b' },
    words: { rule: 1, unicode: '16.0', words: ['a', 'b'] },
    movedTo: undefined
  }, `01 02 0d ${versionHex} 3ff0000000000000 c000000000000000 03 412062 01 04 31362e30 03 612062 01 76`],
  ['a mark', {
    kind: 'place', version, state: undefined, words: undefined, movedTo: bytes('new')
  }, `01 02 10 ${versionHex} 03 6e6577`]
]

describe('rows on disk', () => {
  for (const [name, held, expected] of rows) {
    it(`hold ${name} in the bytes laid down`, () => {
      const encoded = encodeHeld(held)
      assert.equal(hex(encoded), plain(expected))
      assert.deepEqual(JSON.stringify(decodeHeld(encoded)), JSON.stringify(held))
      assert.deepEqual([kindOf(encoded), isLive(encoded), versionOf(encoded)], [held.kind, held.state !== undefined, version])
      assert.equal(hasOpen(encoded), held.kind === 'id' && held.open.length > 0)
    })

    it(`refuse ${name} when bytes are missing or left over`, () => {
      const encoded = encodeHeld(held)
      for (let length = 0; length < encoded.length; length++) assert.throws(() => decodeHeld(encoded.subarray(0, length)), { name: 'UnreadableRowError' })
      assert.throws(() => decodeHeld(Uint8Array.of(...encoded, 0)), { name: 'UnreadableRowError' })
      assert.throws(() => decodeHeld(Uint8Array.of(2, ...encoded.subarray(1))), { name: 'UnreadableRowError' })
    })
  }

  it('lose only their value when keys are asked for', () => {
    const [, held] = rows[0]!
    assert.equal(hex(withoutValue(encodeHeld(held))), plain(`01 00 03 ${versionHex} 03 612f62 00`))
  })
})

describe('keys on the line', () => {
  it('hold index and hash in eight bytes, big-endian, with their marks', () => {
    assert.equal(hex(placeKey('places', 2 ** 52 - 1, bytes('bus'))), plain('706c61636573 00 000fffffffffffff 01 627573'))
    assert.equal(hex(placeKey('places', 0x1234, bytes('bus'))), plain('706c61636573 00 0000000000001234 01 627573'))
    const hash = idHash(bytes('bus 42')).toString(16).padStart(16, '0')
    assert.equal(hex(idKey('places', bytes('bus 42'))), plain(`706c61636573 00 ${hash} 00 627573203432`))
  })

  it('lie where the hash of their id has always put them', () => {
    const known: Array<[string, number]> = [
      ['', 3457797757294369], ['a', 2244463115710410], ['b', 4299559224926491], ['ab', 3247648492639514], ['abcd', 4203477255456536],
      ['abcde', 721511311004424], ['bus 42', 3616230546533091], ['ключ', 1791276883632932], ['x'.repeat(1024), 3339867653308639]
    ]
    for (const [id, hash] of known) assert.equal(idHash(bytes(id)), hash)
  })
})

describe('frames of rows', () => {
  it('hold keys and values, and tell an empty value from none', () => {
    const given = [{ key: bytes('a'), value: bytes('xy') }, { key: bytes('b'), value: new Uint8Array(0) }, { key: bytes('c'), value: undefined }]
    const encoded = rowFrame.encode(given)
    assert.equal(hex(encoded), plain('01 61 03 7879  01 62 01  01 63 00'))
    assert.deepEqual(JSON.stringify(rowFrame.decode(encoded)), JSON.stringify(given))
    assert.throws(() => rowFrame.decode(encoded.subarray(0, 3)), { name: 'UnreadableRowError' })
  })

  it('take lengths above one byte', () => {
    const value = new Uint8Array(300)
    assert.equal(hex(rowFrame.encode([{ key: bytes('a'), value }]).subarray(0, 4)), plain('01 61 ad 02'))
    assert.deepEqual(rowFrame.decode(rowFrame.encode([{ key: bytes('a'), value }]))[0]!.value, value)
  })
})

describe('messages of storage', () => {
  // Protocol Buffers by hand: tag = field · 8 + type (0 varint, 1 eight bytes, 2 length-delimited).
  const state = { value: bytes('v'), contentType: undefined, point: [1, -2] as const, text: undefined }
  const stateHex = '0a 01 76  1a 12 09 000000000000f03f 11 00000000000000c0'

  it('hold a put in the bytes laid down', () => {
    const message = { key: bytes('k'), state, object: true, place: bytes('p'), requestId: 'r', turn: undefined }
    const encoded = putMethod.request.encode(message)
    assert.equal(hex(encoded), plain(`0a 01 6b  12 17 ${stateHex}  18 01  22 01 70  2a 01 72`))
    const decoded = putMethod.request.decode(encoded)
    assert.deepEqual([hex(decoded.key), decoded.state, decoded.object, hex(decoded.place!), decoded.requestId, decoded.turn], ['6b', state, true, '70', 'r', undefined])
  })

  it('hold an arrival in the bytes laid down', () => {
    const small = { ms: 1, counter: 2, member: 'm' }
    assert.equal(hex(arriveMethod.request.encode({ place: bytes('p'), state, version: small })), plain(`0a 01 70  12 17 ${stateHex}  1a 07 08 01 10 02 1a 01 6d`))
  })

  it('hold a close in the bytes laid down', () => {
    const message = { key: bytes('k'), version: { ms: 1, counter: 2, member: 'm' }, from: [bytes('p'), new Uint8Array(0)] }
    const encoded = closeMethod.request.encode(message)
    assert.equal(hex(encoded), plain('0a 01 6b  12 07 08 01 10 02 1a 01 6d  1a 01 70  1a 00'))
    assert.deepEqual(closeMethod.request.decode(encoded).from.map(hex), ['70', ''])
  })

  it('hold a range, an answer and an offer in the bytes laid down', () => {
    const range = { low: bytes('a'), high: bytes('b'), reverse: true, keysOnly: false, rowsMax: 300, bytesMax: 1 }
    assert.equal(hex(rangeMethod.request.encode(range)), plain('0a 01 61  12 01 62  18 01  28 ac02  30 01'))
    const rows = [{ key: bytes('a'), value: bytes('x') }]
    assert.equal(hex(rangeMethod.reply.encode({ rows, next: bytes('b') })), plain('0a 04 01 61 02 78  12 01 62'))
    assert.equal(hex(offerMethod.request.encode({ rows })), plain('0a 04 01 61 02 78'))
  })

  it('hold the requests of a fill in the bytes laid down', () => {
    const interval = { low: bytes('a'), high: undefined }
    const source = { id: 'm', contact: { id: 'c', addresses: [] } }
    const learn = { session: 's', interval, source, round: 1, holds: true, tail: true, epoch: 5, member: 'm' }
    assert.equal(hex(learnMethod.request.encode(learn)), plain('0a 01 73  12 03 0a 01 61  1a 08 0a 01 6d 12 03 0a 01 63  20 01  28 01  30 01  38 05  42 01 6d'))
    const fill = { session: 's', interval, round: 2, keys: [bytes('k'), new Uint8Array(0)], parts: [{ low: bytes('a'), high: bytes('b') }], more: true }
    const encoded = fillMethod.request.encode(fill)
    assert.equal(hex(encoded), plain('0a 01 73  12 03 0a 01 61  18 02  22 01 6b 22 00  2a 06 0a 01 61 12 01 62  30 01'))
    const decoded = fillMethod.request.decode(encoded)
    assert.deepEqual([decoded.keys.map(hex), decoded.parts.map(({ low, high }) => [hex(low), hex(high!)]), decoded.more], [['6b', ''], [['61', '62']], true])
  })

  it('hold a digest in the bytes laid down', () => {
    const hash = Uint8Array.of(0xaa, 0xbb)
    assert.equal(hex(digestMethod.request.encode({ session: 's', interval: { low: bytes('a'), high: bytes('b') } })), plain('0a 01 73  12 06 0a 01 61 12 01 62'))
    const encoded = digestMethod.row.encode({ stretches: [{ high: bytes('b'), rows: 3, hash }, { high: undefined, rows: 0, hash }] })
    assert.equal(hex(encoded), plain('0a 09 0a 01 62 10 03 1a 02 aabb  0a 04 1a 02 aabb'))
    const { stretches } = digestMethod.row.decode(encoded)
    assert.deepEqual(stretches.map(({ high, rows, hash }) => [high && hex(high), rows, hex(hash)]), [['62', 3, 'aabb'], [undefined, 0, 'aabb']])
  })

  it('carry each kind of extent and space', () => {
    const message = { collection: 'c', words: ['a', 'b'], any: true, from: bytes('f'), rowsMax: 1, bytesMax: 2, countOnly: false, movedMs: 2 ** 32 - 1 }
    const lonlat = { kind: 'lonlat' } as const
    const plane = { kind: 'planar', minX: 0, minY: -1, maxX: 2, maxY: 3 } as const
    const extents = [
      { kind: 'box', west: 170, south: -1, east: -170, north: 1 },
      { kind: 'circle', center: [1, 2], radiusMeters: 3 },
      { kind: 'polygon', rings: [[[0, 0], [1, 0], [0, 1], [0, 0]], [[0.1, 0.1], [0.2, 0.1], [0.1, 0.2], [0.1, 0.1]]] }
    ] as const
    for (const space of [lonlat, plane]) {
      for (const extent of extents) {
        const decoded = findMethod.request.decode(findMethod.request.encode({ ...message, space, extent }))
        assert.deepEqual({ ...decoded }, { ...message, space, extent })
      }
    }
  })

  it('refuse half a message', () => {
    assert.throws(() => putMethod.request.decode(Uint8Array.of(0x0a, 1, 0x6b)), { name: 'InvalidMessageError' })
  })
})

describe('cursors', () => {
  it('are the bytes laid down, in base64', () => {
    const hash = new Uint8Array(8)
    new DataView(hash.buffer).setFloat64(0, idHash(bytes('query')))
    const expected = plain(`01 ${hex(hash)} 000000000005 01 6b`)
    assert.equal(hex(fromString(writeCursor(bytes('query'), { key: bytes('k'), sinceMs: 5 }), 'base64url')), expected)
  })
})
