// What a message must have is checked once, when it is decoded.

import assert from 'node:assert/strict'
import { codec } from '../../overlay/codec.ts'

/** A wire form that says whatever the test wants. */
const saying = (message: unknown) => ({ encode: (): Uint8Array => new Uint8Array(0), decode: (): unknown => message })
const decoded = (message: unknown, required: string[]): unknown => codec(saying(message), required).decode(new Uint8Array(0))

describe('a codec', () => {
  it('passes on what is whole', () => {
    const message = { a: { b: 0 }, list: [{ c: '' }, { c: 'x' }] }
    assert.equal(decoded(message, ['a', 'a.b', 'list[].c']), message)
  })

  it('refuses what lacks a part, and says which', () => {
    const refused = (message: unknown, required: string[], path: string): void => {
      assert.throws(() => decoded(message, required), { name: 'InvalidMessageError', message: `message lacks ${path}`, definite: true })
    }
    refused({}, ['a'], 'a')
    refused({ a: {} }, ['a', 'a.b'], 'a.b')
    refused({ list: [{ c: 1 }, {}] }, ['list[].c'], 'list[].c')
    refused({ list: [{ c: { d: 1 } }, { c: {} }] }, ['list[].c', 'list[].c.d'], 'list[].c.d')
  })

  it('looks into an optional part only where it is there', () => {
    assert.deepEqual(decoded({ list: [] }, ['a.b', 'list[].c']), { list: [] })
    assert.throws(() => decoded({ a: {} }, ['a.b']), { name: 'InvalidMessageError' })
  })
})
