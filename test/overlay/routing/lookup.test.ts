// A lookup among nodes that answer what the test tells them to: it ends at the owner's own word, or names what is missing.

import assert from 'node:assert/strict'
import { overlayDefaults } from '../../../overlay/init.ts'
import { everything } from '../../../overlay/interval.ts'
import { lookupMethod, type LookupReply } from '../../../overlay/messages.ts'
import { Atlas } from '../../../overlay/routing/atlas.ts'
import { lookup, type LookupOptions } from '../../../overlay/routing/lookup.ts'
import type { OwnerView, Target, Trace } from '../../../overlay/routing/routing.ts'
import type { SimHost } from '../../../testnet/simulator/sim-host.ts'
import { World } from '../../../testnet/simulator/world.ts'
import { ends, lineEnd, on, view } from '../views.ts'

/** One way, so an answer takes 20 ms, and 20 more where there was no connection. */
const onewayMs = 10

class Scene {
  readonly world = new World({ seed: 1, latencyMs: { min: onewayMs, max: onewayMs } })
  readonly asker: SimHost = this.world.host('asker')
  readonly asked: string[] = []
  readonly learned: string[] = []
  readonly suspected: string[] = []
  readonly trace: Trace = { hops: 0, peers: new Set() }
  hints: OwnerView[] = []

  node (id: string, answer: (target: Target, asks: number) => Partial<LookupReply>): void {
    let asks = 0
    this.world.host(id).handle(lookupMethod, target => {
      this.asked.push(id)
      return { near: [], changing: false, ...answer(target, ++asks) }
    })
  }

  /** A node that serves [from, to) and knows some others. */
  owner (id: string, from: number, to: number, near: OwnerView[] = [], epoch = 1): OwnerView {
    const own = view(id, from, to, { epoch })
    this.node(id, ({ key }) => ({ self: own, near, ...((key[0] ?? 0) >= from && (key[0] ?? 0) < to ? { owner: own } : {}) }))
    return own
  }

  async find (target: Target, deadlineMs: number, more: Partial<LookupOptions> = {}, init = overlayDefaults): Promise<OwnerView> {
    const { asker, trace, world } = this
    return await world.settle(lookup({
      host: asker,
      atlas: new Atlas(init),
      self: () => 'asker',
      isForeign: () => false,
      near: () => ({ own: undefined, near: this.hints }),
      learn: heard => { this.learned.push(heard.owner.id) },
      suspect: silent => { this.suspected.push(silent.owner.id) }
    }, target, init, { endMs: asker.now() + deadlineMs, trace, ...more }))
  }
}

