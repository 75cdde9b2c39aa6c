// When a store answers for a key: a decided claim that names it, confirmed since boot, no promise over it, not frozen. And
// what it knows comes back from its disk.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { everything } from '../../../overlay/interval.ts'
import { overlayDefaults } from '../../../overlay/init.ts'
import type { Claim, Piece } from '../../../overlay/ownership/claim.ts'
import { Ownership, type ClaimChange } from '../../../overlay/ownership/ownership.ts'
import { newRegisters, type Register } from '../../../overlay/ownership/register.ts'
import { RegisterStore } from '../../../overlay/ownership/register-rows.ts'
import { MemoryStore } from '../../../storage/memory-store.ts'
import { World } from '../../../testnet/simulator/world.ts'
import { below, ends, key, lineEnd, on, span } from '../views.ts'

function claim (owner: string, epoch: number, more: Partial<Claim> = {}): Claim {
  return { chain: 'main', epoch, owner, members: [owner], floor: 0, by: { counter: epoch, member: owner }, ...more }
}

const piece = (from: number, to: number, claim: Claim): Piece => ({ interval: span(from, to), claim })

interface Opened { readonly ownership: Ownership, readonly told: ClaimChange[] }

/** The ownership of store `me`, as after a boot. */
async function open (store: MemoryStore): Promise<Opened> {
  const host = new World({ seed: 1 }).host('me')
  const ownership = new Ownership({ host, store, self: 'me', contactOf: id => id === 'stranger' ? undefined : { id, contact: { id, addresses: [] } } }, overlayDefaults)
  const told: ClaimChange[] = []
  ownership.onClaim = change => { told.push(change) }
  await ownership.open()
  return { ownership, told }
}

const kinds = (ownership: Ownership, ...keys: number[]): string[] => keys.map(at => ownership.standing(on(at)).kind)
const runs = (ownership: Ownership): Array<[number, number]> => ownership.runs().map(({ interval }) => ends(interval))

