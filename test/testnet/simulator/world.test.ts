// The simulated world: repeatable, and its faults are those that it says.

import assert from 'node:assert/strict'
import { ConnectionLostError, TimeoutError, UnreachableError } from '../../../overlay/errors.ts'
import type { Codec, Method, Notice } from '../../../overlay/host.ts'
import type { SimHost } from '../../../testnet/simulator/sim-host.ts'
import { World } from '../../../testnet/simulator/world.ts'
import type { WorldInit } from '../../../testnet/simulator/world.ts'

const text: Codec<string> = { encode: text => new TextEncoder().encode(text), decode: bytes => new TextDecoder().decode(bytes) }
const ask: Method<string, string> = { name: 'test/1/ask', request: text, reply: text }
const tell: Notice<string> = { name: 'test/1/tell', message: text }
const deadlineMs = 1000

/** Nodes that call each other at random, with losses and pauses; gives the digest. */
async function chatter (init: WorldInit): Promise<string> {
  const world = new World({ lossShare: 0.05, duplicateShare: 0.1, ...init })
  const hosts = Array.from({ length: 8 }, (_, i) => world.host(`n${i}`))
  const anyone = (host: SimHost): SimHost => hosts[Math.floor(host.random() * hosts.length)]!
  for (const host of hosts) {
    host.handle(ask, async request => { await host.sleep(host.random() * 10); return `${request}!` })
    host.onNotice(tell, heard => { if (heard.length < 5) host.notify(anyone(host).self, tell, `${heard}.`) })
    void (async () => {
      for (;;) {
        await host.call(anyone(host).self, ask, 'x', { deadlineMs: 200 }).catch(() => {})
        host.notify(anyone(host).self, tell, 'y')
      }
    })()
  }
  hosts[0]!.after(300, () => { world.pause('n1') })
  hosts[0]!.after(900, () => { world.resume('n1') })
  hosts[0]!.after(1200, () => { world.kill('n2') })
  assert.equal(await world.run({ untilMs: 3000 }), 'time')
  assert.equal(world.now(), 3000)
  return world.digest()
}

async function pair (init: Partial<WorldInit> = {}): Promise<{ world: World, a: SimHost, b: SimHost }> {
  const world = new World({ seed: 1, latencyMs: { min: 10, max: 10 }, ...init })
  const [a, b] = [world.host('a'), world.host('b')]
  b.handle(ask, request => `re ${request}`)
  return { world, a, b }
}

async function failure (promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(() => assert.fail('it did not fail'), (error: unknown) => error)
}

