// Counts the claims that some store has learned as decided: how often owners or members changed. It asserts nothing.

import { everything } from '../../../overlay/interval.ts'
import type { SimNode } from '../cluster.ts'
import type { Checker } from './checker.ts'

export class DecidedClaims implements Checker {
  readonly name = 'decided claims'
  readonly #revisions = new WeakMap<SimNode, number>()
  readonly #seen = new Set<string>()

  get count (): number { return this.#seen.size }

  check (nodes: ReadonlyMap<string, SimNode>): void {
    for (const node of nodes.values()) {
      const { ownership } = node
      if (ownership === undefined || this.#revisions.get(node) === ownership.revision) continue
      this.#revisions.set(node, ownership.revision)
      for (const { value: { claim } } of ownership.registers.entries(everything)) {
        this.#seen.add(`${claim.chain} ${claim.epoch} ${claim.by.counter} ${claim.by.member}`)
      }
    }
  }
}
