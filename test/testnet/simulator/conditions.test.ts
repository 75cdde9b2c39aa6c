// A world whose conditions change while it runs: a node that sleeps with its machine, and a network that grows worse.

import assert from 'node:assert/strict'
import { TimeoutError, UnreachableError } from '../../../overlay/errors.ts'
import type { Codec, Method, Notice } from '../../../overlay/host.ts'
import { World } from '../../../testnet/simulator/world.ts'
import type { SimHost } from '../../../testnet/simulator/sim-host.ts'

const text: Codec<string> = { encode: text => new TextEncoder().encode(text), decode: bytes => new TextDecoder().decode(bytes) }
const ask: Method<string, string> = { name: 'test/1/ask', request: text, reply: text }
const tell: Notice<string> = { name: 'test/1/tell', message: text }

function pair (): { world: World, a: SimHost, b: SimHost, heard: string[] } {
  const world = new World({ seed: 1, latencyMs: { min: 10, max: 10 } })
  const [a, b] = [world.host('a'), world.host('b')]
  const heard: string[] = []
  b.handle(ask, request => `re ${request}`)
  b.onNotice(tell, message => { heard.push(message) })
  return { world, a, b, heard }
}

const failure = async (promise: Promise<unknown>): Promise<unknown> => await promise.then(() => assert.fail('it did not fail'), (error: unknown) => error)

describe('conditions that change', () => {
  it('lose what is sent to a machine that sleeps; a paused process gets it later', async () => {
    for (const how of ['pause', 'suspend'] as const) {
      const { world, a, b, heard } = pair()
      await world.settle(a.call(b.self, ask, 'x', { deadlineMs: 1000 }))
      world[how]('b')
      a.notify(b.self, tell, 'meanwhile')
      assert(await world.settle(failure(a.call(b.self, ask, 'x', { deadlineMs: 1000 }))) instanceof TimeoutError)
      world.resume('b')
      assert.equal(await world.settle(a.call(b.self, ask, 'y', { deadlineMs: 1000 })), 're y')
      assert.deepEqual(heard, how === 'pause' ? ['meanwhile'] : [])
    }
  })

  it('let a dial wait for a machine that sleeps until it wakes', async () => {
    const { world, a, b } = pair()
    world.suspend('b')
    assert(await world.settle(failure(a.call(b.self, ask, 'x', { deadlineMs: 500 }))) instanceof UnreachableError)
    world.clock.schedule(2000, { run: () => { world.resume('b') } })
    assert.equal(await world.settle(a.call(b.self, ask, 'x', { deadlineMs: 10_000 })), 're x')
  })

  it('take effect for what is sent from then on', async () => {
    const { world, a, b } = pair()
    await world.settle(a.call(b.self, ask, 'x', { deadlineMs: 1000 }))
    const startMs = world.now()
    world.network.conditions = { ...world.network.conditions, latencyMs: { min: 400, max: 400 } }
    await world.settle(a.call(b.self, ask, 'x', { deadlineMs: 1000 }))
    assert.equal(world.now() - startMs, 800)
    world.network.conditions = { ...world.network.conditions, lossShare: 1 }
    assert(await world.settle(failure(a.call(b.self, ask, 'x', { deadlineMs: 1000 }))) instanceof TimeoutError)
  })
})
