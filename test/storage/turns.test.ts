// Turns: one holder, the rest in order, and no more than may wait.

import assert from 'node:assert/strict'
import { Turns } from '../../storage/turns.ts'

describe('turns', () => {
  it('go round in the order of asking, one at a time', async () => {
    let made = 0
    const turns = new Turns(2, () => `${made++}`)
    const first = turns.takeNow('a')
    assert(first !== undefined)
    assert.equal(turns.takeNow('a'), undefined)
    assert.notEqual(turns.takeNow('b'), undefined)
    const order: string[] = []
    const take = async (name: string): Promise<void> => {
      const turn = await turns.take('a')
      order.push(name)
      assert(turns.holds('a', turn.id))
      assert(!turns.holds('a', first.id))
      turn.release()
    }
    const waiting = [take('second'), take('third')]
    await assert.rejects(turns.take('a'), { name: 'BusyError', definite: true })
    assert(turns.holds('a', first.id))
    first.release()
    first.release()
    await Promise.all(waiting)
    assert.deepEqual(order, ['second', 'third'])
    assert.notEqual(turns.takeNow('a'), undefined)
  })
})
