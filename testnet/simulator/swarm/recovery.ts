// What has to come back when nothing goes wrong any more: each node that is there serves (or has left), the served runs tile the
// line, level 0 is exactly the neighbors by claims, each record can be written and read, and the map agrees with the ids.

import { InvariantError } from '../checkers/checker.ts'
import type { History } from '../checkers/history.ts'
import { missingLinks } from '../checkers/links.ts'
import { assertServedTiles } from '../checkers/tiling.ts'
import type { Cluster } from '../cluster.ts'
import type { Client } from './client.ts'
import { placeOf } from './row-text.ts'
import { spatial, wholeMap, type Deed } from './workload.ts'

/** Between two looks (guess: a look costs as much as some hundred events). */
const lookMs = 500

/** What is not well yet; undefined when all is. */
export function unwell (cluster: Cluster): string | undefined {
  for (const { name, overlay, isStarted } of cluster.nodes.values()) {
    if (!isStarted) return `${name} is starting`
    if (overlay.state !== 'serving') return `${name} is ${overlay.state}`
  }
  try {
    assertServedTiles(cluster.nodes)
  } catch (error) {
    if (error instanceof InvariantError) return error.message
    throw error
  }
  const [unlinked = 0] = missingLinks(cluster.nodes)
  return unlinked === 0 ? undefined : `${unlinked} links of level 0 are not those of the claims`
}

/** @throws LivenessError when it is not well by endMs of virtual time */
export async function recover (cluster: Cluster, endMs: number): Promise<void> {
  for (;;) {
    const reason = unwell(cluster)
    if (reason === undefined) return
    if (cluster.world.now() >= endMs) throw new LivenessError(`${reason}, long after the last fault was healed`)
    await cluster.run({ untilMs: cluster.world.now() + lookMs })
  }
}

/** Do each of deeds until it is answered. @throws LivenessError when one is not by endMs */
export async function doAll (cluster: Cluster, client: Client, deeds: readonly Deed[], endMs: number): Promise<void> {
  for (const deed of deeds) {
    while (!await client.do(deed)) {
      if (cluster.world.now() >= endMs) throw new LivenessError(`no ${deed.kind}${'key' in deed ? ` of ${deed.collection}/${deed.key}` : ''} is answered in full, long after the last fault was healed`)
      await client.pause(lookMs)
    }
  }
}

/** Until the map shows each object as its id has it: by then all is done that an update left to do when its node died. @throws LivenessError */
export async function agree (cluster: Cluster, client: Client, { operations, scans }: Pick<History, 'operations' | 'scans'>, objects: readonly string[], endMs: number): Promise<void> {
  for (;;) {
    await doAll(cluster, client, [...objects.map((key): Deed => ({ kind: 'get', collection: spatial, key })), wholeMap], endMs)
    const found = new Map(scans.at(-1)!.rows.map(({ key, value }) => [key, value]))
    const other = operations.slice(-objects.length).find(({ key, value }) => found.get(key) !== (value !== undefined && placeOf(value).point !== undefined ? value : undefined))
    if (other === undefined) return
    if (cluster.world.now() >= endMs) throw new LivenessError(`${other.key} is ${other.value ?? 'not there'} by its id, and ${found.get(other.key) ?? 'not there'} on the map, long after the last fault was healed`)
    await client.pause(lookMs)
  }
}

/** What has to happen in the end did not. */
export class LivenessError extends Error {
  override readonly name = 'LivenessError'
}
