// Copies of rows at members: what the owner's writes need, and what a member makes of messages that come late, twice, or
// from another store at the same address.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import type { Copies } from '../../../overlay/copies.ts'
import type { Claim } from '../../../overlay/ownership/claim.ts'
import { handleCopies } from '../../../storage/holdings/copy.ts'
import { Spreader } from '../../../storage/holdings/spread.ts'
import { Writer } from '../../../storage/holdings/writer.ts'
import { MemoryStore } from '../../../storage/memory-store.ts'
import { copyMethod } from '../../../storage/messages.ts'
import { decodeHeld, encodeHeld } from '../../../storage/records/record.ts'
import { World } from '../../../testnet/simulator/world.ts'

const key = fromString('k')
const hex = (digit: string): string => digit.repeat(32)
const claim: Claim = { chain: 'c', epoch: 2, owner: hex('a'), members: [hex('a'), hex('b'), hex('c')], floor: 0, by: { counter: 1, member: hex('a') } }

function row (ms: number, text: string): Uint8Array {
  return encodeHeld({ kind: 'ordered', version: { ms, counter: 0, member: hex('a') }, state: { value: fromString(text), contentType: undefined, point: undefined, text: undefined }, requested: undefined })
}

function textOf (value: Uint8Array | undefined): string | undefined {
  const held = value === undefined ? undefined : decodeHeld(value)
  return held?.kind === 'ordered' && held.state !== undefined ? toString(held.state.value) : undefined
}

/** An owner `a` and members `b` and `c` that take what the claim says, unless told otherwise. */
class Three {
  readonly world = new World({ seed: 1, latencyMs: { min: 1, max: 5 } })
  readonly stores = new Map<string, MemoryStore>()
  readonly unanswered: string[] = []
  readonly refusing = new Set<string>()
  writable: Claim | undefined = claim
  readonly writer: Writer

  constructor () {
    for (const name of ['a', 'b', 'c']) {
      const host = this.world.host(name)
      const store = new MemoryStore()
      this.stores.set(name, store)
      if (name !== 'a') handleCopies({ host, writer: new Writer({ store, onFlushed: () => {}, spread: () => undefined }), copies: { ...this.#copies(name), mayTake: () => !this.refusing.has(name) } })
      else this.host = host
    }
    const spreader = new Spreader({ host: this.host!, copies: this.#copies('a') }, { copyMs: 500, spreadMsMax: 3000, frameBytesMax: 1000 })
    this.writer = new Writer({ store: this.stores.get('a')!, onFlushed: () => {}, spread: (rows, order) => spreader.spread(rows, order) })
  }

  readonly host

  at (name: string): string | undefined {
    return textOf(this.stores.get(name)!.getSync(key))
  }

  async tell (owner: string, boot: number, order: number, value: Uint8Array | undefined): Promise<void> {
    const { chain, epoch, by } = claim
    await this.world.settle(this.host!.call({ id: 'b', addresses: [] }, copyMethod, { owner, boot, groups: [{ chain, epoch, by, order, rows: [{ key, value }] }] }, { deadlineMs: 1000 }))
  }

  #copies (name: string): Copies {
    return {
      self: hex(name),
      boot: 1,
      writableAt: () => this.writable,
      isOwner: () => this.writable !== undefined,
      mayTake: () => true,
      claimsIn: () => [],
      contactOf: id => ({ id, contact: { id: id.slice(0, 1), addresses: [] } }),
      unanswered: id => { this.unanswered.push(id.slice(0, 1)) },
      refused: () => {},
      wantCeiling: () => {}
    }
  }
}

describe('copies', () => {
  it('are on all members before the owner shows a write', async () => {
    const three = new Three()
    const written = three.writer.write([{ key, value: row(1, 'x') }])
    assert.deepEqual([three.at('a'), textOf(three.writer.latest(key))], [undefined, 'x'])
    await three.world.run({ until: () => three.at('b') === 'x' && three.at('c') === 'x' })
    assert.equal(three.at('a'), undefined, 'not shown before both have answered')
    await three.world.settle(written)
    assert.equal(three.at('a'), 'x')
  })

  it('keep a write from being shown or answered while one member does not take it, and it may be stored for all the owner knows', async () => {
    const three = new Three()
    three.refusing.add('c')
    await assert.rejects(three.world.settle(three.writer.write([{ key, value: row(7, 'x') }])), { name: 'TimeoutError', definite: false })
    assert.deepEqual([three.at('a'), three.at('b'), three.at('c')], [undefined, 'x', undefined])
    assert.equal(three.writer.floorMs, 8, 'no later write has that version or a lower one')
  })

  it('go on to the present members when the claim changes meanwhile', async () => {
    const three = new Three()
    three.world.kill('c')
    const written = three.writer.write([{ key, value: row(1, 'x') }])
    await three.world.run({ until: () => three.unanswered.includes('c') })
    three.writable = { ...claim, epoch: 3, members: [hex('a'), hex('b')] }
    await three.world.settle(written)
    assert.deepEqual([three.at('a'), three.at('b')], ['x', 'x'])
  })

  it('keep the later of two writes of one key, whichever is taken first', async () => {
    const three = new Three()
    three.refusing.add('c')
    const first = three.writer.write([{ key, value: row(1, 'first') }])
    await three.world.run({ until: () => three.at('b') === 'first' })
    three.refusing.clear()
    const second = three.writer.write([{ key, value: row(2, 'second') }])
    await three.world.settle(Promise.all([first, second]))
    assert.deepEqual(['a', 'b', 'c'].map(name => three.at(name)), ['second', 'second', 'second'])
  })

  it('ignore what was decided earlier and comes later, and take anew what another store at that address decides', async () => {
    const three = new Three()
    await three.tell(hex('a'), 1, 9, row(5, 'nine'))
    await three.tell(hex('a'), 1, 8, row(5, 'eight'))
    assert.equal(three.at('b'), 'nine', 'one boot: by its count')
    await three.tell(hex('d'), 1, 1, row(6, 'other'))
    assert.equal(three.at('b'), 'other', 'the count of another store begins anew')
    await three.tell(hex('a'), 2, 1, row(4, 'old'))
    assert.equal(three.at('b'), 'other', 'another boot: by version')
  })
})
