// No two nodes serve one key, and no two stores hold different decided claims of one epoch over one key. Invariants I1
// and I4 of docs/ownership.md, "Invariants".

import { everything, intersect, isBelow, type Interval } from '../../../overlay/interval.ts'
import { keyText } from '../../../overlay/key-text.ts'
import { sameClaim } from '../../../overlay/ownership/claim.ts'
import type { SimNode } from '../cluster.ts'
import { InvariantError, type Checker } from './checker.ts'

export class OneServer implements Checker {
  readonly name = 'one server'
  readonly #seen = new WeakMap<SimNode, number>()

  check (nodes: ReadonlyMap<string, SimNode>): void {
    for (const [name, node] of nodes) {
      if (node.ownership === undefined) continue
      const { revision } = node.ownership
      if (this.#seen.get(node) === revision) continue
      this.#seen.set(node, revision)
      for (const [other, rival] of nodes) if (other !== name && rival.ownership !== undefined) this.#compare(name, node, other, rival)
    }
  }

  #compare (name: string, node: SimNode, other: string, rival: SimNode): void {
    const both = overlap(node.ownership!.runs().map(run => run.interval), rival.ownership!.runs().map(run => run.interval))
    if (both !== undefined) throw new InvariantError(`${name} and ${other} both serve ${keyText(both.low)}`)
    for (const { interval, value } of node.ownership!.registers.entries(everything)) {
      for (const held of rival.ownership!.registers.entries(interval)) {
        const [a, b] = [value.claim, held.value.claim]
        if (a.chain === b.chain && a.epoch === b.epoch && !sameClaim(a, b)) throw new InvariantError(`${name} and ${other} hold different claims of epoch ${a.epoch} over ${keyText(held.interval.low)}`)
      }
    }
  }
}

/** A part of the line that lies in an interval of both lists, which are in key order. */
function overlap (a: readonly Interval[], b: readonly Interval[]): Interval | undefined {
  for (const x of a) {
    for (const y of b) {
      const both = intersect(x, y)
      if (both !== undefined && isBelow(both.low, both.high)) return both
    }
  }
  return undefined
}
