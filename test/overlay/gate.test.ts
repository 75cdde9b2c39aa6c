// A gate: closed while keys change hands, open for ever afterwards, with so many places and no more.

import assert from 'node:assert/strict'
import { Gate } from '../../overlay/gate.ts'

describe('a gate', () => {
  it('lets everybody go at once when it opens, in the order in which they came, and nobody wait afterwards', async () => {
    const gate = new Gate(10)
    const gone: number[] = []
    const waiting = [1, 2, 3].map(async number => { await gate.wait(); gone.push(number) })
    await Promise.resolve()
    assert.deepEqual([gone, gate.isOpen], [[], false])
    gate.open()
    await Promise.all(waiting)
    assert.deepEqual([gone, gate.isOpen], [[1, 2, 3], true])
    await gate.wait()
  })

  it('tells whoever finds no place that it is busy, and keeps the others', async () => {
    const gate = new Gate(2)
    const first = [gate.wait(), gate.wait()]
    await assert.rejects(gate.wait(), { name: 'BusyError', definite: true })
    gate.open()
    await Promise.all(first)
  })
})
