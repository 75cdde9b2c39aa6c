// The small cases that the search of the ownership rules goes through whole, and the larger ones that it walks at random.

import type { Case } from '../../../testnet/simulator/search/explore.ts'
import type { Wandering } from '../../../testnet/simulator/search/wander.ts'

type Init = Case['init']

/** One claim over all keys, owned by a. */
function line (nodes: string, keysCount: number, members: string, more: Partial<Init> = {}): Init {
  return { members: [...nodes], keysCount, first: [{ from: 0, epoch: 1, owner: 'a', members: [...members] }], leases: false, fills: false, clocks: undefined, ...more }
}

function change (by: string, from: number, to: number, members: string, source: string): Case['changes'][number] {
  return { by, from, to, owner: members[0]!, members: [...members], source }
}

export const cases = {
  'one key, one copy: hand-off and back, with a write and a crash': {
    init: line('ab', 1, 'a'), changes: [change('a', 0, 1, 'b', 'a'), change('a', 0, 1, 'a', 'a'), change('b', 0, 1, 'a', 'b')], budget: { write: 1, retry: 1, crash: 1 }
  },
  'two keys, one copy: a hand-off of the upper one against a takeover of both': {
    init: line('abc', 2, 'a'), changes: [change('a', 1, 2, 'b', 'a'), change('c', 0, 2, 'c', 'a')], budget: { write: 1 }
  },
  'two keys, two copies: rivals for the whole and for a part': {
    init: line('ab', 2, 'ab'), changes: [change('a', 0, 2, 'a', 'a'), change('b', 1, 2, 'b', 'b')], budget: {}
  },
  'one key, one copy: a hand-off that the giver forgets, and a claimer that never heard of it': {
    init: line('abc', 1, 'a'), changes: [change('a', 0, 1, 'b', 'a'), change('c', 0, 1, 'c', 'c')].map(plan => ({ ...plan, source: 'a' })), budget: { forget: 1 }
  },
  'one key, three copies: an eviction against a takeover': {
    init: line('abc', 1, 'abc'), changes: [change('a', 0, 1, 'ab', 'a'), change('b', 0, 1, 'bc', 'b')], budget: {}
  },
  'one key, three copies: a takeover under leases': {
    init: line('abc', 1, 'abc', { leases: true }), changes: [change('b', 0, 1, 'b', 'b')], budget: { lease: 2 }
  },
  'one key, three copies: a takeover for a fourth node while a write is on its way': {
    init: line('abcd', 1, 'abc'), changes: [change('b', 0, 1, 'd', 'a')], budget: { write: 1 }
  }
} satisfies Record<string, Case>

const free = { leases: false, fills: true }
const bound = { leases: true, fills: true }
const twoPieces: Init = { ...line('abcd', 3, 'abc', bound), first: [{ from: 0, epoch: 1, owner: 'a', members: ['a', 'b', 'c'] }, { from: 2, epoch: 2, owner: 'b', members: ['b', 'c', 'd'] }] }
const deep = { copies: 3, stepsCount: 260, skewed: true, forgets: true, data: true }

export const walks = {
  'two pieces of three copies over four nodes, leases, fills, skewed clocks': { ...deep, init: twoPieces },
  'one piece of three copies over four nodes, leases, fills, skewed clocks': { ...deep, init: line('abcd', 3, 'abc', bound) },
  'one key of three copies, leases, fills, skewed clocks': { ...deep, init: line('abc', 1, 'abc', bound) },
  'one piece of three copies, no leases': { ...deep, skewed: false, forgets: false, init: line('abcd', 3, 'abc', free) },
  'one copy over three nodes, leases, fills, skewed clocks': { ...deep, copies: 1, init: line('abc', 3, 'a', bound) },
  'one copy of one key, fills': { ...deep, copies: 1, stepsCount: 120, skewed: false, forgets: false, init: line('abc', 1, 'a', free) },
  'two keys of three copies, claims alone': { ...deep, stepsCount: 120, skewed: false, forgets: false, data: false, init: line('abc', 2, 'abc') },
  'two keys of one copy, claims alone': { ...deep, copies: 1, stepsCount: 120, skewed: false, data: false, init: line('abc', 2, 'a') }
} satisfies Record<string, Wandering>
