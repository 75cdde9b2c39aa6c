// The links of a node: at each level a left and a right neighbor among the nodes that share so many bits of their
// membership vectors. Level 0 follows from claims (the right neighbor owns my high); links of the upper levels are
// hints, checked on use. A link names a member and its placement, so a node that has moved is not taken for one that
// stayed (docs/ownership.md, "A link names a placement"). Order is by position = (low, member id), and the order of two
// live nodes never changes.

import { compareKeys } from '../interval.ts'
import type { MemberId } from '../member.ts'
import type { GraphNode } from '../messages.ts'
import { isNewer, sameView } from '../routing/atlas.ts'
import type { OwnerView } from '../routing/routing.ts'
import { levelsMax, sharedLevels } from './membership-vector.ts'

export type Side = 'left' | 'right'

interface Level {
  left: GraphNode | undefined
  right: GraphNode | undefined
}

/** Negative when a stands left of b. */
export function comparePositions (a: OwnerView, b: OwnerView): number {
  const order = compareKeys(a.interval.low, b.interval.low)
  if (order !== 0) return order
  return a.owner.id === b.owner.id ? 0 : a.owner.id < b.owner.id ? -1 : 1
}

export class Neighbors {
  #levels: Level[] = [{ left: undefined, right: undefined }]
  /** What `all` gives, until a link changes: every request asks for it. */
  #all: readonly GraphNode[] | undefined

  /** Levels with at least one link, level 0 counted. */
  get height (): number {
    return this.#levels.length
  }

  at (level: number): Readonly<Level> {
    return this.#levels[level] ?? { left: undefined, right: undefined }
  }

  levels (): ReadonlyArray<Readonly<Level>> {
    return this.#levels
  }

  /** Each linked node once, level by level from the lowest. */
  all (): readonly GraphNode[] {
    if (this.#all !== undefined) return this.#all
    const nodes = new Map<MemberId, GraphNode>()
    for (const { left, right } of this.#levels) {
      if (left !== undefined && !nodes.has(left.view.owner.id)) nodes.set(left.view.owner.id, left)
      if (right !== undefined && !nodes.has(right.view.owner.id)) nodes.set(right.view.owner.id, right)
    }
    this.#all = [...nodes.values()]
    return this.#all
  }

  set (level: number, side: Side, node: GraphNode | undefined): void {
    while (this.#levels.length <= level && node !== undefined) this.#levels.push({ left: undefined, right: undefined })
    const links = this.#levels[level]
    if (links !== undefined) links[side] = node
    this.#changed()
  }

  /**
   * A node says that it belongs beside self at level. It is linked when it stands closer than the present link, which
   * may be itself; otherwise the present link is the answer.
   *
   * @returns the node that stands between, or undefined when it was linked
   */
  offer (self: GraphNode, level: number, node: GraphNode): GraphNode | undefined {
    if (node.view.owner.id === self.view.owner.id || level > levelsMax || sharedLevels(self.vector, node.vector) < level) return self
    const side: Side = comparePositions(node.view, self.view) < 0 ? 'left' : 'right'
    const present = this.at(level)[side]
    if (present === undefined || present.view.owner.id === node.view.owner.id || isBetween(node.view, present.view, self.view)) {
      this.set(level, side, node)
      return undefined
    }
    return present
  }

  /** Keep what links know of their nodes' keys fresh, from any reply. */
  learn (view: OwnerView): void {
    for (const links of this.#levels) {
      for (const side of ['left', 'right'] as const) {
        const link = links[side]
        if (link?.view.owner.id === view.owner.id && !isNewer(link.view, view) && !sameView(link.view, view)) {
          links[side] = { ...link, view }
          this.#all = undefined
        }
      }
    }
  }

  /** The node's placement is gone: unlink it everywhere. */
  drop (member: MemberId): void {
    this.#drop(member, 0)
  }

  /** The node is silent: unlink it above level 0, which tells where the line is broken. */
  dropAbove (member: MemberId): void {
    this.#drop(member, 1)
  }

  /** Forget all links: this node takes a new place. */
  clear (): void {
    this.#levels = [{ left: undefined, right: undefined }]
    this.#changed()
  }

  #drop (member: MemberId, fromLevel: number): void {
    for (const links of this.#levels.slice(fromLevel)) {
      if (links.left?.view.owner.id === member) links.left = undefined
      if (links.right?.view.owner.id === member) links.right = undefined
    }
    this.#changed()
  }

  #changed (): void {
    this.#all = undefined
    while (this.#levels.length > 1 && this.#levels.at(-1)!.left === undefined && this.#levels.at(-1)!.right === undefined) this.#levels.pop()
  }
}

/** Does node stand strictly between a and b, whichever is left? */
export function isBetween (node: OwnerView, a: OwnerView, b: OwnerView): boolean {
  const toA = comparePositions(node, a)
  const toB = comparePositions(node, b)
  return (toA > 0 && toB < 0) || (toA < 0 && toB > 0)
}
