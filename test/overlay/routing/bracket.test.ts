// A lookup's bracket, driven against a ring that is a plain list: whatever stale or partial hints it hears, it ends at the
// owner; where owners are silent it ends at exactly their keys.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { Bracket, covers } from '../../../overlay/routing/bracket.ts'
import type { OwnerView, Target } from '../../../overlay/routing/routing.ts'
import { below, ends, lineEnd, on, span, view } from '../views.ts'

interface RingNode {
  readonly id: string
  readonly from: number
  readonly to: number
  readonly epoch: number
  readonly isSilent: boolean
}

/** Nodes that every node knows on each side of itself. */
const linksEachSide = 4
/** More than any search here may take: each node is asked a few times at most. */
const asksMax = 400

function ringOf (cuts: readonly number[], silent: ReadonlySet<number>): RingNode[] {
  const bounds = [0, ...cuts, lineEnd]
  return bounds.slice(0, -1).map((from, index) => ({ id: `n${index}`, from, to: bounds[index + 1]!, epoch: 10, isSilent: silent.has(index) }))
}

const viewOf = ({ id, from, to, epoch }: RingNode): OwnerView => view(id, from, to, { epoch })

function holds ({ from, to }: RingNode, { key, below }: Target): boolean {
  const at = key[0] ?? 0
  return below ? from < at && at <= to : from <= at && at < to
}

/** Drive the bracket as a lookup does. Each node tells its neighbors, and whatever lies in `rumors` of it. */
function search (ring: readonly RingNode[], target: Target, hints: readonly OwnerView[], rumors: ReadonlyMap<string, readonly OwnerView[]>): { bracket: Bracket, owner: string | undefined, asked: string[] } {
  const bracket = new Bracket(target)
  for (const hint of hints) bracket.hear(hint)
  const asked: string[] = []
  for (let next = bracket.next(); next !== undefined; next = bracket.next()) {
    const { id } = next.owner
    asked.push(id)
    assert(asked.length <= asksMax, `no end: ${asked.slice(-20).join(' ')}`)
    const index = ring.findIndex(node => node.id === id)
    const node = ring[index]
    if (node?.isSilent === true) {
      bracket.failed(id, 'refused')
      continue
    }
    const links = node === undefined ? [] : ring.slice(Math.max(0, index - linksEachSide), index + linksEachSide + 1).filter(other => other !== node)
    for (const heard of [...links.map(viewOf), ...rumors.get(id) ?? []]) if (heard.owner.id !== id) bracket.hear(heard)
    bracket.answered(id, node && viewOf(node))
    if (node !== undefined && holds(node, target)) return { bracket, owner: id, asked }
  }
  return { bracket, owner: undefined, asked }
}

const cuts = fc.uniqueArray(fc.integer({ min: 1, max: 255 }), { minLength: 1, maxLength: 30 }).map(list => list.sort((a, b) => a - b))
const targets = fc.record({ at: fc.integer({ min: 1, max: 255 }), isBelow: fc.boolean() }).map(({ at, isBelow }) => isBelow ? below(at) : on(at))
/** Once true or never: of a node that is there, or of one that has gone. */
const stale = fc.record({ node: fc.integer({ min: 0, max: 35 }), from: fc.integer({ min: 0, max: 254 }), length: fc.integer({ min: 1, max: 100 }), epoch: fc.integer({ min: 1, max: 10 }) })
  .map(({ node, from, length, epoch }) => view(`n${node}`, from, Math.min(from + length, lineEnd), { epoch }))

