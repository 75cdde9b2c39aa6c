// The rules of ownership against an adversary: small cases whole, larger ones by random walks; and each broken rule
// must be caught, by the case or the seed named beside it. ISOBAR_WALKS=n walks n times as many seeds.

import assert from 'node:assert/strict'
import { explore } from '../../../testnet/simulator/search/explore.ts'
import { wander } from '../../../testnet/simulator/search/wander.ts'
import type { Case } from '../../../testnet/simulator/search/explore.ts'
import type { Wandering } from '../../../testnet/simulator/search/wander.ts'
import { mutants } from './mutants.ts'
import { cases, walks } from './scenarios.ts'

const missing = 'an acknowledged write is missing at a member of the newest decided claim'
const forked = 'two successors decided for one base'
const undecided = 'an undecided claim is taken for decided'
const twice = 'one version is given twice'

/** States to visit at most, where a case is too large to be gone through whole. */
const statesCountMax: Partial<Record<keyof typeof cases, number>> = {
  'one key, three copies: an eviction against a takeover': 4000,
  'one key, three copies: a takeover under leases': 4500,
  'one key, three copies: a takeover for a fourth node while a write is on its way': 5000
}

/** Walks from seed 1 on. */
const walksCount: Record<keyof typeof walks, number> = {
  'two pieces of three copies over four nodes, leases, fills, skewed clocks': 80,
  'one piece of three copies over four nodes, leases, fills, skewed clocks': 80,
  'one key of three copies, leases, fills, skewed clocks': 150,
  'one piece of three copies, no leases': 150,
  'one copy over three nodes, leases, fills, skewed clocks': 80,
  'one copy of one key, fills': 300,
  'two keys of three copies, claims alone': 300,
  'two keys of one copy, claims alone': 300
}

describe('the rules of ownership, searched whole', () => {
  for (const [name, explored] of Object.entries(cases) as Array<[keyof typeof cases, Case]>) {
    const max = statesCountMax[name]
    it(`hold in ${max === undefined ? 'all' : 'the nearest'} states of ${name}`, function () {
      const { statesCount, exhausted, violation, trace, decisionsMax } = explore(explored, max ?? Infinity)
      assert.equal(violation, undefined, trace.join(' | '))
      assert.equal(exhausted, max === undefined)
      assert.ok(decisionsMax > 0 || max !== undefined, 'some change is decided')
      this.test!.title += ` (${statesCount} states)`
    })
  }
})

describe('the rules of ownership, walked at random', () => {
  for (const [name, wandering] of Object.entries(walks) as Array<[keyof typeof walks, Wandering]>) {
    it(`hold for ${name}`, function () {
      const count = walksCount[name] * Number(process.env['ISOBAR_WALKS'] ?? 1)
      const total = { decisions: 0, writes: 0, reads: 0, adoptions: 0 }
      for (let seed = 1; seed <= count; seed++) {
        const walk = wander(seed, wandering)
        assert.equal(walk.violation, undefined, `seed ${seed}`)
        total.decisions += walk.decisionsCount
        total.writes += walk.writesCount
        total.reads += walk.readsCount
        total.adoptions += walk.adoptionsCount
      }
      assert.ok(total.decisions > count / 2, 'walks decide something')
      this.test!.title += ` (${count} walks, ${total.decisions} decisions, ${total.adoptions} adoptions, ${total.writes} writes, ${total.reads} reads)`
    })
  }

  it('take the same way from the same seed', () => {
    const wandering = walks['one piece of three copies over four nodes, leases, fills, skewed clocks']
    assert.deepEqual(wander(7, wandering), wander(7, wandering))
  })
})

type Catch = { readonly case: keyof typeof cases } | { readonly walk: keyof typeof walks, readonly seed: number }

/** Where each broken rule shows, and how. */
const caught: Record<string, Catch & { readonly as: string }> = {
  'a majority less one': { walk: 'two keys of three copies, claims alone', seed: 2, as: undecided },
  'no fence on writes after a promise': { walk: 'one piece of three copies, no leases', seed: 17, as: missing },
  'an accepted value is not adopted': { walk: 'two keys of three copies, claims alone', seed: 7, as: forked },
  'an undecided claim as a base': { walk: 'two keys of three copies, claims alone', seed: 177, as: undecided },
  'ACCEPT before the new members are full': { walk: 'one copy over three nodes, leases, fills, skewed clocks', seed: 3, as: missing },
  'an adopted value goes to keys that were not prepared': { walk: 'two keys of three copies, claims alone', seed: 438, as: undecided },
  'one accepted value a piece, not a key': { walk: 'two keys of three copies, claims alone', seed: 129, as: forked },
  'a cut resets the promise of the rest': { walk: 'two keys of three copies, claims alone', seed: 129, as: forked },
  'a decided claim is matched by its epoch': { walk: 'two keys of three copies, claims alone', seed: 179, as: undecided },
  'the tail is taken before its source has promised': { case: 'one key, three copies: a takeover for a fourth node while a write is on its way', as: missing },
  'the floor may lie below ceilings': { walk: 'one copy over three nodes, leases, fills, skewed clocks', seed: 26, as: 'versions do not grow along the claims of a key' },
  'a forgotten register is made anew by PREPARE': { case: 'one key, one copy: a hand-off that the giver forgets, and a claimer that never heard of it', as: forked },
  'a promise does not wait for leases': { case: 'one key, three copies: a takeover under leases', as: 'two owners serve one key' },
  'a promise is flushed before earlier writes': { walk: 'one piece of three copies, no leases', seed: 1, as: missing },
  'a forgotten fill session counts as nothing written since': { walk: 'one copy of one key, fills', seed: 294, as: missing },
  'a restarted owner starts at the floor of its claim': { walk: 'one copy over three nodes, leases, fills, skewed clocks', seed: 4, as: twice }
}

describe('the search of the rules of ownership', () => {
  it('knows where to find each broken rule', () => {
    assert.deepEqual(Object.keys(caught).sort(), Object.keys(mutants).sort())
  })

  for (const [name, where] of Object.entries(caught)) {
    it(`catches the mutant: ${name}`, () => {
      const { rules, habits } = mutants[name]!()
      const found = 'case' in where
        ? explore(cases[where.case], statesCountMax[where.case] ?? Infinity, rules, habits)
        : wander(where.seed, walks[where.walk], rules, habits)
      assert.equal(found.violation, where.as)
      const right = 'case' in where ? undefined : wander(where.seed, walks[where.walk])
      assert.equal(right?.violation, undefined, 'the unbroken rules pass the same walk')
    })
  }
})
