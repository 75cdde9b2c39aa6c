// How a scenario's ring begins, before any fault: nodes that start from prepared stores, or a first one that the others join.

import type { Cluster } from '../cluster.ts'
import { prepareRing } from '../prepared-ring.ts'
import { Random } from '../random.ts'
import { nodeNames, type Scenario } from './scenario.ts'
import { drawBoundaries } from './workload.ts'

export async function foundRing (cluster: Cluster, { seed, nodes, ring }: Scenario): Promise<void> {
  const names = nodeNames(nodes)
  if (ring === 'joined') {
    await cluster.settle(cluster.join(names[0]!, { founding: 'now' }))
    for (const name of names.slice(1)) await cluster.settle(cluster.join(name, { bootstrap: names }))
    return
  }
  const random = new Random(seed, 'ring')
  const prepared = await prepareRing(drawBoundaries(random, nodes - 1), () => random.next())
  for (const { name, store } of prepared) cluster.keepDisk(name, store)
  // all at once: a node may need others before it serves
  await cluster.settle(Promise.all(names.map(async name => await cluster.join(name, { bootstrap: names }))))
}
