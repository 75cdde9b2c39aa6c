// Requests find the owner of their key wherever it lives now; nobody but the owner answers; what may have been carried out
// is not asked twice unless it may be repeated.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { everything, type Key } from '../../../overlay/interval.ts'
import { overlayDefaults } from '../../../overlay/init.ts'
import type { Method } from '../../../overlay/host.ts'
import type { Asked, AskOptions, Trace } from '../../../overlay/routing/routing.ts'
import { BareRing, kv, kvSpan, type BareNode, type BareRingInit } from '../bare-ring.ts'

const bytes = { encode: (message: Uint8Array) => message, decode: (message: Uint8Array) => message }
const echo: Method<Key, Uint8Array> = { name: 'test/1/echo', request: bytes, reply: bytes }

class Echoes {
  readonly ring: BareRing
  /** Names of the nodes whose handler ran, in order. */
  readonly ran: string[] = []
  readonly trace: Trace = { hops: 0, peers: new Set() }
  onRun: () => void = () => {}

  constructor (init: BareRingInit = {}) {
    this.ring = new BareRing(init)
  }

  async node (name: string): Promise<BareNode> {
    return await this.ring.settle(this.boot(name))
  }

  async boot (name: string): Promise<BareNode> {
    const node = await this.ring.boot(name)
    node.router.handle(echo, key => ({ key, below: false }), () => {
      this.ran.push(name)
      this.onRun()
      return fromString(name)
    })
    return node
  }

  ask (node: BareNode, key: Key, more: Partial<AskOptions> = {}): Promise<Asked<Uint8Array>> {
    return node.router.ask({ key, below: false }, echo, key, { deadlineMs: 10_000, trace: this.trace, ...more })
  }
}

const low = { low: everything.low, high: kv('m') }
const high = kvSpan('m')

