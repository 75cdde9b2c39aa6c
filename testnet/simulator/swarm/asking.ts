// One request of a client to one node: it is answered, fails for sure, or nobody knows. A node that dies closes the connection;
// one that stands still is given up a little after its own deadline.

import { isDefinite } from '../../../overlay/errors.ts'
import type { StorageVerbs } from '../../../storage/storage-api.ts'
import type { Outcome } from '../checkers/history.ts'
import type { Cluster, SimNode } from '../cluster.ts'
import { pick } from '../draw.ts'
import type { Random } from '../random.ts'
import type { Slips } from './slips.ts'

export type Asked<Answer> =
  | { readonly outcome: 'ok', readonly answer: Answer }
  | { readonly outcome: Exclude<Outcome, 'ok'> }

export interface AskComponents {
  readonly cluster: Cluster
  readonly slips: Slips
}

/** What a client waits beyond the deadline that it gave. */
const patienceMs = 1000

/** A node that takes requests now; undefined where none does. */
export function anyNode (cluster: Cluster, random: Random): SimNode | undefined {
  const ready = [...cluster.nodes.values()].filter(({ name, overlay, isStarted }) => isStarted && (overlay.state === 'serving' || overlay.state === 'leaving') && !cluster.world.isPaused(name))
  return ready.length === 0 ? undefined : pick(random, ready)
}

/** Never rejects. */
export async function ask<Answer> ({ cluster, slips }: AskComponents, { name, node, ended }: SimNode, deadlineMs: number, verb: (storage: StorageVerbs, deadlineMs: number) => Promise<Answer>): Promise<Asked<Answer>> {
  const { clock } = cluster.world
  let giveUp: (asked: Asked<Answer>) => void = () => {}
  const givenUp = new Promise<Asked<Answer>>(resolve => { giveUp = resolve })
  const timer = clock.schedule(deadlineMs + patienceMs, { run: () => { giveUp({ outcome: 'indefinite' }) } })
  const answered = verb(node.storage, deadlineMs).then((answer): Asked<Answer> => ({ outcome: 'ok', answer }), (error: unknown): Asked<Answer> => {
    slips.note(`a client of ${name} at ${Math.round(clock.now())} ms`, error)
    return { outcome: isDefinite(error) ? 'failed' : 'indefinite' }
  })
  const asked = await Promise.race([answered, givenUp, ended.then((): Asked<Answer> => ({ outcome: 'indefinite' }))])
  clock.cancel(timer)
  return asked
}
