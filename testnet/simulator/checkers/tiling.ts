// The newest decided claims, over all stores, cover the line: each key has exactly one owner, which is up and serves it or
// is changing it, or which the test has stopped: its disk keeps the claim for its next start. Where the test has taken the
// disk too, the claim names that member until another takes over. A node that has left is nobody's owner any more. Checked
// when claims change, once the ring is whole, and at rest in the strict form: the served runs tile the line.

import { compareHighs, compareKeys, everything, isBelow, type Interval } from '../../../overlay/interval.ts'
import { IntervalMap } from '../../../overlay/interval-map.ts'
import { keyText } from '../../../overlay/key-text.ts'
import type { MemberId } from '../../../overlay/member.ts'
import type { Claim } from '../../../overlay/ownership/claim.ts'
import type { SimNode } from '../cluster.ts'
import { InvariantError, type Checker } from './checker.ts'

export class Tiling implements Checker {
  readonly name = 'tiling'
  #revisions = -1
  /** The line was covered once; from then on it must be. */
  #covered = false
  /** Nodes that the test took away, with what they knew, until they have read their stores again. */
  readonly #excused = new Map<MemberId, SimNode>()

  check (nodes: ReadonlyMap<string, SimNode>): void {
    let revisions = 0
    for (const { isStarted, ownership } of nodes.values()) if (isStarted) revisions += ownership?.revision ?? 0
    if (revisions === this.#revisions) return
    this.#revisions = revisions
    const present = [...nodes.values()].filter(({ isStarted }) => isStarted)
    for (const { overlay } of present) this.#excused.delete(overlay.memberId)
    const owners = new Set([...present.map(({ overlay }) => overlay.memberId), ...this.#excused.keys()])
    const fault = faultOf(newestClaims([...present, ...this.#excused.values()]), owners)
    if (fault !== undefined && this.#covered) throw new InvariantError(fault)
    this.#covered = fault === undefined
  }

  /** Those that are up, and those that the test took away. */
  stores (nodes: ReadonlyMap<string, SimNode>): SimNode[] {
    return [...[...nodes.values()].filter(({ isStarted }) => isStarted), ...this.#excused.values()]
  }

  /** The test has stopped or killed node, which has not left: it may still be named as an owner. */
  excuse (node: SimNode): void {
    if (node.isStarted) this.#excused.set(node.overlay.memberId, node)
    this.lookAgain()
  }

  /** The nodes that are up are others than before. */
  lookAgain (): void {
    this.#revisions = -1
  }
}

function newestClaims (nodes: readonly SimNode[]): IntervalMap<Claim> {
  const newest = new IntervalMap<Claim>((a, b) => a === b)
  for (const node of nodes) {
    for (const { interval, value: { claim } } of node.ownership?.registers.entries(everything) ?? []) {
      newest.update(interval, held => held !== undefined && held.epoch >= claim.epoch ? held : claim)
    }
  }
  return newest
}

/** Why claims do not give each key to one of owners; undefined when they do. */
function faultOf (claims: IntervalMap<Claim>, owners: ReadonlySet<MemberId>): string | undefined {
  for (const { interval, value } of claims.stretches()) {
    if (value === undefined) return `no store holds a claim over ${keyText(interval.low)}`
    if (!owners.has(value.owner)) return `the newest claim over ${keyText(interval.low)}, of epoch ${value.epoch}, names ${value.owner}, which is gone`
  }
  return undefined
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
