// The newest decided claims, over all stores, cover the line: each key has exactly one owner that is up, which serves it
// or is changing it. Checked when claims change, once the ring is whole, and at rest in the strict form: the served runs tile the line.

import { compareHighs, compareKeys, everything, isBelow, type Interval } from '../../../overlay/interval.ts'
import { IntervalMap } from '../../../overlay/interval-map.ts'
import { keyText } from '../../../overlay/key-text.ts'
import type { Claim } from '../../../overlay/ownership/claim.ts'
import type { SimNode } from '../cluster.ts'
import { InvariantError, type Checker } from './checker.ts'

export class Tiling implements Checker {
  readonly name = 'tiling'
  #revisions = -1
  /** The line was covered once; from then on it must be. */
  #covered = false

  check (nodes: ReadonlyMap<string, SimNode>): void {
    let revisions = 0
    for (const node of nodes.values()) revisions += node.ownership?.revision ?? 0
    if (revisions === this.#revisions) return
    this.#revisions = revisions
    const gap = newestClaims(nodes).stretches().find(({ value }) => value === undefined)
    if (gap !== undefined && this.#covered) throw new InvariantError(`no store holds a claim over ${keyText(gap.interval.low)}`)
    this.#covered = gap === undefined
  }

  /** A node went away with its disk: what it owned is not covered until it is back. */
  excuse (): void {
    this.#covered = false
  }
}

function newestClaims (nodes: ReadonlyMap<string, SimNode>): IntervalMap<Claim> {
  const newest = new IntervalMap<Claim>((a, b) => a === b)
  for (const node of nodes.values()) {
    for (const { interval, value: { claim } } of node.ownership?.registers.entries(everything) ?? []) {
      newest.update(interval, held => held !== undefined && held.epoch >= claim.epoch ? held : claim)
    }
  }
  return newest
}

/** At rest: the runs that nodes serve lie side by side from the lowest key to the end. @throws InvariantError */
export function assertServedTiles (nodes: ReadonlyMap<string, SimNode>): void {
  const runs: Interval[] = [...nodes.values()].flatMap(node => node.ownership?.runs().map(run => run.interval) ?? [])
  runs.sort((a, b) => compareKeys(a.low, b.low))
  let high: Interval['high'] = everything.low
  for (const run of runs) {
    if (high === undefined || compareKeys(run.low, high) !== 0) throw new InvariantError(`runs do not meet: one ends at ${keyText(high)}, the next begins at ${keyText(run.low)}`)
    if (!isBelow(run.low, run.high)) throw new InvariantError(`an empty run is served at ${keyText(run.low)}`)
    high = run.high
  }
  if (compareHighs(high, undefined) !== 0) throw new InvariantError(`nobody serves from ${keyText(high)} on`)
}
