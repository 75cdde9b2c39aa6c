// The clock that counts sleep, over clocks that the test moves.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { SteadyClock, toleranceMs } from '../../node/steady-clock.ts'

function moved (): { clock: SteadyClock, awake: (ms: number) => void, suspend: (ms: number) => void, setWall: (byMs: number) => void } {
  let [monotonic, wall] = [123, 1_700_000_000_000]
  return {
    clock: new SteadyClock({ monotonic: () => monotonic, wall: () => Math.floor(wall) }),
    awake: ms => { monotonic += ms; wall += ms },
    suspend: ms => { wall += ms },
    setWall: byMs => { wall += byMs }
  }
}

describe('the steady clock', () => {
  it('goes with the monotonic clock while the machine is awake', () => {
    const { clock, awake } = moved()
    for (let i = 0; i < 10_000; i++) { awake(0.37); clock.now() }
    assert(Math.abs(clock.now() - 3700) < 1)
  })

  it('counts the time that the machine was suspended', () => {
    const { clock, awake, suspend } = moved()
    awake(1000)
    clock.now()
    suspend(3_600_000)
    assert.equal(clock.now(), 3_601_000)
    awake(500)
    assert.equal(clock.now(), 3_601_500)
  })

  it('does not go back when the wall clock is set back, and counts a later sleep all the same', () => {
    const { clock, awake, suspend, setWall } = moved()
    awake(1000)
    clock.now()
    setWall(-3_600_000)
    assert.equal(clock.now(), 1000)
    suspend(600_000)
    assert.equal(clock.now(), 601_000)
  })

  it('gives the wall clock as it is', () => {
    const { clock, setWall } = moved()
    setWall(-1000)
    assert.equal(clock.wallClock(), 1_699_999_999_000)
  })

  it('never goes back and never counts less than awake and asleep, but for its tolerance', () => {
    const move = fc.record({ kind: fc.constantFrom('awake', 'suspend', 'back'), ms: fc.double({ min: 0, max: 100_000, noNaN: true }) })
    fc.assert(fc.property(fc.array(move, { maxLength: 50 }), moves => {
      const { clock, awake, suspend, setWall } = moved()
      let passed = 0
      let last = 0
      for (const { kind, ms } of moves) {
        if (kind === 'awake') awake(ms)
        else if (kind === 'suspend') suspend(ms)
        else setWall(-ms)
        if (kind !== 'back') passed += ms
        const now = clock.now()
        assert(now >= last && now >= passed - toleranceMs * (moves.length + 1) - 50)
        assert(now <= passed + 50)
        last = now
      }
    }))
  })
})
