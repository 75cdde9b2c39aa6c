// Which uncaught errors a daemon lives on with.

import assert from 'node:assert/strict'
import { BusyError, StoreError, StoreFullError } from '../../overlay/errors.ts'
import { kindOfFault } from '../../node/faults.ts'
import { StoreCorruptError } from '../../node/level-errors.ts'

describe('an error that nobody caught', () => {
  it('is of the network or of the store, or a fault of this program', () => {
    const stream = [Object.assign(new Error('Cannot write to a stream that is closed'), { name: 'StreamStateError' }), new Event('close')]
    const store = [new StoreError('x'), new StoreFullError('x'), new StoreCorruptError('/x', 'y'), new BusyError('x')]
    const own = [new TypeError('x'), new Event('error'), 'x', undefined, Object.assign(new Error('x'), { code: 'EMFILE' })]
    assert.deepEqual([stream, store, own].map(errors => [...new Set(errors.map(kindOfFault))]), [['stream'], ['store'], ['own']])
  })
})
