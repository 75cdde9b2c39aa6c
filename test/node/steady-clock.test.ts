// The clock that counts sleep, over clocks that the test moves.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { SteadyClock, machineClocks, toleranceMs } from '../../node/steady-clock.ts'

const hourMs = 3_600_000

function moved (): { clock: SteadyClock, awake: (ms: number) => void, suspend: (ms: number) => void, setWall: (byMs: number) => void } {
  let [monotonic, wall, up] = [123, 1_700_000_000_000, 500_000]
  return {
    clock: new SteadyClock({ monotonic: () => monotonic, wall: () => Math.floor(wall), up: () => Math.floor(up / 10) * 10 }),
    awake: ms => { monotonic += ms; wall += ms; up += ms },
    suspend: ms => { wall += ms; up += ms },
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
    suspend(hourMs)
    assert.equal(clock.now(), 3_601_000)
    awake(500)
    assert.equal(clock.now(), 3_601_500)
  })

  for (const byMs of [hourMs, -hourMs, 24 * hourMs, -24 * hourMs]) {
    it(`takes no notice of a wall clock that is set by ${byMs / hourMs} hours, and counts a later sleep all the same`, () => {
      const { clock, awake, suspend, setWall } = moved()
      awake(1000)
      clock.now()
      setWall(byMs)
      assert.equal(clock.now(), 1000)
      awake(2000)
      assert.equal(clock.now(), 3000)
      suspend(600_000)
      assert.equal(clock.now(), 603_000)
    })
  }

  it('counts a sleep in which the wall clock stood still, or was set back by as much, within a second', () => {
    const { clock, awake, suspend, setWall } = moved()
    suspend(hourMs)
    setWall(-hourMs)
    awake(1000)
    assert.equal(clock.now(), hourMs + 1000)
  })

  it('gives the wall clock as it is', () => {
    const { clock, setWall } = moved()
    setWall(-1000)
    assert.equal(clock.wallClock(), 1_699_999_999_000)
  })

  it('never goes back and never counts less than awake and asleep, but for its tolerance, nor more', () => {
    const move = fc.record({ kind: fc.constantFrom('awake', 'suspend', 'set', 'back'), ms: fc.double({ min: 0, max: 100_000, noNaN: true }) })
    fc.assert(fc.property(fc.array(move, { maxLength: 50 }), moves => {
      const { clock, awake, suspend, setWall } = moved()
      let passed = 0
      let last = 0
      for (const { kind, ms } of moves) {
        if (kind === 'awake') awake(ms)
        else if (kind === 'suspend') suspend(ms)
        else setWall(kind === 'set' ? ms : -ms)
        if (kind === 'awake' || kind === 'suspend') passed += ms
        const now = clock.now()
        assert(now >= last)
        assert(now <= passed + 20, `${now} after ${passed}`)
        last = now
      }
      // A sleep is noticed a second later at the latest.
      awake(1000)
      assert(clock.now() >= passed + 1000 - toleranceMs * (moves.length + 1))
    }))
  })

  it('has clocks on this machine of which none goes back', () => {
    const read = () => [machineClocks.monotonic(), machineClocks.up()] as const
    let last = read()
    for (let count = 0; count < 1_000; count++) {
      const now = read()
      assert(now[0] >= last[0] && now[1] >= last[1])
      last = now
    }
  })
})
