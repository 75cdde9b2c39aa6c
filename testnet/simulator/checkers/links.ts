// Links of the skip graph at rest: at each level, in order by the present positions of both ends, prefixes that fit, and
// at level 0 exactly the neighbors by claims.

import { comparePositions } from '../../../overlay/graph/neighbors.ts'
import { sharedLevels } from '../../../overlay/graph/membership-vector.ts'
import type { GraphNode } from '../../../overlay/messages.ts'
import type { SimNode } from '../cluster.ts'
import { InvariantError } from './checker.ts'

/** How many links of each level are not yet those that the vectors ask for; level 0 first. @throws InvariantError for a link that must never be */
export function missingLinks (nodes: ReadonlyMap<string, SimNode>): number[] {
  const present = [...nodes.values()].map(node => ({ node, self: node.overlay.self() })).filter((item): item is { node: SimNode, self: GraphNode } => item.self !== undefined)
  present.sort((a, b) => comparePositions(a.self.view, b.self.view))
  const missing: number[] = []
  present.forEach(({ node, self }, index) => {
    for (let level = 0; level <= node.overlay.neighbors.height; level++) {
      const { left, right } = node.overlay.neighbors.at(level)
      for (const [link, step] of [[left, -1], [right, 1]] as const) {
        if (link !== undefined && sharedLevels(link.vector, self.vector) < level) throw new InvariantError(`${self.view.owner.contact.id} has a link at level ${level} whose vector does not belong there`)
        const wanted = nearestAt(present.map(item => item.self), index, step, level)
        if (wanted?.view.owner.id !== link?.view.owner.id) missing[level] = (missing[level] ?? 0) + 1
      }
    }
  })
  return Array.from(missing, count => count ?? 0)
}

function nearestAt (nodes: readonly GraphNode[], from: number, step: -1 | 1, level: number): GraphNode | undefined {
  for (let index = from + step; index >= 0 && index < nodes.length; index += step) {
    if (sharedLevels(nodes[index]!.vector, nodes[from]!.vector) >= level) return nodes[index]
  }
  return undefined
}
