// A part changes hands with real records while it is written to, and is broken off at each step: whatever happens, one
// store owns it, and no acknowledged record is lost.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { overlayDefaults } from '../../../overlay/init.ts'
import { everything } from '../../../overlay/interval.ts'
import { MemoryStore } from '../../../storage/memory-store.ts'
import { BareRing, kv, kvSpan, type BareNode } from '../bare-ring.ts'

/** Long enough that a test can stop the world between two flushes. */
const flushMs = 40
const deadline = { deadlineMs: 20_000 }
const upper = kvSpan('50')

const keyAt = (number: number): string => number.toString().padStart(2, '0')
const numbers = Array.from({ length: 100 }, (_, number) => number)

class Scene {
  readonly ring = new BareRing({ flushMs })
  giver!: BareNode
  taker!: BareNode
  asker!: BareNode

  /** `giver` owns all and has 00 to 99 in kv; `asker` owns nothing and knows only the giver. */
  static async make (): Promise<Scene> {
    const scene = new Scene()
    scene.giver = await scene.ring.start('giver')
    scene.taker = await scene.ring.start('taker')
    scene.asker = await scene.ring.start('asker')
    await scene.ring.found(scene.giver)
    scene.asker.hear(scene.giver, everything, 1)
    await scene.ring.settle(Promise.all(numbers.map(async number => { await scene.put(keyAt(number), `v${number}`) })))
    return scene
  }

  async put (key: string, value: string): Promise<void> {
    await this.asker.storage.put({ collection: 'kv', key: fromString(key), value: fromString(value), requestId: `${key}=${value}` }, deadline)
  }

  async values (asker = this.asker): Promise<Map<string, string>> {
    const { complete, records } = await this.ring.settle(asker.storage.range({ collection: 'kv', limit: 1000 }, deadline))
    assert.equal(complete, true)
    return new Map(records.map(({ key, value }) => [toString(key), toString(value)]))
  }

  async assertWhole (): Promise<void> {
    const values = await this.values()
    assert.deepEqual([...values], numbers.map(number => [keyAt(number), `v${number}`]))
  }

  /** Run until the giver has stopped answering for the part. */
  async untilFrozen (): Promise<void> {
    await this.ring.world.run({ until: () => !this.giver.serves(kv('70')) })
  }

  /** Run until the giver knows the successor decided; nothing of that is flushed, and nobody has been told. */
  async untilDecided (): Promise<void> {
    await this.ring.world.run({ until: () => this.giver.holds(kv('70'))!.owner === 'taker' })
  }

  async restart (name: 'giver' | 'taker'): Promise<BareNode> {
    const node = await this.ring.start(name)
    this[name] = node
    if (name === 'giver') this.asker.hear(node, everything, 1)
    await this.ring.settle(node.resume())
    return node
  }
}

