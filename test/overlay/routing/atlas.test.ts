// What a node remembers of owners: newer claims win per chain, key by key, within a bound.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { Atlas } from '../../../overlay/routing/atlas.ts'
import type { OwnerView } from '../../../overlay/routing/routing.ts'
import { below, ends, key, lineEnd, on, view } from '../views.ts'

const roomy = { atlasEntriesMax: 1000 }

function told (found: OwnerView | undefined): [string, number, number] | undefined {
  return found && [found.owner.id, ...ends(found.interval)]
}

describe('the atlas', () => {
  it('keeps the higher epoch where two claims of a chain meet, in whatever order they come', () => {
    const older = view('a', 0, 100, { epoch: 3 })
    const newer = view('b', 50, 150, { epoch: 5 })
    for (const order of [[older, newer], [newer, older]]) {
      const atlas = new Atlas(roomy)
      for (const each of order) atlas.learn(each)
      assert.deepEqual([10, 50, 99, 149].map(at => told(atlas.at(on(at)))), [['a', 0, 50], ['b', 50, 150], ['b', 50, 150], ['b', 50, 150]])
      assert.equal(atlas.at(on(150)), undefined)
    }
  })

  it('believes the later word where chains differ', () => {
    const atlas = new Atlas(roomy)
    atlas.learn(view('a', 0, 100, { epoch: 9 }))
    atlas.learn(view('b', 50, 100, { epoch: 1, chain: 'lone' }))
    assert.deepEqual([told(atlas.at(on(40))), told(atlas.at(on(60)))], [['a', 0, 50], ['b', 50, 100]])
  })

  it('tells the owner of the keys just below a boundary apart from that of the boundary', () => {
    const atlas = new Atlas(roomy)
    atlas.learn(view('a', 0, 100))
    atlas.learn(view('b', 100, lineEnd))
    assert.deepEqual([told(atlas.at(below(100))), told(atlas.at(on(100)))], [['a', 0, 100], ['b', 100, lineEnd]])
    assert.equal(atlas.at(below(0)), undefined, 'no key lies below the lowest')
  })

  it('tells owners around a key as it heard of them, not as newer claims have cut them', () => {
    const atlas = new Atlas(roomy)
    atlas.learn(view('a', 10, 100, { epoch: 1 }))
    atlas.learn(view('b', 5, 60, { epoch: 2 }))
    atlas.learn(view('c', 200, lineEnd, { epoch: 1 }))
    assert.deepEqual(atlas.around(key(70), 4).map(told), [['a', 10, 100], ['b', 5, 60], ['c', 200, lineEnd]], 'a stands at 10, though only [60, 100) is left of it')
    assert.deepEqual(atlas.around(key(70), 1).map(told), [['a', 10, 100], ['c', 200, lineEnd]])
    assert.deepEqual(told(atlas.at(on(70))), ['a', 60, 100], 'what is asked for one key is cut')
  })

  it('forgets an entry only while it names that member', () => {
    const atlas = new Atlas(roomy)
    const gone = view('a', 0, 100)
    atlas.learn(gone)
    atlas.learn(view('b', 50, 100, { epoch: 2 }))
    atlas.forget(gone)
    assert.deepEqual([told(atlas.at(on(10))), told(atlas.at(on(60)))], [undefined, ['b', 50, 100]])
  })

  it('stays within its bound and drops what was not used for longest', () => {
    const atlas = new Atlas({ atlasEntriesMax: 16 })
    for (let at = 0; at < 16; at++) atlas.learn(view(`n${at}`, at, at + 1))
    for (const used of [0, 1]) atlas.at(on(used))
    atlas.learn(view('n16', 16, 17))
    assert(atlas.size <= 16)
    assert.deepEqual([0, 1, 15, 16].map(at => atlas.at(on(at))?.owner.id), ['n0', 'n1', 'n15', 'n16'], 'used or new')
    assert.equal(atlas.at(on(2)), undefined, 'the oldest that was not used')
    for (let at = 17; at < 250; at++) {
      atlas.learn(view(`n${at}`, at, at + 1))
      assert(atlas.size <= 16)
      assert.equal(atlas.at(on(at))?.owner.id, `n${at}`, 'what was just learned is there')
    }
  })

  it('takes a new address of the same claim', () => {
    const atlas = new Atlas(roomy)
    const first = view('a', 0, 100)
    atlas.learn(first)
    atlas.learn({ ...first, owner: { id: 'a', contact: { id: 'a', addresses: ['/memory/elsewhere'] } } })
    assert.deepEqual(atlas.at(on(5))?.owner.contact.addresses, ['/memory/elsewhere'])
  })

  it('knows of each key the newest claim of a chain, as a list of keys would', () => {
    const claims = fc.array(fc.record({ from: fc.integer({ min: 0, max: 30 }), length: fc.integer({ min: 1, max: 12 }), epoch: fc.integer({ min: 1, max: 4 }) }), { maxLength: 20 })
    fc.assert(fc.property(claims, claims => {
      const atlas = new Atlas(roomy)
      const list: Array<{ id: string, epoch: number } | undefined> = []
      claims.forEach(({ from, length, epoch }, index) => {
        atlas.learn(view(`n${index}`, from, from + length, { epoch }))
        for (let at = from; at < from + length; at++) if ((list[at]?.epoch ?? 0) <= epoch) list[at] = { id: `n${index}`, epoch }
      })
      for (let at = 0; at < 45; at++) assert.equal(atlas.at(on(at))?.owner.id, list[at]?.id)
    }), { numRuns: 300 })
  })
})
