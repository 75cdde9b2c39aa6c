// Streams of rows: order, backpressure, and every way in which they end.

import assert from 'node:assert/strict'
import { AbortError, ConnectionLostError, RemoteError, TimeoutError, UnreachableError } from '../../overlay/errors.ts'
import { RefusedError, ampleMs, blobs, collect, count, failureOf, shortMs } from './host-messages.ts'
import type { HostFixture, Test } from './host-messages.ts'

export function pulls (test: Test, fixture: () => HostFixture): void {
  test('pulls rows in order', async (a, b) => {
    b.handlePull(count, async function * (upTo) { for (let i = 0; i < upTo; i++) yield i })
    const rows = await collect(a.pull(b.self, count, 5000, { deadlineMs: ampleMs }))
    assert.deepEqual(rows, Array.from({ length: 5000 }, (_, i) => i))
  })

  test('pulls no rows where there are none, and from itself', async (a, b) => {
    for (const host of [a, b]) host.handlePull(count, async function * (upTo) { for (let i = 0; i < upTo; i++) yield i })
    assert.deepEqual(await collect(a.pull(b.self, count, 0, { deadlineMs: ampleMs })), [])
    assert.deepEqual(await collect(a.pull(a.self, count, 3, { deadlineMs: ampleMs })), [0, 1, 2])
  })

  test('gives each row as it comes', async (a, b) => {
    let goOn!: () => void
    const gate = new Promise<void>(resolve => { goOn = resolve })
    b.handlePull(count, async function * () { yield 1; await gate; yield 2 })
    const rows = a.pull(b.self, count, 0, { deadlineMs: ampleMs })[Symbol.asyncIterator]()
    assert.deepEqual(await rows.next(), { done: false, value: 1 })
    goOn()
    assert.deepEqual(await rows.next(), { done: false, value: 2 })
    assert.equal((await rows.next()).done, true)
  })

  test('keeps the yielding node from running far ahead of a slow reader', async (a, b) => {
    let yielded = 0
    b.handlePull(blobs, async function * (rows) { for (; yielded < rows; yielded++) yield new Uint8Array(65_536).fill(yielded % 251) })
    const rows = a.pull(b.self, blobs, 512, { deadlineMs: ampleMs })[Symbol.asyncIterator]()
    await rows.next()
    await a.sleep(2 * shortMs)
    // 8 MiB of 32 MiB: what both ends and the connection between them may hold.
    assert(yielded <= 128, `${yielded} rows were yielded while 1 was read`)
    let read = 1
    for (let next = await rows.next(); next.done !== true; next = await rows.next()) {
      assert.deepEqual([next.value.length, next.value[65_535]], [65_536, read % 251])
      read++
    }
    assert.equal(read, 512)
  })

  test('gives all rows to a reader that is slow all the way', async (a, b) => {
    b.handlePull(blobs, async function * (rows) { for (let i = 0; i < rows; i++) yield new Uint8Array(65_536).fill(i % 251) })
    let read = 0
    for await (const row of a.pull(b.self, blobs, 512, { deadlineMs: ampleMs })) {
      assert.equal(row[65_535], read++ % 251)
      // behind by a flush now and then, as a learner is
      if (read % 4 === 0) await a.sleep(15)
    }
    assert.equal(read, 512)
  })

  test('ends the yielding source when its reader leaves', async (a, b) => {
    let left!: () => void
    const ended = new Promise<void>(resolve => { left = resolve })
    b.handlePull(count, async function * () {
      try {
        for (let i = 0; ; i++) yield i
      } finally {
        left()
      }
    })
    for await (const row of a.pull(b.self, count, 0, { deadlineMs: ampleMs })) if (row === 10) break
    await ended
  })

  test('tells an error that comes after rows, once they were read', async (a, b) => {
    b.handlePull(count, async function * () { yield 1; yield 2; throw new RefusedError('no more') })
    const read: number[] = []
    const error = await failureOf((async () => { for await (const row of a.pull(b.self, count, 0, { deadlineMs: ampleMs })) read.push(row) })())
    assert(error instanceof RemoteError)
    assert.deepEqual([read, error.remoteName, error.message, error.definite], [[1, 2], 'RefusedError', 'no more', true])
  })

  test('says that nobody answers a pull', async (a, b) => {
    const error = await failureOf(collect(a.pull(b.self, count, 0, { deadlineMs: ampleMs })))
    assert(error instanceof RemoteError)
    assert.deepEqual([error.remoteName, error.definite], ['UnknownMethodError', true])
  })

  test('ends a pull whose next row does not come in time, or whose caller gives up', async (a, b) => {
    b.handlePull(count, async function * () { yield 1; await new Promise(() => {}) })
    assert(await failureOf(collect(a.pull(b.self, count, 0, { deadlineMs: 4 * shortMs }))) instanceof TimeoutError)
    const signal = a.deadline(shortMs)
    assert(await failureOf(collect(a.pull(b.self, count, 0, { deadlineMs: ampleMs, signal }))) instanceof AbortError)
  })

  test('ends a pull on a connection that closes', async (a, b) => {
    b.handlePull(count, async function * () { yield 1; await new Promise(() => {}) })
    const rows = a.pull(b.self, count, 0, { deadlineMs: ampleMs })[Symbol.asyncIterator]()
    await rows.next()
    const next = failureOf(rows.next())
    await fixture().kill(1)
    assert(await next instanceof ConnectionLostError)
  })

  test('says that a dead node refused a pull', async (a, b) => {
    const contact = b.self
    await fixture().kill(1)
    assert(await failureOf(collect(a.pull(contact, count, 0, { deadlineMs: ampleMs }))) instanceof UnreachableError)
  })
}
