// How much nonsense a peer may ask for before it is held for one that means no good.

import assert from 'node:assert/strict'
import { RemoteError } from '../../../overlay/errors.ts'
import { MalformedMessageError, OversizeError, UnknownMethodError } from '../../../node/rpc/errors.ts'
import { Strangeness } from '../../../node/rpc/strangeness.ts'

describe('strange requests', () => {
  it('are those that are unknown or cannot be read, not those that fail', () => {
    const strangeness = new Strangeness()
    const errors = [new UnknownMethodError('x'), new MalformedMessageError('x', true), new OversizeError('x', true), new Error('x'), new RemoteError('BusyError', 'x', true)]
    assert.deepEqual(errors.map(error => strangeness.note(error)), [true, true, false, false, false])
  })

  it('are borne a thousand times a minute', () => {
    let now = 5_000
    const strangeness = new Strangeness(() => now)
    const flood = (count: number): void => { for (let at = 0; at < count; at++) strangeness.note(new UnknownMethodError('x')) }
    flood(1_000)
    assert.throws(() => { flood(1) }, RangeError)
    now += 60_000
    flood(1_000)
    now += 59_999
    assert.throws(() => { flood(1) }, /more than 1000 requests within 60000 ms/)
  })
})