describe('a lookup', () => {
  it('takes one hop where the hint is right', async () => {
    const scene = new Scene()
    scene.hints = [scene.owner('a', 0, 100), scene.owner('b', 100, lineEnd)]
    assert.equal((await scene.find(on(150), 5000)).owner.id, 'b')
    assert.deepEqual([scene.asked, scene.trace.hops], [['b'], 1])
  })

  it('closes in on the owner by what nodes tell, and learns it on the way', async () => {
    const scene = new Scene()
    const c = scene.owner('c', 90, 120)
    const b = scene.owner('b', 60, 90, [c])
    scene.hints = [scene.owner('a', 0, 60, [b])]
    assert.deepEqual(await scene.find(on(100), 5000), c)
    assert.deepEqual([scene.asked, scene.trace.hops], [['a', 'b', 'c'], 3])
    assert.deepEqual([...new Set(scene.learned)], ['b', 'a', 'c'])
  })

  it('believes no hint: whoever does not own the key any more sends it on', async () => {
    const scene = new Scene()
    const now = scene.owner('new', 50, 100, [], 2)
    scene.owner('old', 0, 50, [now], 1)
    scene.hints = [view('old', 0, 100)]
    assert.equal((await scene.find(on(70), 5000)).owner.id, 'new')
  })

  it('names the keys of a dead owner after it was tried for long enough, well within its deadline', async () => {
    const scene = new Scene()
    const dead = view('dead', 60, 90)
    scene.world.host('dead')
    scene.world.kill('dead')
    const right = scene.owner('right', 90, lineEnd, [dead])
    const left = scene.owner('left', 0, 60, [dead, right])
    scene.hints = [left]
    await assert.rejects(scene.find(on(70), 10_000), error => {
      assert(error instanceof Error && error.name === 'OwnerUnreachableError' && 'interval' in error && 'ownerId' in error && 'definite' in error)
      assert.deepEqual([ends(error.interval as never), error.ownerId, error.definite], [[60, 90], 'dead', true])
      return true
    })
    const tookMs = scene.world.now()
    assert(tookMs >= overlayDefaults.silentMs && tookMs < overlayDefaults.silentMs + 1000, `took ${tookMs} ms`)
    assert(scene.suspected.includes('dead'))
  })

  it('names the keys of an owner that says nothing, after all others were asked', async () => {
    const scene = new Scene()
    const silent = view('silent', 60, 90)
    scene.world.host('silent')
    scene.world.vanish('silent')
    const right = scene.owner('right', 90, lineEnd, [silent])
    scene.hints = [scene.owner('left', 0, 60, [silent, right])]
    await assert.rejects(scene.find(on(70), 10_000), error => {
      assert.deepEqual(ends((error as { interval: never }).interval), [60, 90])
      return true
    })
    assert.deepEqual([...new Set(scene.suspected)], ['silent'])
    assert(scene.world.now() < 2 * overlayDefaults.attemptMs + 1000)
  })

  it('finds an owner that comes back while it is tried', async () => {
    const scene = new Scene()
    scene.world.host('b')
    scene.world.kill('b')
    scene.hints = [scene.owner('a', 0, 60, [view('b', 60, lineEnd)])]
    scene.asker.after(300, () => { scene.owner('b', 60, lineEnd) })
    assert.equal((await scene.find(on(70), 10_000)).owner.id, 'b')
  })

  it('waits for a key that is changing hands, and takes nobody for silent meanwhile', async () => {
    const scene = new Scene()
    const taker = view('taker', 60, lineEnd, { epoch: 2 })
    const giver = view('giver', 0, lineEnd)
    scene.node('giver', () => scene.asker.now() < 4000 ? { changing: true, self: giver } : { self: view('giver', 0, 60), near: [taker] })
    scene.node('taker', () => ({ self: taker, owner: taker }))
    scene.hints = [giver]
    assert.equal((await scene.find(on(70), 10_000)).owner.id, 'taker')
    assert(scene.world.now() >= 4000)
  })

  it('waits for an owner that has not yet heard that it is one', async () => {
    const scene = new Scene()
    const before = view('taker', 60, lineEnd, { epoch: 4 })
    const after = view('taker', 0, lineEnd, { epoch: 5 })
    // the giver has decided; its word to the taker was lost and comes after 3 s
    scene.node('taker', () => scene.asker.now() < 3000 ? { self: before } : { self: after, owner: after })
    const giver = scene.owner('giver', 50, 60, [view('taker', 0, 50, { epoch: 5 })], 4)
    scene.hints = [giver, before]
    assert.deepEqual(ends((await scene.find(on(10), 10_000)).interval), [0, lineEnd])
    assert(scene.world.now() >= 3000)
  })

  it('waits likewise for one that has no place in the ring yet', async () => {
    const scene = new Scene()
    const joined = view('joiner', 50, lineEnd, { epoch: 2 })
    scene.node('joiner', () => scene.asker.now() < 3000 ? {} : { self: joined, owner: joined })
    scene.hints = [scene.owner('giver', 0, 50, [joined])]
    assert.equal((await scene.find(on(70), 10_000)).owner.id, 'joiner')
  })

  it('asks a bounded number of nodes, however many more it is told of', async () => {
    const scene = new Scene()
    let made = 0
    const another = (): OwnerView => {
      const id = `n${made++}`
      scene.node(id, () => ({ self: view(id, 0, 10), near: [another()] }))
      return view(id, 40, 60, { epoch: made })
    }
    scene.hints = [another()]
    await assert.rejects(scene.find(on(50), 60_000, {}, { ...overlayDefaults, hopsMax: 20 }), { name: 'OwnerUnreachableError' })
    assert(scene.trace.hops <= 20)
  })

  it('says so where it knows nobody', async () => {
    const scene = new Scene()
    await assert.rejects(scene.find(on(50), 1000), error => {
      assert.deepEqual((error as { interval: unknown }).interval, everything)
      return (error as Error).name === 'OwnerUnreachableError'
    })
  })

  it('ends when its caller gives up', async () => {
    const scene = new Scene()
    scene.world.host('silent')
    scene.world.vanish('silent')
    scene.hints = [view('silent', 0, lineEnd)]
    const controller = new AbortController()
    scene.asker.after(100, () => { controller.abort() })
    await assert.rejects(scene.find(on(50), 60_000, { signal: controller.signal }), { name: 'AbortError' })
    assert.equal(scene.world.now(), 100)
  })
})
