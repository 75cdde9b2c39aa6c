// How calls end that get no reply: deadlines, callers that give up, nodes that die or stop.

import assert from 'node:assert/strict'
import { AbortError, ConnectionLostError, StoppedError, TimeoutError, UnreachableError, isDefinite } from '../../overlay/errors.ts'
import { ampleMs, ask, failureOf, nextGone, shortMs, tell } from './host-messages.ts'
import type { HostFixture, Test } from './host-messages.ts'

export function endings (test: Test, fixture: () => HostFixture): void {
  test('ends a call at its deadline, not knowing whether it was carried out', async (a, b) => {
    b.handle(ask, async request => await (request === 'now' ? Promise.resolve('') : new Promise<string>(() => {})))
    await a.call(b.self, ask, 'now', { deadlineMs: ampleMs })
    const error = await failureOf(a.call(b.self, ask, 'never', { deadlineMs: shortMs }))
    assert(error instanceof TimeoutError)
    assert.equal(isDefinite(error), false)
  })

  test('ends a call to itself at its deadline', async a => {
    a.handle(ask, async () => await new Promise<string>(() => {}))
    assert(await failureOf(a.call(a.self, ask, '', { deadlineMs: shortMs })) instanceof TimeoutError)
  })

  test('ends a call when its caller gives up, before or after it was sent', async (a, b) => {
    b.handle(ask, async () => await new Promise<string>(() => {}))
    const early = AbortSignal.abort()
    assert(await failureOf(a.call(b.self, ask, '', { deadlineMs: ampleMs, signal: early })) instanceof AbortError)
    const controller = new AbortController()
    const waiting = failureOf(a.call(b.self, ask, '', { deadlineMs: ampleMs, signal: controller.signal }))
    a.after(shortMs, () => { controller.abort() })
    assert(await waiting instanceof AbortError)
  })

  test('says that a dead node refused: nothing was sent', async (a, b) => {
    const contact = b.self
    await fixture().kill(1)
    const gone = nextGone(a)
    const error = await failureOf(a.call(contact, ask, '', { deadlineMs: ampleMs }))
    assert(error instanceof UnreachableError)
    assert.equal(isDefinite(error), true)
    const [who, why] = await gone
    assert.deepEqual([who.id, why], [contact.id, 'refused'])
  })

  test('ends calls on a connection that closes, and says that the node is gone', async (a, b) => {
    const contact = b.self
    let arrived!: () => void
    const arrival = new Promise<void>(resolve => { arrived = resolve })
    b.handle(ask, async () => { arrived(); return await new Promise<string>(() => {}) })
    const gone = nextGone(a)
    const waiting = failureOf(a.call(contact, ask, '', { deadlineMs: ampleMs }))
    await arrival
    await fixture().kill(1)
    const error = await waiting
    assert(error instanceof ConnectionLostError)
    assert.equal(isDefinite(error), false)
    const [who, why] = await gone
    assert.deepEqual([who.id, who.addresses, why], [contact.id, contact.addresses, 'closed'])
  })

  test('no longer tells a listener that has removed itself', async (a, b) => {
    const contact = b.self
    let told = 0
    const remove = a.onGone(() => { told++ })
    remove()
    await fixture().kill(1)
    await failureOf(a.call(contact, ask, '', { deadlineMs: ampleMs }))
    assert.equal(told, 0)
  })

  test('ends what waits when it stops, and does nothing more', async (a, b) => {
    let arrived!: () => void
    const arrival = new Promise<void>(resolve => { arrived = resolve })
    b.handle(ask, async () => { arrived(); return await new Promise<string>(() => {}) })
    const waiting = failureOf(a.call(b.self, ask, '', { deadlineMs: ampleMs }))
    const sleeping = failureOf(a.sleep(ampleMs))
    const deadline = a.deadline(ampleMs)
    let fired = false
    a.after(1, () => { fired = true })
    await arrival
    fired = false
    a.after(shortMs, () => { fired = true })
    await fixture().stop(0)
    assert(await waiting instanceof ConnectionLostError)
    assert(await sleeping instanceof StoppedError)
    assert.equal(deadline.aborted, true)
    const late = await failureOf(a.call(b.self, ask, '', { deadlineMs: ampleMs }))
    assert(late instanceof StoppedError)
    a.notify(b.self, tell, 'nothing')
    await b.sleep(2 * shortMs)
    assert.equal(fired, false)
  })

  test('stops in the midst of two hundred calls of its own and of others', async (a, b) => {
    for (const host of [a, b]) host.handle(ask, async request => { await host.sleep(5); return request })
    const outcomes = Promise.allSettled(Array.from({ length: 200 }, (_, i) => i % 2 === 0
      ? a.call(b.self, ask, String(i), { deadlineMs: ampleMs })
      : b.call(a.self, ask, String(i), { deadlineMs: ampleMs })))
    await b.sleep(3)
    await fixture().stop(0)
    for (const outcome of await outcomes) {
      if (outcome.status === 'fulfilled') continue
      const name = outcome.reason.name as string
      assert(['ConnectionLostError', 'UnreachableError', 'StoppedError', 'RemoteError'].includes(name), name)
    }
  })
}
