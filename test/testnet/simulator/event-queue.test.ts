// The event queue against a sorted list, under adds, cancels and takes in any order.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { EventQueue } from '../../../testnet/simulator/event-queue.ts'
import type { EventId } from '../../../testnet/simulator/event-queue.ts'

interface Listed {
  readonly at: number
  readonly name: number
  readonly id: EventId
}

describe('the event queue', () => {
  it('gives events by time and then by order of adding, without those that were canceled', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('add' as const), at: fc.nat(20) }),
      fc.record({ do: fc.constant('cancel' as const), which: fc.nat() }),
      fc.record({ do: fc.constant('take' as const) })
    )
    fc.assert(fc.property(fc.array(step, { maxLength: 400 }), steps => {
      const queue = new EventQueue()
      const ran: number[] = []
      let list: Listed[] = []
      const over: EventId[] = []
      let names = 0
      for (const one of steps) {
        if (one.do === 'add') {
          const name = names++
          list.push({ at: one.at, name, id: queue.add(one.at, { run: () => { ran.push(name) } }) })
        } else if (one.do === 'cancel' && list.length > 0) {
          const { id } = list[one.which % list.length]!
          assert.equal(queue.cancel(id), true)
          list = list.filter(other => other.id !== id)
          over.push(id)
        } else if (one.do === 'take') {
          const first = [...list].sort((a, b) => a.at - b.at || a.name - b.name)[0]
          assert.equal(queue.nextAt, first?.at ?? Infinity)
          queue.take()?.run()
          assert.equal(ran.pop(), first?.name)
          if (first !== undefined) over.push(first.id)
          list = list.filter(other => other !== first)
        }
        assert.equal(queue.length, list.length)
      }
      for (const id of over) assert.equal(queue.cancel(id), false)
    }))
  })

  it('holds more events than it had room for at first', () => {
    const queue = new EventQueue()
    const ran: number[] = []
    for (let i = 0; i < 5000; i++) queue.add((i * 7919) % 5000, { run: () => { ran.push((i * 7919) % 5000) } })
    for (let task = queue.take(); task !== undefined; task = queue.take()) task.run()
    assert.deepEqual(ran, Array.from({ length: 5000 }, (_, i) => i))
  })
})
