// Questions to a daemon by HTTP, in few words.

import assert from 'node:assert/strict'

export interface End {
  readonly complete: boolean
  readonly missing: ReadonlyArray<{ readonly from: string, readonly to: string | null, readonly peer: string | null, readonly reason: string }>
}

export interface Record {
  readonly key: string
  readonly value?: unknown
  readonly point?: [number, number]
}

/** @throws when the answer is no success */
export async function json<T> (url: string, init: RequestInit = {}): Promise<T> {
  const response = await fetch(url, init)
  const text = await response.text()
  assert(response.ok, `${url} answered ${response.status}: ${text}`)
  return JSON.parse(text) as T
}

export function url (rpc: string, path: string, query: { readonly [name: string]: string | number | boolean }): string {
  return `${rpc}${path}?${new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)])).toString()}`
}

/** How many objects lie in a box; the answer must be complete. */
export async function countIn (rpc: string, bbox: string, words?: string): Promise<number> {
  const answer = await json<End & { count: number }>(url(rpc, '/v1/find', { bbox, count: true, ...(words === undefined ? {} : { words }) }))
  assert.equal(answer.complete, true, JSON.stringify(answer))
  return answer.count
}

export async function put (rpc: string, key: string, value: string): Promise<void> {
  await json(url(rpc, '/v1/objects', { key }), { method: 'PUT', body: value, headers: { 'content-type': 'text/plain' } })
}

export async function get (rpc: string, key: string): Promise<string> {
  const response = await fetch(url(rpc, '/v1/objects', { key }))
  const text = await response.text()
  assert.equal(response.status, 200, text)
  return text
}

/** A number on the page of /metrics; undefined when it is not there. */
export async function metric (rpc: string, name: string): Promise<number | undefined> {
  const page = await (await fetch(`${rpc}/metrics`)).text()
  const line = page.split('\n').find(line => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1))
}
