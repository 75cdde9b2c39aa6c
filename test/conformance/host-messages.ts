// Methods, notices and errors that the suite of Host uses, and what its parts share.

import assert from 'node:assert/strict'
import type { NamedError } from '../../overlay/errors.ts'
import type { Codec, Contact, Gone, Host, Method, Notice, PullMethod } from '../../overlay/host.ts'

export interface HostFixture {
  readonly hosts: readonly Host[]
  /** Runs what the hosts need to run until promise has settled, and gives what it gives. */
  settle<T> (promise: Promise<T>): Promise<T>
  /** Ends a node's process, as its peers see it. */
  kill (index: number): Promise<void>
  /** Ends a node in good order. */
  stop (index: number): Promise<void>
  close (): Promise<void>
}

/** One test with as many connected hosts as it asks for: two by default. */
export type Test = (title: string, body: (a: Host, b: Host, c: Host) => Promise<void>, count?: number) => void

export const utf8: Codec<string> = { encode: text => new TextEncoder().encode(text), decode: bytes => new TextDecoder().decode(bytes) }
export const bytes: Codec<Uint8Array> = { encode: bytes => bytes, decode: bytes => bytes }
export const number: Codec<number> = {
  encode: value => { const bytes = new Uint8Array(8); new DataView(bytes.buffer).setFloat64(0, value); return bytes },
  decode: bytes => new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0)
}
export const unreadable: Codec<string> = { encode: utf8.encode, decode: () => { throw new Error('these bytes mean nothing') } }

export const ask: Method<string, string> = { name: 'test/1/ask', request: utf8, reply: utf8 }
export const sized: Method<Uint8Array, number> = { name: 'test/1/sized', request: bytes, reply: number }
export const large: Method<number, Uint8Array> = { name: 'test/1/large', request: number, reply: bytes }
export const tell: Notice<string> = { name: 'test/1/tell', message: utf8 }
export const count: PullMethod<number, number> = { name: 'test/1/count', request: number, row: number }
export const blobs: PullMethod<number, Uint8Array> = { name: 'test/1/blobs', request: number, row: bytes }

/** Far more than any call here takes; a test that waits for it fails by mocha's own timeout. */
export const ampleMs = 20_000
/** For what must time out. */
export const shortMs = 120

export class RefusedError extends Error implements NamedError {
  override readonly name = 'RefusedError'
  readonly definite = true
}

export async function failureOf (promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  return assert.fail('it did not fail')
}

export async function collect<Row> (rows: AsyncIterable<Row>): Promise<Row[]> {
  const all: Row[] = []
  for await (const row of rows) all.push(row)
  return all
}

export function nextGone (host: Host): Promise<[Contact, Gone]> {
  return new Promise(resolve => {
    const remove = host.onGone((contact, why) => { remove(); resolve([contact, why]) })
  })
}
