// IntervalMap against an array with one value a key, and the rows that its changes ask for.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { IntervalMap } from '../../overlay/interval-map.ts'
import type { Interval, Key } from '../../overlay/interval.ts'

const cellsCount = 12

/** Cell i of the line is [i], the first one begins at the empty key and the last one is open. */
function cut (at: number): Key | undefined {
  if (at === 0) return new Uint8Array(0)
  return at === cellsCount ? undefined : Uint8Array.of(at)
}

function span (from: number, to: number): Interval {
  return { low: cut(from)!, high: cut(to) }
}

function newMap (): IntervalMap<number> {
  return new IntervalMap<number>((a, b) => a === b)
}

/** [from, to, value] of each segment. */
function rows (map: IntervalMap<number>, interval?: Interval): Array<[number, number, number]> {
  return map.entries(interval).map(({ interval, value }) => [interval.low[0] ?? 0, interval.high === undefined ? cellsCount : interval.high[0]!, value])
}

describe('IntervalMap', () => {
  it('cuts segments at both ends of what is written and joins equal neighbors', () => {
    const map = newMap()
    map.set(span(0, 12), 1)
    map.set(span(4, 8), 2)
    assert.deepEqual(rows(map), [[0, 4, 1], [4, 8, 2], [8, 12, 1]])
    map.set(span(4, 8), 1)
    assert.deepEqual(rows(map), [[0, 12, 1]])
    map.delete(span(3, 5))
    assert.deepEqual(rows(map), [[0, 3, 1], [5, 12, 1]])
    assert.deepEqual(rows(map, span(2, 7)), [[2, 3, 1], [5, 7, 1]])
    assert.equal(map.get(Uint8Array.of(3)), undefined)
    assert.equal(map.get(Uint8Array.of(5)), 1)
    assert.equal(map.get(Uint8Array.of(200, 7)), 1)
  })

  it('gives update each stretch, gaps too, and deletes where it returns undefined', () => {
    const map = newMap()
    map.set(span(2, 4), 5)
    map.set(span(6, 8), 7)
    const seen: Array<[number, number | undefined]> = []
    map.update(span(3, 9), (value, stretch) => {
      seen.push([stretch.low[0]!, value])
      return value === 7 ? undefined : (value ?? 0) + 1
    })
    assert.deepEqual(seen, [[3, 5], [4, undefined], [6, 7], [8, undefined]])
    assert.deepEqual(rows(map), [[2, 3, 5], [3, 4, 6], [4, 6, 1], [8, 9, 1]])
  })

  it('takes an interval without keys as nothing to do', () => {
    const map = newMap()
    map.set(span(2, 6), 1)
    for (const empty of [span(3, 3), { low: Uint8Array.of(5), high: Uint8Array.of(3) }]) {
      map.set(empty, 9)
      map.delete(empty)
      map.update(empty, () => assert.fail('no stretch in an empty interval'))
      assert.deepEqual(map.stretches(empty), [])
    }
    assert.deepEqual(rows(map), [[2, 6, 1]])
  })

  it('leaves its original alone when a copy is written', () => {
    const map = newMap()
    map.set(span(0, 12), 1)
    const copy = map.copy()
    copy.set(span(3, 4), 2)
    assert.deepEqual(rows(map), [[0, 12, 1]])
    assert.deepEqual(rows(copy), [[0, 3, 1], [3, 4, 2], [4, 12, 1]])
  })

  it('names the rows to put and to remove when segments split and join', () => {
    const before = newMap()
    before.set(span(0, 4), 1)
    before.set(span(4, 8), 2)
    before.set(span(8, 12), 3)
    const after = before.copy()
    after.set(span(4, 6), 1)
    const changes = after.changesSince(before)
    // [0,4)=1 [4,8)=2 becomes [0,6)=1 [6,8)=2: rows 0 and 6 are written, row 4 has no successor, row 8 stays.
    assert.deepEqual(changes.put.map(({ interval, value }) => [interval.low[0] ?? 0, interval.high![0], value]), [[0, 6, 1], [6, 8, 2]])
    assert.deepEqual(changes.remove.map(key => key[0]), [4])
  })

  it('equals an array with one value a key, after any writes', () => {
    const bound = fc.integer({ min: 0, max: cellsCount })
    const write = fc.record({ kind: fc.constantFrom('set', 'delete', 'update'), from: bound, to: bound, value: fc.integer({ min: 1, max: 3 }) })
    fc.assert(fc.property(fc.array(write, { maxLength: 25 }), bound, bound, (writes, a, b) => {
      const map = newMap()
      const cells: Array<number | undefined> = new Array(cellsCount).fill(undefined)
      const stored = new Map<number, [number, number]>()
      for (const { kind, from, to, value } of writes) {
        if (from === cellsCount) continue
        const bump = (old: number | undefined): number | undefined => old === value ? undefined : ((old ?? 0) + value) % 4
        const before = map.copy()
        if (kind === 'set') map.set(span(from, to), value)
        if (kind === 'delete') map.delete(span(from, to))
        if (kind === 'update') map.update(span(from, to), bump)
        for (let cell = from; cell < to; cell++) cells[cell] = kind === 'set' ? value : kind === 'delete' ? undefined : bump(cells[cell])
        const changes = map.changesSince(before)
        for (const low of changes.remove) stored.delete(low[0] ?? 0)
        for (const { interval, value } of changes.put) stored.set(interval.low[0] ?? 0, [interval.high?.[0] ?? cellsCount, value])
      }
      for (let cell = 0; cell < cellsCount; cell++) assert.equal(map.get(Uint8Array.of(cell)), cells[cell])
      assert.equal(map.get(new Uint8Array(0)), cells[0])
      const found = rows(map)
      assert.equal(map.size, found.length)
      for (let i = 1; i < found.length; i++) {
        const [before, after] = [found[i - 1]!, found[i]!]
        assert.ok(before[1] < after[0] || (before[1] === after[0] && before[2] !== after[2]), 'in order, apart, equal neighbors joined')
      }
      assert.deepEqual([...stored].map(([low, [high, value]]) => [low, high, value]).sort((x, y) => x[0]! - y[0]!), found)
      const [from, to] = [Math.min(a, b), Math.max(a, b)]
      if (from === cellsCount) return
      const clipped = rows(map, span(from, to)).flatMap(([low, high, value]) => new Array(high - low).fill(0).map((_, i) => [low + i, value]))
      assert.deepEqual(clipped, cells.slice(from, to).flatMap((value, i) => value === undefined ? [] : [[from + i, value]]))
      const covered = map.stretches(span(from, to)).map(({ interval }) => [interval.low[0] ?? 0, interval.high?.[0] ?? cellsCount])
      assert.equal(covered.reduce((sum, [low, high]) => sum + high! - low!, 0), to - from)
    }), { numRuns: 400 })
  })
})
