// The bytes of overlay messages and rows, laid down by hand from wire/overlay.proto: a change here breaks peers of another
// build and stores that are there. Fields that are absent or zero take no bytes (Protocol Buffers, proto3).

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import type { Codec, Method } from '../../overlay/host.ts'
import { keepLinks, restoreLinks } from '../../overlay/graph/kept-links.ts'
import { Neighbors } from '../../overlay/graph/neighbors.ts'
import { overlayDefaults } from '../../overlay/init.ts'
import {
  consentMethod, helloMethod, joinMethod, linkMethod, lookupMethod, neighborsMethod, surveyMethod, unlinkMethod, type GraphNode
} from '../../overlay/messages.ts'
import type { Member } from '../../overlay/member.ts'
import type { Claim } from '../../overlay/ownership/claim.ts'
import { acceptMethod, decidedMethod, prepareMethod } from '../../overlay/ownership/messages.ts'
import { prefixed } from '../../overlay/prefixed-store.ts'
import { RegisterStore, rowsOf } from '../../overlay/ownership/register-rows.ts'
import { Atlas } from '../../overlay/routing/atlas.ts'
import { Router } from '../../overlay/routing/router.ts'
import type { OwnerView } from '../../overlay/routing/routing.ts'
import { MemoryStore } from '../../storage/memory-store.ts'
import { World } from '../../testnet/simulator/world.ts'

const plain = (text: string): string => text.replace(/\s/g, '')
const hex = (bytes: Uint8Array): string => toString(bytes, 'base16')
const bytes = (text: string): Uint8Array => fromString(text)
/** Without absent fields, whether they are undefined or not there. */
const bare = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

// member "m" at contact "c" with address "/a"
const member: Member = { id: 'm', contact: { id: 'c', addresses: ['/a'] } }
const memberHex = '0a016d 1207 0a0163 12022f61' // 12 bytes
// [k, z) of chain "x", epoch 300
const view: OwnerView = { interval: { low: bytes('k'), high: bytes('z') }, chain: 'x', epoch: 300, owner: member }
const intervalHex = '0a016b 12017a' // 6 bytes
const viewHex = `0a06 ${intervalHex} 120178 18ac02 220c ${memberHex}` // 28 bytes
// vector 2^32 - 1, placement 2
const node: GraphNode = { view, vector: 0xffffffff, placement: 2 }
const nodeHex = `0a1c ${viewHex} 10ffffffff0f 1802` // 38 bytes
const claim: Claim = { chain: 'x', epoch: 3, owner: 'm', members: ['m', 'n'], floor: 1000, by: { counter: 2, member: 'm' } }
const ballotHex = '0802 12016d' // 5 bytes
const claimHex = `0a0178 1003 1a016d 22016d 22016e 28e807 3205 ${ballotHex}` // 24 bytes
const pieceHex = `0a06 ${intervalHex} 1218 ${claimHex}` // 34 bytes
const ballot = { counter: 2, member: 'm' }
const piece = { interval: view.interval, claim }

function lays<T> (name: string, codec: Codec<T>, message: T, expected: string): void {
  it(`hold ${name}`, () => {
    assert.equal(hex(codec.encode(message)), plain(expected))
    assert.deepEqual(bare(codec.decode(fromString(plain(expected), 'base16'))), bare(message))
  })
}