describe('a simulated world', () => {
  it('delivers the same with the same seed, and otherwise with another', async () => {
    const digests = [await chatter({ seed: 1 }), await chatter({ seed: 1 }), await chatter({ seed: 2 })]
    assert.equal(digests[0], digests[1])
    assert.notEqual(digests[0], digests[2])
  })

  it('runs all reactions of an event, however many awaits, before the next event of the same instant', async () => {
    const world = new World({ seed: 1 })
    const host = world.host('a')
    const ran: string[] = []
    host.after(5, () => { void (async () => { for (let i = 0; i < 50; i++) await undefined; ran.push('reaction') })() })
    host.after(5, () => { ran.push('next event') })
    assert.equal(await world.run({}), 'idle')
    assert.deepEqual(ran, ['reaction', 'next event'])
  })

  it('takes a round trip to connect and one for the call', async () => {
    const { world, a, b } = await pair()
    await world.settle(a.call(b.self, ask, 'x', { deadlineMs }))
    assert.equal(world.now(), 40)
    await world.settle(a.call(b.self, ask, 'x', { deadlineMs }))
    assert.equal(world.now(), 60)
  })

  it('calls a node itself in no time', async () => {
    const { world, b } = await pair()
    assert.equal(await world.settle(b.call(b.self, ask, 'x', { deadlineMs })), 're x')
    assert.equal(world.now(), 0)
  })

  it('draws log-normal latency around its median', async () => {
    const { world, a, b } = await pair({ latencyMs: { median: 10, sigma: 0.5 } })
    await world.settle(a.call(b.self, ask, 'x', { deadlineMs }))
    const tookMs: number[] = []
    for (let i = 0; i < 1001; i++) {
      const start = world.now()
      await world.settle(a.call(b.self, ask, 'x', { deadlineMs: 100_000 }))
      tookMs.push(world.now() - start)
    }
    const mean = tookMs.reduce((sum, ms) => sum + ms) / tookMs.length
    // The mean of two draws is 2 · 10 · e^(0.5²/2) = 22.66; its standard error over 1001 is 0.27.
    assert(Math.abs(mean - 22.66) < 1.1, `mean ${mean}`)
  })

  it('ends a run at its time, at its condition, at its number of events', async () => {
    const world = new World({ seed: 1 })
    const host = world.host('a')
    const tick = (): void => { host.after(10, tick) }
    tick()
    assert.equal(await world.run({ untilMs: 25 }), 'time')
    assert.equal(await world.run({ until: () => world.now() >= 50 }), 'until')
    assert.equal(await world.run({ eventsMax: 3 }), 'events')
    assert.equal(world.now(), 80)
  })

  it('says that a promise cannot settle where nothing is left to happen', async () => {
    const world = new World({ seed: 1 })
    await assert.rejects(world.settle(new Promise(() => {})), /nothing is left to happen/)
  })

  it('rejects a run with what a timer threw', async () => {
    const world = new World({ seed: 1 })
    world.host('a').after(1, () => { throw new Error('a slip') })
    await assert.rejects(world.run({}), /a slip/)
  })

  it('counts the time that a node slept, and then does what was due', async () => {
    const { world, a, b } = await pair()
    let fired = -1
    b.after(100, () => { fired = b.now() })
    const canceled = b.after(150, () => { assert.fail('it was canceled') })
    world.pause('b')
    const waiting = failure(a.call(b.self, ask, 'x', { deadlineMs }))
    await world.run({ untilMs: 60_000 })
    assert(await waiting instanceof UnreachableError)
    b.cancel(canceled)
    world.resume('b')
    await world.run({ untilMs: 60_001 })
    assert.equal(fired, 60_000)
    assert.equal(b.wallClock() - a.wallClock(), 0)
    assert.equal(await world.settle(a.call(b.self, ask, 'x', { deadlineMs })), 're x')
  })

  it('moves the wall clock of one node alone', async () => {
    const { world, a, b } = await pair()
    const before = b.now()
    world.jumpWallClock('b', -3_600_000)
    assert.equal(b.wallClock() - a.wallClock(), -3_600_000)
    assert.equal(b.now(), before)
  })

  it('lets nothing through a cut until it heals', async () => {
    const { world, a, b } = await pair()
    const heal = world.partition(['a'], ['b'])
    assert(await world.settle(failure(a.call(b.self, ask, 'x', { deadlineMs }))) instanceof UnreachableError)
    heal()
    assert.equal(await world.settle(a.call(b.self, ask, 'x', { deadlineMs: 10_000 })), 're x')
    world.partition(['b'], ['a'], { direction: 'out' })
    let heard = ''
    b.onNotice(tell, message => { heard = message })
    a.notify(b.self, tell, 'one way')
    assert(await world.settle(failure(a.call(b.self, ask, 'x', { deadlineMs }))) instanceof TimeoutError)
    assert.equal(heard, 'one way')
  })

  it('loses about as many calls as it is told to', async () => {
    const { world, a, b } = await pair({ lossShare: 0.1 })
    let lost = 0
    for (let i = 0; i < 1000; i++) await world.settle(a.call(b.self, ask, 'x', { deadlineMs: 50 })).catch(() => { lost++ })
    // Either way: 1 - 0.9² = 0.19, standard deviation over 1,000 calls 12.4.
    assert(Math.abs(lost - 190) < 50, `${lost} calls were lost`)
  })

  it('delivers about as many notices twice as it is told to', async () => {
    const { world, a, b } = await pair({ duplicateShare: 0.2 })
    let heard = 0
    b.onNotice(tell, () => { heard++ })
    await world.settle(a.call(b.self, ask, 'x', { deadlineMs }))
    for (let i = 0; i < 1000; i++) a.notify(b.self, tell, 'x')
    await world.run({ untilMs: world.now() + 1000 })
    assert(Math.abs(heard - 1200) < 50, `${heard} notices came`)
  })

  it('lets messages overtake each other', async () => {
    const { world, a, b } = await pair({ latencyMs: { min: 1, max: 100 } })
    const heard: string[] = []
    b.onNotice(tell, message => { heard.push(message) })
    await world.settle(a.call(b.self, ask, 'x', { deadlineMs }))
    const sent = Array.from({ length: 20 }, (_, i) => String(i))
    for (const message of sent) a.notify(b.self, tell, message)
    await world.run({ untilMs: world.now() + 1000 })
    assert.notDeepEqual(heard, sent)
    assert.deepEqual(heard.sort(), sent.sort())
  })

  it('says nothing for a machine that vanished, and has its calls time out', async () => {
    const { world, a, b } = await pair()
    await world.settle(a.call(b.self, ask, 'x', { deadlineMs }))
    a.onGone(() => { assert.fail('nobody said that it is gone') })
    world.vanish('b')
    assert(await world.settle(failure(a.call(b.self, ask, 'x', { deadlineMs }))) instanceof TimeoutError)
  })

  it('runs a killed node no further, and takes its name for a new boot', async () => {
    const { world, a, b } = await pair()
    await world.settle(a.call(b.self, ask, 'x', { deadlineMs }))
    b.after(50, () => { assert.fail('it is dead') })
    world.kill('b')
    const lost = failure(a.call(b.self, ask, 'x', { deadlineMs }))
    assert(await world.settle(lost) instanceof ConnectionLostError)
    assert(await world.settle(failure(a.call(b.self, ask, 'x', { deadlineMs }))) instanceof UnreachableError)
    world.host('b').handle(ask, request => `new ${request}`)
    assert.equal(await world.settle(a.call(b.self, ask, 'x', { deadlineMs })), 'new x')
    await world.run({ untilMs: 10_000 })
  })

  it('shares objects where codecs are off, and copies where they are on', async () => {
    const object: Codec<{ a: number }> = { encode: () => new Uint8Array([7]), decode: bytes => ({ a: bytes[0]! }) }
    const share: Method<{ a: number }, { a: number }> = { name: 'test/1/share', request: object, reply: object }
    for (const codecs of [false, true]) {
      const { world, a, b } = await pair({ codecs })
      const sent = { a: 7 }
      b.handle(share, request => { assert.equal(request === sent, !codecs); return request })
      assert.deepEqual(await world.settle(a.call(b.self, share, sent, { deadlineMs })), { a: 7 })
    }
  })

  it('discovers the nodes that it was given, without itself', async () => {
    const world = new World({ seed: 1 })
    const host = world.host('a', { bootstrap: ['a', 'b'] })
    assert.deepEqual((await host.discover()).map(contact => contact.id), ['b'])
  })
})
