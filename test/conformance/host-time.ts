// The host's clock, timers and chance.

import assert from 'node:assert/strict'
import { AbortError } from '../../overlay/errors.ts'
import { ampleMs, failureOf } from './host-messages.ts'
import type { Test } from './host-messages.ts'

export function time (test: Test): void {
  test('has a clock that goes on, and sleeps at least as long as asked', async a => {
    const start = a.now()
    await a.sleep(20)
    // Timers of an operating system may be up to 1 ms early by this clock.
    assert(a.now() - start >= 19, `${a.now() - start} ms`)
  })

  test('runs timers in the order of their times, and none that was canceled', async a => {
    const ran: string[] = []
    await new Promise<void>(resolve => {
      a.after(60, () => { ran.push('third'); resolve() })
      const canceled = a.after(30, () => { ran.push('canceled') })
      a.after(5, () => { ran.push('first'); a.cancel(canceled) })
      a.after(40, () => { ran.push('second') })
    })
    a.cancel(123_456)
    assert.deepEqual(ran, ['first', 'second', 'third'])
  })

  test('ends a sleep when its signal aborts', async a => {
    const controller = new AbortController()
    const sleeping = failureOf(a.sleep(ampleMs, controller.signal))
    a.after(1, () => { controller.abort() })
    assert(await sleeping instanceof AbortError)
    assert(await failureOf(a.sleep(1, controller.signal)) instanceof AbortError)
  })

  test('aborts a deadline when its time or its parent ends', async a => {
    const parent = new AbortController()
    const [timed, child] = [a.deadline(5), a.deadline(ampleMs, parent.signal)]
    await a.sleep(30)
    assert.deepEqual([timed.aborted, child.aborted], [true, false])
    parent.abort()
    assert.equal(child.aborted, true)
    assert.equal(a.deadline(ampleMs, parent.signal).aborted, true)
  })

  test('draws numbers from 0 to below 1 that differ', async a => {
    const draws = Array.from({ length: 100 }, () => a.random())
    assert(draws.every(draw => draw >= 0 && draw < 1))
    assert(new Set(draws).size > 90)
  })
}
