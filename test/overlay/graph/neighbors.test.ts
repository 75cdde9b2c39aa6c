// The links of one node: who is taken at each level, and what is forgotten when.

import assert from 'node:assert/strict'
import { comparePositions, isBetween, Neighbors } from '../../../overlay/graph/neighbors.ts'
import { graphNode, lineEnd, view } from '../views.ts'

const self = graphNode('m', 100, 110, 0b101)
const ids = (neighbors: Neighbors, level: number): Array<string | undefined> => {
  const { left, right } = neighbors.at(level)
  return [left?.view.owner.id, right?.view.owner.id]
}

describe('neighbors', () => {
  it('stand in order of (low, member id)', () => {
    assert(comparePositions(view('b', 10, 20), view('a', 11, 20)) < 0)
    assert(comparePositions(view('a', 10, 10), view('b', 10, 20)) < 0, 'an empty interval and its neighbor have one low')
    assert.equal(comparePositions(view('a', 10, 20), view('a', 10, 30)), 0)
    assert(isBetween(view('b', 10, 20), view('a', 5, 10), view('c', 20, 30)) && isBetween(view('b', 10, 20), view('c', 20, 30), view('a', 5, 10)))
    assert(!isBetween(view('a', 5, 10), view('a', 5, 10), view('c', 20, 30)))
  })

  it('take whoever stands closer, and name the one between to whoever does not', () => {
    const neighbors = new Neighbors()
    assert.equal(neighbors.offer(self, 0, graphNode('a', 50, 60, 0)), undefined)
    assert.equal(neighbors.offer(self, 0, graphNode('c', 200, lineEnd, 0)), undefined)
    assert.equal(neighbors.offer(self, 0, graphNode('b', 90, 100, 0)), undefined, 'closer than a')
    assert.equal(neighbors.offer(self, 0, graphNode('a', 50, 60, 0))?.view.owner.id, 'b')
    assert.deepEqual(ids(neighbors, 0), ['b', 'c'])
    assert.equal(neighbors.offer(self, 0, graphNode('b', 95, 100, 0)), undefined, 'b itself, whose low has moved')
    assert.deepEqual(neighbors.at(0).left?.view.interval.low, Uint8Array.of(95))
  })

  it('refuse at a level whoever does not share its bits, and themselves', () => {
    const neighbors = new Neighbors()
    assert.equal(neighbors.offer(self, 2, graphNode('x', 50, 60, 0b111)), self, 'shares one bit')
    assert.equal(neighbors.offer(self, 2, graphNode('x', 50, 60, 0b001)), undefined, 'shares two')
    assert.equal(neighbors.offer(self, 0, self), self)
    assert.equal(neighbors.offer(self, 33, graphNode('y', 60, 70, 0b101)), self, 'there is no such level')
    assert.deepEqual([ids(neighbors, 0), ids(neighbors, 2)], [[undefined, undefined], ['x', undefined]])
  })

  it('are listed once each, from the lowest level up', () => {
    const neighbors = new Neighbors()
    const [a, b, c] = [graphNode('a', 50, 60, 1), graphNode('b', 120, 130, 1), graphNode('c', 200, 210, 5)]
    for (const [level, side, node] of [[0, 'left', a], [0, 'right', b], [1, 'left', a], [1, 'right', c], [2, 'right', c]] as const) neighbors.set(level, side, node)
    assert.deepEqual(neighbors.all().map(node => node.view.owner.id), ['a', 'b', 'c'])
    assert.equal(neighbors.height, 3)
    neighbors.drop('c')
    assert.deepEqual([neighbors.height, ids(neighbors, 1)], [2, ['a', undefined]])
    neighbors.dropAbove('a')
    assert.deepEqual([neighbors.height, ids(neighbors, 0)], [1, ['a', 'b']], 'level 0 tells where the line is broken')
    neighbors.clear()
    assert.deepEqual(neighbors.all(), [])
  })

  it('keep what they know of a node fresh, and do not go back to an older claim', () => {
    const neighbors = new Neighbors()
    neighbors.set(0, 'left', { ...graphNode('a', 50, 60, 1), view: view('a', 50, 60, { epoch: 5 }) })
    neighbors.learn(view('a', 40, 70, { epoch: 4 }))
    assert.deepEqual(neighbors.at(0).left?.view, view('a', 50, 60, { epoch: 5 }))
    neighbors.learn(view('a', 45, 60, { epoch: 6 }))
    assert.deepEqual(neighbors.at(0).left, { ...graphNode('a', 45, 60, 1), view: view('a', 45, 60, { epoch: 6 }) })
  })
})