describe('ownership', () => {
  it('serves a claim once it has learned it decided, and tells what was gained', async () => {
    const { ownership, told } = await open(new MemoryStore())
    assert.deepEqual([kinds(ownership, 50), ownership.run()], [['elsewhere'], undefined])
    await ownership.learn([piece(20, 80, claim('me', 3, { floor: 700 }))])
    assert.deepEqual(kinds(ownership, 19, 20, 79, 80), ['elsewhere', 'serving', 'serving', 'elsewhere'])
    const standing = ownership.standing(on(50))
    assert(standing.kind === 'serving')
    assert.deepEqual([standing.owned, standing.view.epoch, standing.view.owner.contact.id], [{ interval: span(20, 80), floorMs: 700, ceilingMs: Infinity, copies: 1 }, 3, 'me'])
    assert.deepEqual(told, [{ gained: [span(20, 80)], lost: [], held: [span(20, 80)], released: [] }])
  })

  it('owns the keys just below its high, and not those below its low', async () => {
    const { ownership } = await open(new MemoryStore())
    await ownership.learn([piece(20, 80, claim('me', 1)), piece(80, lineEnd, claim('you', 1))])
    const standings = [below(20), below(21), below(80), below(81)].map(target => ownership.standing(target).kind)
    assert.deepEqual(standings, ['elsewhere', 'serving', 'serving', 'elsewhere'])
  })

  it('names the owner that it knows of, where it can be called', async () => {
    const { ownership } = await open(new MemoryStore())
    await ownership.learn([piece(0, 10, claim('you', 4)), piece(10, 20, claim('stranger', 4))])
    const [known, unknown, nobody] = [5, 15, 25].map(at => ownership.standing(on(at)))
    assert.deepEqual(known, { kind: 'elsewhere', known: { interval: span(0, 10), chain: 'main', epoch: 4, owner: { id: 'you', contact: { id: 'you', addresses: [] } } } })
    assert.deepEqual([unknown, nobody], [{ kind: 'elsewhere', known: undefined }, { kind: 'elsewhere', known: undefined }])
  })

  it('joins adjacent claims of its own to one run, with the highest floor and epoch', async () => {
    const { ownership } = await open(new MemoryStore())
    await ownership.learn([piece(10, 20, claim('me', 2, { floor: 5 })), piece(20, 40, claim('me', 7, { floor: 3 })), piece(60, 70, claim('me', 1))])
    assert.deepEqual([runs(ownership), ownership.run()?.epoch], [[[10, 40], [60, 70]], 7])
    const standing = ownership.standing(on(15))
    assert(standing.kind === 'serving')
    assert.equal(standing.owned.floorMs, 5)
  })

  it('stops answering for a frozen part in one step, and goes on with the rest', async () => {
    const { ownership } = await open(new MemoryStore())
    await ownership.learn([piece(0, lineEnd, claim('me', 1))])
    const gate = ownership.freeze(span(50, 100))
    assert.deepEqual([kinds(ownership, 49, 50, 99, 100), runs(ownership)], [['serving', 'changing', 'changing', 'serving'], [[0, 50], [100, lineEnd]]])
    const standing = ownership.standing(on(60))
    assert(standing.kind === 'changing' && standing.gate === gate)
    ownership.thaw(span(50, 100), gate)
    assert.deepEqual([kinds(ownership, 60), gate.isOpen], [['serving'], true])
  })

  it('knows its ring and its place also while all that it owns is changing hands', async () => {
    const { ownership } = await open(new MemoryStore())
    assert.equal(ownership.chain, undefined)
    const own = claim('me', 1)
    await ownership.learn([piece(0, lineEnd, own)])
    ownership.freeze(span(0, lineEnd))
    assert.deepEqual([ownership.runs(), ownership.run()?.interval, ownership.chain], [[], span(0, lineEnd), own.chain])
  })

  it('stops answering from its own promise on, at once, and promises when that is flushed', async () => {
    let flush = (): void => {}
    let isHeld = false
    const store = new MemoryStore(async () => { if (isHeld) await new Promise<void>(resolve => { flush = resolve }) })
    const { ownership } = await open(store)
    const base = claim('me', 1)
    await ownership.learn([piece(0, lineEnd, base)])
    isHeld = true
    let reply: unknown
    const promised = ownership.promise({ ballot: { counter: 9, member: 'me' }, base: [piece(50, lineEnd, base)] }).then(answer => { reply = answer })
    assert.deepEqual(kinds(ownership, 49, 50), ['serving', 'changing'])
    await new Promise(resolve => setImmediate(resolve))
    assert.equal(reply, undefined, 'not flushed yet')
    flush()
    await promised
    assert.equal((reply as unknown as { answer: string }).answer, 'promised')
  })

  it('promises nobody else while it owns: an owner that lives holds its lease', async () => {
    const { ownership } = await open(new MemoryStore())
    const base = claim('me', 1)
    await ownership.learn([piece(0, lineEnd, base)])
    const reply = await ownership.promise({ ballot: { counter: 9, member: 'you' }, base: [piece(0, lineEnd, base)] })
    assert.deepEqual([reply.answer, reply.answer === 'refused' && reply.reason, kinds(ownership, 5)], ['refused', 'lease', ['serving']])
  })

  it('loses a part to its successor and tells by which claim', async () => {
    const { ownership, told } = await open(new MemoryStore())
    await ownership.learn([piece(0, lineEnd, claim('me', 1))])
    const successor = claim('you', 2)
    await ownership.learn([piece(100, lineEnd, successor)])
    assert.deepEqual([runs(ownership), kinds(ownership, 100)], [[[0, 100]], ['elsewhere']])
    const lost = [piece(100, lineEnd, successor)]
    assert.deepEqual(told[1], { gained: [], lost, held: [], released: lost })
    await ownership.learn([piece(100, lineEnd, claim('me', 1))])
    assert.deepEqual(kinds(ownership, 100), ['elsewhere'], 'older news is none')
  })

  it('takes no claim of another chain over what it holds', async () => {
    const { ownership } = await open(new MemoryStore())
    await ownership.learn([piece(0, lineEnd, claim('me', 1))])
    await ownership.learn([piece(0, lineEnd, claim('you', 99, { chain: 'other' }))])
    assert.deepEqual(runs(ownership), [[0, lineEnd]])
  })

  it('answers for nothing after a boot until its claims are confirmed, and then above all versions given before', async () => {
    const store = new MemoryStore()
    const first = await open(store)
    await first.ownership.learn([piece(0, 100, claim('me', 1, { floor: 500 }))])
    const ceiling = 9000
    const register: Register = { claim: claim('me', 1, { floor: 500 }), promised: undefined, accepted: undefined, ceiling }
    await store.batch(new RegisterStore(store).operations({ put: [{ interval: span(0, 100), value: register }], remove: [] }))
    const { ownership, told } = await open(new MemoryStore(undefined, store.rows))
    assert.deepEqual([kinds(ownership, 50), ownership.ownedRuns().map(ends), ownership.runs()], [['changing'], [[0, 100]], []])
    ownership.confirmOwn()
    const standing = ownership.standing(on(50))
    assert(standing.kind === 'serving')
    assert.equal(standing.owned.floorMs, ceiling)
    assert.deepEqual(told, [{ gained: [span(0, 100)], lost: [], held: [span(0, 100)], released: [] }])
    await ownership.learn([piece(0, 100, claim('me', 2, { floor: 9100 }))])
    const renewed = ownership.standing(on(50))
    assert(renewed.kind === 'serving')
    assert.equal(renewed.owned.floorMs, 9100, 'a new claim brings a floor of its own')
  })

  it('does not answer after a boot where a promise is outstanding, whatever is confirmed', async () => {
    const store = new MemoryStore()
    const first = await open(store)
    const base = claim('me', 1)
    await first.ownership.learn([piece(0, lineEnd, base)])
    await first.ownership.promise({ ballot: { counter: 9, member: 'me' }, base: [piece(50, 80, base)] })
    const { ownership } = await open(new MemoryStore(undefined, store.rows))
    ownership.confirmOwn()
    assert.deepEqual(kinds(ownership, 49, 50, 79, 80), ['serving', 'changing', 'changing', 'serving'])
    await ownership.learn([piece(50, 80, claim('me', 2))])
    assert.deepEqual(runs(ownership), [[0, lineEnd]], 'by a new claim it does')
  })

  it('does not serve claims with other members on its own word', async () => {
    const store = new MemoryStore()
    await (await open(store)).ownership.learn([piece(0, lineEnd, claim('me', 1, { members: ['me', 'you'] }))])
    const { ownership } = await open(new MemoryStore(undefined, store.rows))
    ownership.confirmOwn()
    assert.deepEqual(kinds(ownership, 5), ['changing'])
  })
})

