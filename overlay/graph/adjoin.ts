// Level 0 follows from claims: my right neighbor owns the key at my high, my left one the keys just below my low. This
// procedure brings the two links into line with that, by lookup where a link is missing or does not touch.

import type { Host } from '../host.ts'
import { compareHighs, compareKeys, type Interval } from '../interval.ts'
import { neighborsMethod, linkMethod, type GraphNode } from '../messages.ts'
import type { OwnerView, Target } from '../routing/routing.ts'
import type { Neighbors, Side } from './neighbors.ts'

export interface AdjoinComponents {
  readonly host: Host
  readonly neighbors: Neighbors
  self (): GraphNode | undefined
  lookup (target: Target): Promise<OwnerView>
}

export interface AdjoinInit {
  readonly neighborMs: number
}

export async function adjoin (components: AdjoinComponents, init: AdjoinInit): Promise<void> {
  for (const side of ['left', 'right'] as const) {
    const self = components.self()
    if (self === undefined) return
    const link = components.neighbors.at(0)[side]
    if (isEnd(self.view.interval, side)) components.neighbors.set(0, side, undefined)
    else if (link === undefined || !fits(self.view.interval, link.view.interval, side)) await relink(components, side, self, init)
  }
}

async function relink (components: AdjoinComponents, side: Side, self: GraphNode, init: AdjoinInit): Promise<void> {
  const { host, neighbors } = components
  const found = await nodeAt(components, targetBeside(self.view.interval, side), init)
  const now = components.self()
  if (found === undefined || now === undefined || found.view.owner.id === now.view.owner.id) return
  if (!fits(now.view.interval, found.view.interval, side)) return
  neighbors.set(0, side, found)
  await host.call(found.view.owner.contact, linkMethod, { level: 0, node: now }, { deadlineMs: init.neighborMs }).catch(() => {})
}

/** The nodes beside a run, found by claims, right one first; those that cannot be found are left out. */
export async function beside (components: Pick<AdjoinComponents, 'host' | 'lookup'>, run: Interval, init: AdjoinInit): Promise<GraphNode[]> {
  const nodes: GraphNode[] = []
  for (const side of ['right', 'left'] as const) {
    if (isEnd(run, side)) continue
    const node = await nodeAt(components, targetBeside(run, side), init)
    if (node !== undefined) nodes.push(node)
  }
  return nodes
}

async function nodeAt ({ host, lookup }: Pick<AdjoinComponents, 'host' | 'lookup'>, target: Target, init: AdjoinInit): Promise<GraphNode | undefined> {
  try {
    const { owner } = await lookup(target)
    const { self } = await host.call(owner.contact, neighborsMethod, { level: 0 }, { deadlineMs: init.neighborMs })
    return self
  } catch {
    return undefined
  }
}

function targetBeside (run: Interval, side: Side): Target {
  return side === 'left' ? { key: run.low, below: true } : { key: run.high!, below: false }
}

function isEnd (run: Interval, side: Side): boolean {
  return side === 'left' ? run.low.length === 0 : run.high === undefined
}

function fits (run: Interval, other: Interval, side: Side): boolean {
  return side === 'left' ? other.high !== undefined && compareHighs(other.high, run.low) === 0 : run.high !== undefined && compareKeys(run.high, other.low) === 0
}
