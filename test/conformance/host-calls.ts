// Calls and notices between hosts that live.

import assert from 'node:assert/strict'
import { RemoteError, isDefinite } from '../../overlay/errors.ts'
import type { Host } from '../../overlay/host.ts'
import { RefusedError, ampleMs, ask, failureOf, large, sized, tell, unreadable } from './host-messages.ts'
import type { Test } from './host-messages.ts'

export function calls (test: Test): void {
  test('gives the reply of the node that was called, which learns who called', async (a, b) => {
    b.handle(ask, (request, from) => `${request} from ${from.id} at ${from.addresses.join()}`)
    assert.equal(await a.call(b.self, ask, 'hello', { deadlineMs: ampleMs }), `hello from ${a.self.id} at ${a.self.addresses.join()}`)
  })

  test('answers the one who called with the contact that a handler was given', async (a, b) => {
    a.handle(ask, request => request.toUpperCase())
    b.handle(ask, async (request, from) => await b.call(from, ask, request, { deadlineMs: ampleMs }))
    assert.equal(await a.call(b.self, ask, 'there and back', { deadlineMs: ampleMs }), 'THERE AND BACK')
  })

  test('takes replies in whatever order they come', async (a, b) => {
    const open = new Map<string, (reply: string) => void>()
    b.handle(ask, async request => await new Promise(resolve => {
      open.set(request, resolve)
      if (open.size === 3) for (const name of ['third', 'first', 'second']) open.get(name)!(`re ${name}`)
    }))
    const order: string[] = []
    const replies = await Promise.all(['first', 'second', 'third'].map(async name => {
      const reply = await a.call(b.self, ask, name, { deadlineMs: ampleMs })
      order.push(reply)
      return reply
    }))
    assert.deepEqual(replies, ['re first', 're second', 're third'])
    assert.equal(order.length, 3)
  })

  test('tells what a handler threw by its name, message and definiteness', async (a, b) => {
    b.handle(ask, request => { throw request === 'named' ? new RefusedError('not today') : new TypeError('a slip') })
    const named = await failureOf(a.call(b.self, ask, 'named', { deadlineMs: ampleMs }))
    assert(named instanceof RemoteError)
    assert.deepEqual([named.remoteName, named.message, named.definite], ['RefusedError', 'not today', true])
    const slip = await failureOf(a.call(b.self, ask, 'other', { deadlineMs: ampleMs }))
    assert(slip instanceof RemoteError)
    assert.deepEqual([slip.remoteName, slip.message, slip.definite], ['TypeError', 'a slip', false])
  })

  test('tells what a handler rejected with, and bounds its text', async (a, b) => {
    b.handle(ask, async () => await Promise.reject(new RefusedError('x'.repeat(100_000))))
    const error = await failureOf(a.call(b.self, ask, '', { deadlineMs: ampleMs }))
    assert(error instanceof RemoteError)
    assert.deepEqual([error.remoteName, error.definite, error.message.length <= 1024], ['RefusedError', true, true])
  })

  test('says that a method is unknown, and that nothing was done', async (a, b) => {
    const error = await failureOf(a.call(b.self, ask, '', { deadlineMs: ampleMs }))
    assert(error instanceof RemoteError)
    assert.deepEqual([error.remoteName, error.definite], ['UnknownMethodError', true])
  })

  test('says that a request could not be read, without running its handler', async (a, b) => {
    let ran = false
    b.handle({ ...ask, request: unreadable }, () => { ran = true; return '' })
    const error = await failureOf(a.call(b.self, ask, 'x', { deadlineMs: ampleMs }))
    assert(error instanceof RemoteError)
    assert.deepEqual([error.remoteName, error.definite, ran], ['MalformedMessageError', true, false])
  })

  test('refuses a second handler for a method', async a => {
    a.handle(ask, () => '')
    assert.throws(() => { a.handle(ask, () => '') }, /handler already/)
  })

  test('runs a call to itself in this node, after the caller has gone on', async a => {
    let ran = false
    a.handle(ask, (request, from) => { ran = true; return `${request} ${from.id}` })
    const reply = a.call(a.self, ask, 'myself', { deadlineMs: ampleMs })
    assert.equal(ran, false)
    assert.equal(await reply, `myself ${a.self.id}`)
  })

  test('tells what a handler of its own threw as a far one would', async a => {
    a.handle(ask, () => { throw new RefusedError('not here') })
    const error = await failureOf(a.call(a.self, ask, '', { deadlineMs: ampleMs }))
    assert(error instanceof RemoteError)
    assert.deepEqual([error.remoteName, error.definite], ['RefusedError', true])
  })

  test('sends messages up to the bound, and refuses larger requests before anything is sent', async (a, b) => {
    let requests = 0
    b.handle(sized, request => { requests++; return request.length })
    assert.equal(await a.call(b.self, sized, new Uint8Array(1_000_000), { deadlineMs: ampleMs }), 1_000_000)
    const error = await failureOf(a.call(b.self, sized, new Uint8Array(1_100_000), { deadlineMs: ampleMs }))
    assert.equal((error as Error).name, 'OversizeError')
    assert.equal(isDefinite(error), true)
    assert.equal(await a.call(b.self, sized, new Uint8Array(3), { deadlineMs: ampleMs }), 3)
    assert.equal(requests, 2)
  })

  test('says that a reply is too large, and does not call that definite', async (a, b) => {
    b.handle(large, size => new Uint8Array(size))
    const error = await failureOf(a.call(b.self, large, 1_100_000, { deadlineMs: ampleMs }))
    assert(error instanceof RemoteError)
    assert.deepEqual([error.remoteName, error.definite], ['OversizeError', false])
    assert.equal((await a.call(b.self, large, 500_000, { deadlineMs: ampleMs })).length, 500_000)
  })

  test('carries two thousand calls at once', async (a, b) => {
    b.handle(ask, async request => { await b.sleep(1); return `re ${request}` })
    const replies = await Promise.all(Array.from({ length: 2000 }, (_, i) => a.call(b.self, ask, String(i), { deadlineMs: ampleMs })))
    assert.deepEqual(replies, Array.from({ length: 2000 }, (_, i) => `re ${i}`))
  })

  test('calls in all directions among three nodes that begin at once', async (a, b, c) => {
    const hosts = [a, b, c]
    for (const host of hosts) host.handle(ask, request => `${host.self.id} ${request}`)
    const pairs = hosts.flatMap(from => hosts.map(to => ({ from, to })))
    const replies = await Promise.all(pairs.map(async ({ from, to }) => await from.call(to.self, ask, 'x', { deadlineMs: ampleMs })))
    assert.deepEqual(replies, pairs.map(({ to }) => `${to.self.id} x`))
  }, 3)

  test('delivers notices, first ones too, and those to itself', async (a, b) => {
    const heard = (host: Host): Promise<string[]> => new Promise(resolve => {
      const texts: string[] = []
      host.onNotice(tell, (text, from) => {
        texts.push(`${text} from ${from.id}`)
        if (texts.length === 2) resolve(texts)
      })
    })
    const [atA, atB] = [heard(a), heard(b)]
    for (const text of ['one', 'two']) {
      a.notify(a.self, tell, text)
      a.notify(b.self, tell, text)
    }
    for (const texts of await Promise.all([atA, atB])) assert.deepEqual(texts.sort(), [`one from ${a.self.id}`, `two from ${a.self.id}`])
  })

  test('lives on when a handler of notices throws, and when nobody handles a notice', async (a, b) => {
    b.onNotice(tell, () => { throw new Error('a slip') })
    b.handle(ask, request => request)
    a.notify(b.self, tell, 'x')
    a.notify(b.self, { ...tell, name: 'test/1/unheard' }, 'x')
    assert.equal(await a.call(b.self, ask, 'still there', { deadlineMs: ampleMs }), 'still there')
  })
}