describe('a bracket', () => {
  it('asks the newest that claims the key first, then the nearer side', () => {
    const bracket = new Bracket(on(100))
    bracket.hear(view('far left', 0, 10))
    bracket.hear(view('near right', 110, 120))
    bracket.hear(view('old', 90, 105, { epoch: 1 }))
    bracket.hear(view('new', 95, 105, { epoch: 2 }))
    const order: string[] = []
    for (let next = bracket.next(); next !== undefined && order.length < 9; next = bracket.next()) {
      order.push(next.owner.id)
      bracket.failed(next.owner.id, 'refused')
    }
    assert.deepEqual(order, ['new', 'old', 'near right', 'far left'])
    assert.equal(bracket.failedOwner()?.view?.owner.id, 'new')
  })

  it('ends at the owner, whatever partial and stale views it hears', () => {
    const scenario = fc.record({
      cuts,
      target: targets,
      first: fc.nat(30),
      hints: fc.array(stale, { maxLength: 10 }),
      rumors: fc.array(fc.record({ by: fc.nat(30), of: stale }), { maxLength: 40 })
    })
    fc.assert(fc.property(scenario, ({ cuts, target, first, hints, rumors }) => {
      const ring = ringOf(cuts, new Set())
      const told = new Map<string, OwnerView[]>()
      for (const { by, of } of rumors) told.set(`n${by}`, [...told.get(`n${by}`) ?? [], of])
      const { owner } = search(ring, target, [viewOf(ring[first % ring.length]!), ...hints], told)
      assert.equal(owner, ring.find(node => holds(node, target))!.id)
    }), { numRuns: 1000 })
  })

  it('names exactly the keys of silent owners, from whichever side it came', () => {
    const scenario = fc.record({ cuts, target: targets, first: fc.nat(30), length: fc.integer({ min: 1, max: 3 }), shift: fc.nat(2), hints: fc.array(stale, { maxLength: 6 }) })
    fc.assert(fc.property(scenario, ({ cuts, target, first, length, shift, hints }) => {
      const count = cuts.length + 1
      const owner = ringOf(cuts, new Set()).findIndex(node => holds(node, target))
      const start = Math.max(0, owner - Math.min(shift, length - 1))
      const silent = new Set(Array.from({ length }, (_, index) => start + index).filter(index => index < count))
      fc.pre(silent.size < count && silent.has(owner))
      const ring = ringOf(cuts, silent)
      const alive = ring.filter(node => !node.isSilent)
      const { bracket, owner: found } = search(ring, target, [viewOf(alive[first % alive.length]!), ...hints], new Map())
      assert.equal(found, undefined)
      const run = [...silent].sort((a, b) => a - b)
      assert.deepEqual(ends(bracket.gap()), [ring[run[0]!]!.from, ring[run.at(-1)!]!.to])
    }), { numRuns: 1000 })
  })

  it('asks those behind the nearest when these know nobody nearer', () => {
    // n2 and n3 are dead; n1 and n4 have lost all links over them, and n0 still knows n4
    const bracket = new Bracket(on(60))
    const [n0, n1, n4] = [view('n0', 0, 20), view('n1', 20, 40), view('n4', 80, lineEnd)]
    bracket.hear(n0)
    bracket.hear(n1)
    assert.equal(bracket.next()?.owner.id, 'n1')
    bracket.answered('n1', n1)
    assert.equal(bracket.next()?.owner.id, 'n0', 'though n1 is nearer')
    bracket.answered('n0', n0)
    bracket.hear(n4)
    assert.equal(bracket.next()?.owner.id, 'n4')
    bracket.answered('n4', n4)
    assert.equal(bracket.next(), undefined)
    assert.deepEqual(ends(bracket.gap()), [40, 80])
  })

  it('takes the keys just below a boundary for those of the left owner', () => {
    assert(covers(span(10, 20), below(20)) && !covers(span(20, 30), below(20)))
    assert(covers(span(20, 30), on(20)) && !covers(span(10, 20), on(20)))
    assert(covers(span(20, lineEnd), below(255)) && covers(span(0, lineEnd), on(0)) && !covers(span(0, lineEnd), below(0)))
  })

  it('asks everybody anew after a wait, but for those that were silent', () => {
    const bracket = new Bracket(on(5))
    bracket.hear(view('a', 0, 10))
    bracket.hear(view('b', 0, 10, { epoch: 2 }))
    bracket.failed('a', 'refused')
    bracket.failed('b', 'silent')
    assert.equal(bracket.next(), undefined)
    assert.deepEqual([bracket.failedOwner()?.view.owner.id, bracket.failedOwner()?.how], ['b', 'silent'])
    bracket.changing = true
    bracket.renew()
    assert.deepEqual([bracket.changing, bracket.next()?.owner.id], [false, 'a'])
  })
})