describe('messages of the overlay', () => {
  it('have the names that they always had', () => {
    const methods: ReadonlyArray<{ readonly name: string }> = [lookupMethod, neighborsMethod, linkMethod, unlinkMethod, surveyMethod, helloMethod, joinMethod, consentMethod, prepareMethod, acceptMethod, decidedMethod]
    assert.deepEqual(methods.map(({ name }) => name), ['lookup', 'neighbors', 'link', 'unlink', 'survey', 'hello', 'join', 'consent', 'prepare', 'accept', 'decided'].map(verb => `overlay/1/${verb}`))
  })

  lays('a lookup', lookupMethod.request, { key: bytes('k'), below: true }, '0a016b 1001')
  lays('a lookup of the lowest key', lookupMethod.request, { key: new Uint8Array(0), below: false }, '')
  lays('the answer of an owner', lookupMethod.reply, { owner: view, near: [view], changing: false, self: view }, `0a1c ${viewHex} 121c ${viewHex} 221c ${viewHex}`)
  lays('the answer that a key changes hands', lookupMethod.reply, { near: [], changing: true }, '1801')
  lays('an open interval', lookupMethod.reply, { near: [], changing: false, self: { ...view, interval: { low: new Uint8Array(0), high: undefined } } }, `2216 0a00 120178 18ac02 220c ${memberHex}`)
  lays('a question for links', neighborsMethod.request, { level: 5 }, '0805')
  lays('its answer', neighborsMethod.reply, { self: node, right: node }, `0a26 ${nodeHex} 1a26 ${nodeHex}`)
  lays('a link', linkMethod.request, { level: 1, node }, `0801 1226 ${nodeHex}`)
  lays('its answer', linkMethod.reply, { self: node, closer: node }, `0a26 ${nodeHex} 1226 ${nodeHex}`)
  lays('an unlink', unlinkMethod.request, { level: 1, member: 'm', placement: 3, left: node }, `0801 12016d 1803 2226 ${nodeHex}`)
  lays('its answer', unlinkMethod.reply, {}, '')
  lays('a survey', surveyMethod.request, {}, '')
  lays('its answer', surveyMethod.reply, { self: node, weight: 1.5, links: [node] }, `0a26 ${nodeHex} 11000000000000f83f 1a26 ${nodeHex}`)
  lays('a hello', helloMethod.request, { self: member, met: [member] }, `0a0c ${memberHex} 120c ${memberHex}`)
  lays('its answer', helloMethod.reply, { self: member, serving: true, met: [member] }, `0a0c ${memberHex} 1001 1a0c ${memberHex}`)
  lays('a join', joinMethod.request, { joiner: member, vector: 1, placement: 4 }, `0a0c ${memberHex} 1001 1804`)
  lays('its answer', joinMethod.reply, { giver: node, right: node }, `1226 ${nodeHex} 1a26 ${nodeHex}`)
  lays('a refusal', joinMethod.reply, { refused: 'busy' }, '0a0462757379')
  lays('a question for consent', consentMethod.request, { interval: view.interval, giver: member }, `0a06 ${intervalHex} 120c ${memberHex}`)
  lays('its refusal', consentMethod.reply, { refused: 'leaving' }, '0a076c656176696e67')
  lays('PREPARE', prepareMethod.request, { ballot, base: [piece] }, `0a05 ${ballotHex} 1222 ${pieceHex}`)
  lays('a promise', prepareMethod.reply, { answer: 'promised', ballot, parts: [{ interval: view.interval, base: claim, accepted: { ballot, claim }, ceiling: 1001 }] },
    `0a05 ${ballotHex} 1248 0a06 ${intervalHex} 1218 ${claimHex} 1a21 0a05 ${ballotHex} 1218 ${claimHex} 20e907`)
  lays('a promise refused', prepareMethod.reply, { answer: 'refused', ballot, reason: 'superseded', held: [piece], above: { counter: 2, member: 'm' } },
    `0a05 ${ballotHex} 1a0a 73757065727365646564 2222 ${pieceHex} 2a05 ${ballotHex}`)
  lays('ACCEPT', acceptMethod.request, { ballot, proposals: [{ interval: view.interval, base: claim, value: claim }] }, `0a05 ${ballotHex} 123c 0a06 ${intervalHex} 1218 ${claimHex} 1a18 ${claimHex}`)
  lays('its answer', acceptMethod.reply, { ballot, accepted: [view.interval], held: [piece], above: ballot }, `0a05 ${ballotHex} 1206 ${intervalHex} 1a22 ${pieceHex} 2205 ${ballotHex}`)
  lays('DECIDED', decidedMethod.request, { pieces: [piece], members: [member] }, `0a22 ${pieceHex} 120c ${memberHex}`)
  lays('its answer', decidedMethod.reply, {}, '')

  it('hold an answer in its envelope, or where to ask instead', () => {
    const raw: Codec<Uint8Array> = { encode: message => message, decode: message => message }
    const host = new World({ seed: 1 }).host('h')
    let routed: Method<unknown, unknown> | undefined
    Object.defineProperty(host, 'handle', { value: (method: Method<unknown, unknown>) => { routed = method } })
    const router = new Router({ host, atlas: new Atlas(overlayDefaults), self: () => '', isForeign: () => false, ownership: { standing: () => ({ kind: 'elsewhere', known: undefined }) }, near: () => ({ own: undefined, near: [] }), learn: () => {}, suspect: () => {} }, overlayDefaults)
    router.handle({ name: 'test/1/routed', request: raw, reply: raw }, key => ({ key, below: false }), key => key)
    const { reply } = routed!
    const answered = { answer: bytes('hi'), owner: view, near: [view], self: view }
    assert.equal(hex(reply.encode(answered)), plain(`0a02 6869 121c ${viewHex} 1a1c ${viewHex} 221c ${viewHex}`))
    assert.deepEqual(bare(reply.decode(reply.encode(answered))), bare(answered))
    assert.equal(hex(reply.encode({ near: [view] })), plain(`1a1c ${viewHex}`))
    assert.equal(hex(reply.encode({ answer: new Uint8Array(0), near: [] })), '0a00', 'an empty answer is one')
  })

  it('refuse half a message', () => {
    const refused = (codec: Codec<unknown>, text: string): void => {
      assert.throws(() => codec.decode(fromString(plain(text), 'base16')), { name: 'InvalidMessageError' })
    }
    refused(linkMethod.request, '0801')
    refused(joinMethod.request, '0a03 0a016d')
    refused(helloMethod.request, '')
    refused(lookupMethod.reply, `0a13 0a06 ${intervalHex} 120178 2203 0a016d 18ac02`)
    refused(prepareMethod.request, `1222 ${pieceHex}`)
    refused(acceptMethod.request, `0a05 ${ballotHex} 1222 0a06 ${intervalHex} 1218 ${claimHex}`)
    refused(decidedMethod.request, `0a08 0a06 ${intervalHex}`)
  })
})

