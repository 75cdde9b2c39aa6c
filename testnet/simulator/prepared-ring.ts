// A ring that starts from prepared stores: claims, membership vectors and links as a long-lived ring would have them on
// disk. Its nodes then come up by the ordinary restart path, so a simulation of thousands need not join them one by one.

import { fromString } from 'uint8arrays/from-string'
import { levelsMax, sharedLevels } from '../../overlay/graph/membership-vector.ts'
import { keepLinks } from '../../overlay/graph/kept-links.ts'
import { Neighbors } from '../../overlay/graph/neighbors.ts'
import { lowestKey, type Key } from '../../overlay/interval.ts'
import type { GraphNode } from '../../overlay/messages.ts'
import { newRegisters } from '../../overlay/ownership/register.ts'
import { rowsOf } from '../../overlay/ownership/register-rows.ts'
import { prefixed } from '../../overlay/prefixed-store.ts'
import { StoreIdentity } from '../../overlay/store-identity.ts'
import { MemoryStore } from '../../storage/memory-store.ts'

export interface PreparedNode {
  readonly name: string
  readonly store: MemoryStore
  readonly node: GraphNode
}

const chain = 'c0ffee'.padEnd(32, '0')
const floorMs = 0

/**
 * @param boundaries - ascending keys; node i owns from boundary i - 1 (the lowest key for node 0) to boundary i
 * @param random - uniform in [0, 1)
 */
export async function prepareRing (boundaries: readonly Key[], random: () => number): Promise<PreparedNode[]> {
  const nodes = Array.from({ length: boundaries.length + 1 }, (_, index) => nodeAt(index, boundaries, random))
  const neighbors = linkAll(nodes)
  return await Promise.all(nodes.map(async (node, index) => {
    const store = new MemoryStore()
    const { interval, owner, epoch } = node.view
    await StoreIdentity.prepare(prefixed(store, fromString('i')), { member: owner.id, vector: node.vector, boot: 1, placement: node.placement, ballotCounter: 1 })
    await keepLinks(prefixed(store, fromString('i')), neighbors[index]!)
    const claim = { chain, epoch, owner: owner.id, members: [owner.id], floor: floorMs, by: { counter: 1, member: owner.id } }
    const registers = newRegisters([{ interval, value: { claim, promised: undefined, accepted: undefined, ceiling: floorMs } }])
    await prefixed(store, fromString('o')).batch(rowsOf(registers.changesSince(newRegisters())))
    return { name: owner.contact.id, store, node }
  }))
}

function nodeAt (index: number, boundaries: readonly Key[], random: () => number): GraphNode {
  const id = `n${index}`
  const member = (index + 1).toString(16).padStart(32, '0')
  return {
    view: {
      interval: { low: index === 0 ? lowestKey : boundaries[index - 1]!, high: boundaries[index] },
      chain,
      epoch: 2,
      owner: { id: member, contact: { id, addresses: [`/memory/${id}`] } }
    },
    vector: Math.floor(random() * 2 ** 32),
    placement: 1
  }
}

/** At each level, each node's nearest on both sides that shares so many bits. */
function linkAll (nodes: readonly GraphNode[]): Neighbors[] {
  const neighbors = nodes.map(() => new Neighbors())
  let lists = [nodes.map((_, index) => index)]
  for (let level = 0; level <= levelsMax && lists.length > 0; level++) {
    for (const list of lists) {
      list.forEach((node, position) => {
        const [left, right] = [list[position - 1], list[position + 1]]
        if (left !== undefined) neighbors[node]!.set(level, 'left', nodes[left])
        if (right !== undefined) neighbors[node]!.set(level, 'right', nodes[right])
      })
    }
    lists = lists.flatMap(list => splitBy(list, index => sharedLevels(nodes[index]!.vector, nodes[list[0]!]!.vector) > level)).filter(list => list.length > 1)
  }
  return neighbors
}

function splitBy<T> (items: readonly T[], passes: (item: T) => boolean): T[][] {
  return [items.filter(passes), items.filter(item => !passes(item))]
}