describe('registers on disk', () => {
  const ballots = fc.record({ counter: fc.integer({ min: 1, max: 2 ** 40 }), member: fc.constantFrom('a', 'b') })
  const claims = fc.record({ chain: fc.constantFrom('main', 'lone'), epoch: fc.integer({ min: 1, max: 2 ** 40 }), owner: fc.constant('a'), members: fc.constantFrom(['a'], ['a', 'b', 'c']), floor: fc.integer({ min: 0, max: 2 ** 48 - 1 }), by: ballots })
  const registers = fc.record({ claim: claims, promised: fc.option(ballots, { nil: undefined }), accepted: fc.option(fc.record({ ballot: ballots, claim: claims }), { nil: undefined }), ceiling: fc.integer({ min: 0, max: 2 ** 48 - 1 }) })
  const writes = fc.array(fc.record({ from: fc.integer({ min: 0, max: 254 }), length: fc.integer({ min: 1, max: 120 }), register: fc.option(registers, { nil: undefined }) }), { maxLength: 12 })

  it('come back as they were written, step by step', async () => {
    await fc.assert(fc.asyncProperty(writes, async writes => {
      const store = new MemoryStore()
      let now = newRegisters()
      for (const { from, length, register } of writes) {
        const next = now.copy()
        const interval = span(from, Math.min(from + length, lineEnd))
        if (register === undefined) next.delete(interval)
        else next.set(interval, register)
        await store.batch(new RegisterStore(store).operations(next.changesSince(now)))
        now = next
      }
      const read = await new RegisterStore(store).open()
      for (let at = 0; at < lineEnd; at++) assert.deepEqual(plain(read.get(key(at))), plain(now.get(key(at))))
      assert.equal(read.entries(everything).length, now.entries(everything).length)
    }), { numRuns: 60 })
  })
})

/** Without fields that are undefined in one form and absent in the other. */
function plain (value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}