describe('a change of owner', () => {
  it('brings all records to the taker and leaves the rest alone', async () => {
    const scene = await Scene.make()
    const outcome = await scene.ring.settle(scene.giver.give(upper, scene.taker))
    assert.equal(outcome.state, 'decided')
    assert.deepEqual([scene.ring.servers(kv('70')), scene.ring.servers(kv('50')), scene.ring.servers(kv('49'))], [['taker'], ['taker'], ['giver']])
    assert.deepEqual([scene.giver.holds(kv('70')), scene.giver.holds(kv('20'))], [{ owner: 'taker', epoch: 2, isPromised: false }, { owner: 'giver', epoch: 1, isPromised: false }])
    assert.equal(scene.giver.ownership.owed.size, 0)
    await scene.assertWhole()
  })

  it('loses no acknowledged write that is made meanwhile, in either direction', async () => {
    const scene = await Scene.make()
    const last = new Map<string, string>()
    let isOver = false
    // each writer has keys of its own modulo 4, so the last acknowledged value of a key is known
    const writers = [0, 1, 2, 3].map(async residue => {
      for (let round = 0; !isOver; round++) {
        const key = keyAt((residue + 4 * ((round * 7) % 25)) % 100)
        await scene.put(key, `${residue}.${round}`)
        last.set(key, `${residue}.${round}`)
      }
    })
    for (const [from, to] of [[scene.giver, scene.taker], [scene.taker, scene.giver], [scene.giver, scene.taker]] as const) {
      const outcome = await scene.ring.settle(from.give(upper, to))
      assert.equal(outcome.state, 'decided')
      await scene.ring.pass(500)
    }
    isOver = true
    await scene.ring.settle(Promise.all(writers))
    assert(last.size > 50, `only ${last.size} keys were written`)
    const values = await scene.values()
    for (const number of numbers) assert.equal(values.get(keyAt(number)), last.get(keyAt(number)) ?? `v${number}`, `key ${keyAt(number)}`)
    assert.deepEqual([scene.ring.servers(kv('70')), scene.giver.holds(kv('70'))?.epoch], [['taker'], 4])
  })

  it('leaves the claim as it was when the taker dies while it is filled', async () => {
    const scene = await Scene.make()
    const outcome = scene.giver.give(upper, scene.taker)
    await scene.ring.pass(30)
    scene.ring.kill('taker')
    const { state, ...rest } = await scene.ring.settle(outcome)
    assert.deepEqual([state, 'reason' in rest && rest.reason], ['given up', 'fill failed'])
    assert.deepEqual([scene.giver.holds(kv('70')), scene.ring.servers(kv('70'))], [{ owner: 'giver', epoch: 1, isPromised: false }, ['giver']])
    await scene.assertWhole()
  })

  it('claims anew when the taker dies before its tail', async () => {
    const scene = await Scene.make()
    const outcome = scene.giver.give(upper, scene.taker)
    await scene.untilFrozen()
    const written = scene.put('70', 'during')
    scene.ring.kill('taker')
    const { state, ...rest } = await scene.ring.settle(outcome)
    assert.deepEqual([state, 'reason' in rest && rest.reason], ['given up', 'fill failed'])
    const held = scene.giver.holds(kv('70'))!
    assert.deepEqual([held.owner, held.isPromised, scene.ring.servers(kv('70'))], ['giver', false, ['giver']])
    assert(held.epoch > 1, 'it never resumes under a claim that it has promised away')
    assert.equal(scene.giver.holds(kv('20'))?.epoch, 1)
    await scene.ring.settle(written)
    assert.equal((await scene.values()).get('70'), 'during', 'what waited was carried out')
  })

  it('holds when the taker dies just as it is decided: back on its disk it is told and has all', async () => {
    const scene = await Scene.make()
    const outcome = scene.giver.give(upper, scene.taker)
    await scene.untilDecided()
    scene.ring.kill('taker')
    assert.equal((await scene.ring.settle(outcome)).state, 'decided')
    assert.deepEqual([scene.ring.servers(kv('70')), scene.giver.ownership.owed.size], [[], 1])
    const { missing, complete } = await scene.ring.settle(scene.asker.storage.range({ collection: 'kv', limit: 1000 }, { deadlineMs: 5000 }))
    assert.deepEqual([complete, missing.map(({ from }) => toString(from))], [false, ['50']])
    await scene.restart('taker')
    await scene.ring.world.run({ until: () => scene.giver.ownership.owed.size === 0, untilMs: scene.ring.world.now() + 30_000 })
    assert.deepEqual(scene.ring.servers(kv('70')), ['taker'])
    await scene.assertWhole()
  })

  for (const fault of ['disk stalls', 'process is paused'] as const) {
    it(`freezes the part no longer than a tail and a vote may take when the taker's ${fault}, and the giver goes on`, async () => {
      const scene = await Scene.make()
      const { world } = scene.ring
      let stallMs = 1
      const slow = await scene.ring.start('slow', new MemoryStore(async () => { await new Promise<void>(resolve => { world.clock.schedule(stallMs, { run: resolve }) }) }))
      const outcome = scene.giver.give(upper, slow)
      await scene.ring.pass(30)
      void scene.put('70', 'for the tail').catch(() => {})
      await scene.untilFrozen()
      const frozenMs = world.now()
      if (fault === 'disk stalls') stallMs = 300_000
      else world.pause('slow')
      const written = scene.put('71', 'during')
      await world.run({ until: () => scene.giver.serves(kv('70')), untilMs: frozenMs + 300_000 })
      const lastedMs = world.now() - frozenMs
      assert(lastedMs > 0 && lastedMs <= overlayDefaults.tailMs + overlayDefaults.voteMs, `it was frozen for ${lastedMs} ms`)
      const { state, ...rest } = await scene.ring.settle(outcome)
      assert.deepEqual([state, 'reason' in rest && rest.reason, scene.ring.servers(kv('70'))], ['given up', 'fill failed', ['giver']])
      await scene.ring.settle(written)
      if (fault === 'process is paused') world.resume('slow')
      await scene.ring.pass(400_000) // past the stall
      assert.deepEqual([scene.ring.servers(kv('70')), slow.holds(kv('70'))], [['giver'], undefined])
      const values = await scene.values()
      assert.deepEqual([values.size, values.get('70'), values.get('71')], [100, 'for the tail', 'during'])
    })
  }

  it('is undone by a giver that restarts with its promise on disk', async () => {
    const scene = await Scene.make()
    void scene.giver.give(upper, scene.taker).catch(() => {})
    await scene.untilFrozen()
    await scene.ring.pass(flushMs * 2.25) // the ballot's number, then the promise
    assert.deepEqual(scene.giver.holds(kv('70')), { owner: 'giver', epoch: 1, isPromised: true })
    scene.ring.kill('giver')
    const back = await scene.restart('giver')
    assert.deepEqual([back.holds(kv('70'))?.owner, scene.ring.servers(kv('70'))], ['giver', ['giver']])
    assert(back.holds(kv('70'))!.epoch > 1)
    await scene.assertWhole()
  })

  it('is completed by a giver that restarts when its accept was flushed and nobody knew', async () => {
    const scene = await Scene.make()
    void scene.giver.give(upper, scene.taker).catch(() => {})
    await scene.untilDecided()
    scene.ring.kill('giver')
    assert.deepEqual(scene.ring.servers(kv('70')), [])
    const back = await scene.restart('giver')
    assert.deepEqual([back.holds(kv('70')), scene.ring.servers(kv('70'))], [{ owner: 'taker', epoch: 2, isPromised: false }, ['taker']])
    assert.deepEqual(scene.taker.holds(kv('70')), { owner: 'taker', epoch: 2, isPromised: false })
    await scene.assertWhole()
  })

  it('is told again when the word was lost, and again when its receipt was', async () => {
    for (const [from, to] of [['giver', 'taker'], ['taker', 'giver']] as const) {
      const scene = await Scene.make()
      const outcome = scene.giver.give(upper, scene.taker)
      await scene.untilDecided()
      const heal = scene.ring.world.partition([from], [to], { direction: 'out' })
      await scene.ring.pass(1000)
      assert.deepEqual([scene.giver.ownership.owed.size, scene.ring.servers(kv('70'))], [1, from === 'giver' ? [] : ['taker']])
      heal()
      assert.equal((await scene.ring.settle(outcome)).state, 'decided')
      await scene.ring.pass(5000)
      assert.deepEqual([scene.giver.ownership.owed.size, scene.ring.servers(kv('70'))], [0, ['taker']])
      await scene.assertWhole()
    }
  })

  it('is given up with its reason where the part is not owned, or not worth it any more', async () => {
    const scene = await Scene.make()
    const reasonOf = async (change: Promise<{ state: string }>): Promise<unknown> => {
      const outcome = await scene.ring.settle(change)
      return 'reason' in outcome ? outcome.reason : outcome.state
    }
    assert.equal(await reasonOf(scene.taker.give(upper, scene.giver)), 'not owner')
    let asked = 0
    assert.equal(await reasonOf(scene.giver.give(upper, scene.taker, { confirm: () => { asked++; return false } })), 'not confirmed')
    assert.deepEqual([asked, scene.giver.holds(kv('70')), scene.ring.servers(kv('70'))], [1, { owner: 'giver', epoch: 1, isPromised: false }, ['giver']])
    await scene.ring.pass(100) // the taker hears that the fill is over
    assert.equal(await reasonOf(scene.giver.give(upper, scene.taker, { confirm: () => true })), 'decided')
    assert.equal(await reasonOf(scene.giver.give(kvSpan('40', '60'), scene.taker)), 'not owner', 'a part of it is gone')
  })

  it('ends when its caller gives up before the part is frozen', async () => {
    const scene = await Scene.make()
    const controller = new AbortController()
    const outcome = scene.giver.give(upper, scene.taker, {}, controller.signal)
    await scene.ring.pass(30)
    controller.abort()
    await assert.rejects(scene.ring.settle(outcome), { name: 'AbortError' })
    assert.deepEqual(scene.giver.holds(kv('70')), { owner: 'giver', epoch: 1, isPromised: false })
    await scene.assertWhole()
  })

  it('has one outcome where two want the same part', async () => {
    const scene = await Scene.make()
    const third = await scene.ring.start('third')
    const outcomes = await scene.ring.settle(Promise.all([scene.giver.give(upper, scene.taker), scene.giver.give(upper, third)]))
    const decided = outcomes.filter(({ state }) => state === 'decided')
    assert.equal(decided.length, 1, JSON.stringify(outcomes))
    const servers = scene.ring.servers(kv('70'))
    assert.equal(servers.length, 1)
    assert.equal(scene.giver.holds(kv('70'))?.owner, servers[0])
    await scene.assertWhole()
  })

  it('joins two pieces of one owner to one, without a message', async () => {
    const scene = await Scene.make()
    await scene.ring.settle(scene.giver.give(upper, scene.taker))
    await scene.ring.settle(scene.taker.give(upper, scene.giver))
    assert.equal(scene.giver.ownership.ownedSegments().length, 2)
    assert.equal((await scene.ring.settle(scene.giver.give(everything, scene.giver))).state, 'decided')
    assert.deepEqual([scene.giver.ownership.ownedSegments().length, scene.giver.holds(kv('20'))?.epoch, scene.giver.holds(kv('70'))?.epoch], [1, 4, 4])
    await scene.assertWhole()
  })
})