describe('rows of the overlay on disk', () => {
  it('hold a register under its low key', async () => {
    const register = { claim, promised: ballot, accepted: { ballot, claim }, ceiling: 1001 }
    const [row, open] = [rowsOf({ put: [{ interval: view.interval, value: register }], remove: [] })[0]!, rowsOf({ put: [{ interval: { low: bytes('k'), high: undefined }, value: { ...register, promised: undefined, accepted: undefined } }], remove: [] })[0]!]
    assert(row.type === 'put' && open.type === 'put')
    assert.equal(toString(row.key), 'k')
    assert.equal(hex(row.value), plain(`0a01 7a 1218 ${claimHex} 1a05 ${ballotHex} 2221 0a05 ${ballotHex} 1218 ${claimHex} 28e907`))
    assert.equal(hex(open.value), plain(`1218 ${claimHex} 28e907`))
    const store = new MemoryStore()
    await store.batch([prefixed(store, bytes('o')).operation(row)])
    assert.deepEqual(bare((await new RegisterStore(store).open()).entries()), bare([{ interval: view.interval, value: register }]))
  })

  it('hold the links of all levels', async () => {
    const neighbors = new Neighbors()
    neighbors.set(0, 'left', node)
    neighbors.set(1, 'right', node)
    const store = new MemoryStore()
    await keepLinks(store, neighbors)
    assert.equal(hex(store.getSync(bytes('links'))!), plain(`0a28 0a26 ${nodeHex} 0a28 1226 ${nodeHex}`))
    const restored = new Neighbors()
    restoreLinks(store, restored)
    assert.deepEqual(bare(restored.levels()), bare(neighbors.levels()))
  })
})