describe('the router', () => {
  it('answers here what is owned here, without a message', async () => {
    const echoes = new Echoes()
    const a = await echoes.node('a')
    await echoes.ring.found(a)
    const { answer, interval, owner } = await echoes.ring.settle(echoes.ask(a, kv('k')))
    assert.deepEqual([toString(answer), interval, owner.contact.id, echoes.trace.hops], ['a', everything, 'a', 0])
    assert.deepEqual([...echoes.trace.peers], [a.identity.member])
  })

  it('follows a redirect from the former owner to the present one, and goes there at once the next time', async () => {
    const echoes = new Echoes()
    const [a, b, asker] = [await echoes.node('a'), await echoes.node('b'), await echoes.node('asker')]
    await echoes.ring.found(a)
    asker.hear(a, everything, 1)
    assert.equal((await echoes.ring.settle(a.give(high, b))).state, 'decided')
    assert.equal(toString((await echoes.ring.settle(echoes.ask(asker, kv('x')))).answer), 'b')
    assert.deepEqual([echoes.ran, echoes.trace.hops], [['b'], 2], 'a was asked and did not answer for it')
    echoes.trace.hops = 0
    assert.equal(toString((await echoes.ring.settle(echoes.ask(asker, kv('y')))).answer), 'b')
    assert.equal(toString((await echoes.ring.settle(echoes.ask(asker, kv('c')))).answer), 'a')
    assert.equal(echoes.trace.hops, 2)
  })

  it('lets requests for keys that change hands wait, and has the new owner answer them', async () => {
    const echoes = new Echoes({ flushMs: 300 })
    const [a, b, asker] = [await echoes.node('a'), await echoes.node('b'), await echoes.node('asker')]
    await echoes.ring.found(a)
    asker.hear(a, everything, 1)
    await echoes.ring.settle(a.storage.put({ collection: 'kv', key: fromString('x'), value: fromString('1') }, { deadlineMs: 10_000 }))
    const given = a.give(high, b)
    await echoes.ring.world.run({ until: () => !a.serves(kv('x')) })
    assert.deepEqual(echoes.ring.servers(kv('x')), [], 'frozen')
    const answers = [echoes.ask(asker, kv('x')), echoes.ask(a, kv('y')), echoes.ask(asker, kv('c'))]
    assert.equal(toString((await echoes.ring.settle(answers[2]!)).answer), 'a', 'what does not move is not delayed')
    assert.deepEqual(echoes.ran, ['a'])
    assert.deepEqual((await echoes.ring.settle(Promise.all(answers))).map(({ answer }) => toString(answer)), ['b', 'b', 'a'])
    assert.equal((await echoes.ring.settle(given)).state, 'decided')
    assert.deepEqual(echoes.ran, ['a', 'b', 'b'])
  })

  it('names the keys of an owner that is dead, within the deadline', async () => {
    const echoes = new Echoes()
    const [a, b] = [await echoes.node('a'), await echoes.node('b')]
    await echoes.ring.found(a, low)
    await echoes.ring.found(b, high)
    a.hear(b, high, 1)
    echoes.ring.kill('b')
    const startMs = echoes.ring.world.now()
    await assert.rejects(echoes.ring.settle(echoes.ask(a, kv('x'))), error => {
      const { name, interval, definite } = error as Error & { interval: unknown, definite: boolean }
      assert.deepEqual([name, interval, definite], ['OwnerUnreachableError', high, true])
      return true
    })
    assert(echoes.ring.world.now() - startMs < 10_000)
    assert.deepEqual([...new Set(a.suspected)], [b.identity.member])
  })

  it('asks again once the connection was refused, for nothing was sent', async () => {
    const echoes = new Echoes()
    const [a, b] = [await echoes.node('a'), await echoes.node('b')]
    await echoes.ring.found(a, low)
    await echoes.ring.found(b, high)
    a.hear(b, high, 1)
    echoes.ring.kill('b')
    const back = a.host.sleep(500).then(async () => { await (await echoes.boot('b')).resume() })
    const [{ answer }] = await echoes.ring.settle(Promise.all([echoes.ask(a, kv('x')), back]))
    assert.equal(toString(answer), 'b')
    assert.deepEqual(echoes.ran, ['b'])
  })

  it('does not repeat what may have been carried out, and says that it is in doubt', async () => {
    const echoes = new Echoes()
    const [a, b] = [await echoes.node('a'), await echoes.node('b')]
    await echoes.ring.found(a, low)
    await echoes.ring.found(b, high)
    a.hear(b, high, 1)
    await echoes.ring.settle(echoes.ask(a, kv('x')))
    const heal = echoes.ring.world.partition(['b'], ['a'], { direction: 'out' })
    a.host.after(1000, heal)
    await assert.rejects(echoes.ring.settle(echoes.ask(a, kv('x'))), { name: 'TimeoutError', definite: false })
    assert.deepEqual(echoes.ran, ['b', 'b'], 'once in the open, once in vain')
  })

  it('repeats what may be repeated when the connection was lost before the answer', async () => {
    for (const repeatable of [true, false]) {
      const echoes = new Echoes()
      const [a, b] = [await echoes.node('a'), await echoes.node('b')]
      await echoes.ring.found(a, low)
      await echoes.ring.found(b, high)
      a.hear(b, high, 1)
      let back: Promise<void> | undefined
      echoes.onRun = () => {
        if (back !== undefined) return
        echoes.ring.kill('b')
        back = a.host.sleep(300).then(async () => { await (await echoes.boot('b')).resume() })
      }
      const asked = echoes.ask(a, kv('x'), { repeatable })
      if (repeatable) assert.equal(toString((await echoes.ring.settle(asked)).answer), 'b')
      else await assert.rejects(echoes.ring.settle(asked), { name: 'ConnectionLostError', definite: false })
      assert.deepEqual(echoes.ran, repeatable ? ['b', 'b'] : ['b'])
    }
  })

  it('does not repeat what the owner itself refused', async () => {
    const echoes = new Echoes()
    const [a, b] = [await echoes.node('a'), await echoes.node('b')]
    await echoes.ring.found(a, low)
    await echoes.ring.found(b, high)
    a.hear(b, high, 1)
    echoes.onRun = () => { throw new RangeError('no such thing') }
    await assert.rejects(echoes.ring.settle(echoes.ask(a, kv('x'), { repeatable: true })), { name: 'RemoteError', remoteName: 'RangeError', message: 'no such thing' })
    assert.deepEqual(echoes.ran, ['b'])
  })

  it('tells whoever finds no place at a frozen key that it is busy', async () => {
    const echoes = new Echoes()
    const [a, b] = [await echoes.node('a'), await echoes.node('b')]
    await echoes.ring.found(a)
    b.hear(a, everything, 1)
    const gate = a.ownership.freeze(high)
    const waiting = Array.from({ length: overlayDefaults.frozenRequestsMax }, async () => { await gate.wait() })
    await assert.rejects(echoes.ring.settle(echoes.ask(b, kv('x'))), { name: 'RemoteError', remoteName: 'BusyError', definite: true })
    a.ownership.thaw(high, gate)
    await Promise.all(waiting)
    assert.equal(toString((await echoes.ring.settle(echoes.ask(b, kv('x')))).answer), 'a')
  })

  it('ends when its caller gives up, and does not try again', async () => {
    const echoes = new Echoes()
    const [a, b] = [await echoes.node('a'), await echoes.node('b')]
    await echoes.ring.found(a, low)
    await echoes.ring.found(b, high)
    a.hear(b, high, 1)
    echoes.ring.world.vanish('b')
    const controller = new AbortController()
    a.host.after(100, () => { controller.abort() })
    await assert.rejects(echoes.ring.settle(echoes.ask(a, kv('x'), { signal: controller.signal, repeatable: true })), { name: 'AbortError' })
  })
})
