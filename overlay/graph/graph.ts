// A node's place in the skip graph: it answers questions about its links, links itself in at each level by walking the
// level below, and repairs a level at a time, slowly. Nothing here is needed for safety: who owns a key is told by
// claims alone, and a lookup through stale links ends at the owner all the same, only later.
//
// Unlike the paper, levels are not locked or ordered by sequence numbers: links are hints, and each refresh brings a
// level one step closer to the list that its vectors ask for. Source: Aspnes and Shah, Skip Graphs, sections 3 and 4.

import { OwnerUnreachableError } from '../errors.ts'
import type { Host } from '../host.ts'
import type { MemberId } from '../member.ts'
import { linkMethod, neighborsMethod, unlinkMethod, type GraphNode, type NeighborsReply, type UnlinkRequest } from '../messages.ts'
import type { OwnerView, Target } from '../routing/routing.ts'
import { levelsMax, sharedLevels } from './membership-vector.ts'
import { comparePositions, isBetween, type Neighbors, type Side } from './neighbors.ts'

export interface GraphComponents {
  readonly host: Host
  readonly neighbors: Neighbors
  /** This node in the graph; undefined while it owns nothing. */
  self (): GraphNode | undefined
  learn (view: OwnerView): void
  /** Is this a view of another ring? Its nodes are never linked. */
  isForeign (view: OwnerView): boolean
  suspect (view: OwnerView): void
  /** The owner of target, found by claims. */
  lookup (target: Target): Promise<OwnerView>
}

export interface GraphInit {
  /** Milliseconds that a neighbor has to answer. */
  readonly neighborMs: number
  /** Nodes asked in one walk along a level at most; two a level are expected. */
  readonly levelStepsMax: number
  /** Milliseconds between repairs, each of one level. */
  readonly refreshIntervalMs: number
}

const sides = ['left', 'right'] as const

/** Gaps stepped over in one go at most: a guess. */
const deadStepsMax = 4

export class Graph {
  readonly #components: GraphComponents
  readonly #init: GraphInit
  #nextLevel = 0

  constructor (components: GraphComponents, init: GraphInit) {
    this.#components = components
    this.#init = init
  }

  start (): void {
    const { host, neighbors } = this.#components
    host.handle(neighborsMethod, ({ level }) => ({ self: this.#components.self(), ...neighbors.at(level) }))
    host.handle(linkMethod, ({ level, node }) => {
      const self = this.#components.self()
      if (self === undefined || this.#components.isForeign(node.view)) return { self: undefined }
      // meant for the store that was open here before
      if (sharedLevels(node.vector, self.vector) < level) return { self }
      this.#components.learn(node.view)
      return { self, closer: neighbors.offer(self, level, node) }
    })
    host.handle(unlinkMethod, request => {
      this.#unlinked(request)
      return {}
    })
  }

  /** Link in at every level above 0, from the lowest up, until a level has nobody else. */
  async insert (signal: AbortSignal): Promise<void> {
    for (let level = 1; level <= levelsMax && !signal.aborted; level++) {
      const links = this.#components.neighbors.at(level)
      const [left, right] = await Promise.all(sides.map(async side => links[side] ?? await this.#linkAt(level, side)))
      if (left === undefined && right === undefined) return
    }
  }

  /** After a restart: tell every link that this node is here, at its present address. */
  async announce (): Promise<void> {
    const { neighbors } = this.#components
    for (let level = 0; level < neighbors.height; level++) {
      const links = neighbors.at(level)
      await Promise.all(sides.map(async side => {
        const link = links[side]
        if (link !== undefined) await this.#linkWith(level, side, link)
      }))
    }
  }

  /** Repair one level; the next call takes the next. */
  async refresh (): Promise<void> {
    const level = this.#nextLevel
    this.#nextLevel = level >= this.#components.neighbors.height ? 0 : level + 1
    await Promise.all(sides.map(async side => { await this.#refreshAt(level, side) }))
  }

  /** Tell the neighbors of every level that this node leaves its place and who stands on its other side. Resolves when each has heard it or did not answer. */
  async unlink (member: MemberId, placement: number): Promise<void> {
    const { host, neighbors } = this.#components
    const told: Array<Promise<unknown>> = []
    for (let level = 0; level < neighbors.height; level++) {
      const { left, right } = neighbors.at(level)
      for (const node of [left, right]) {
        if (node !== undefined) told.push(host.call(node.view.owner.contact, unlinkMethod, { level, member, placement, left, right }, { deadlineMs: this.#init.neighborMs }))
      }
    }
    await Promise.allSettled(told)
  }

  #unlinked ({ level, member, placement, left, right }: UnlinkRequest): void {
    const { neighbors } = this.#components
    const self = this.#components.self()
    if (self === undefined) return
    for (const side of sides) {
      const link = neighbors.at(level)[side]
      const other = side === 'left' ? left : right
      if (link?.view.owner.id !== member || link.placement > placement) continue
      const fits = other !== undefined && other.view.owner.id !== self.view.owner.id && sharedLevels(other.vector, self.vector) >= level && isOnSide(other.view, self.view, side)
      neighbors.set(level, side, fits ? other : undefined)
    }
  }

  /** Find the nearest node on one side whose vector belongs to level, and link with it. */
  async #linkAt (level: number, side: Side): Promise<GraphNode | undefined> {
    const { neighbors } = this.#components
    const self = this.#components.self()
    if (self === undefined) return undefined
    let node = neighbors.at(level - 1)[side]
    for (let step = 0; node !== undefined && step < this.#init.levelStepsMax; step++) {
      const linked = sharedLevels(node.vector, self.vector) >= level ? await this.#linkWith(level, side, node) : undefined
      if (linked !== undefined) return linked
      const reply = await this.#ask(node, level - 1)
      node = reply === undefined && level === 1 ? await this.#behind(node, side) : reply?.[side]
      if (node !== undefined && !isOnSide(node.view, self.view, side)) return undefined
    }
    return undefined
  }

  /** A dead node keeps its place at level 0, for it still owns its keys: the list goes on with who owns those behind it. */
  async #behind ({ view }: GraphNode, side: Side): Promise<GraphNode | undefined> {
    const { host, lookup } = this.#components
    let dead = view.interval
    for (let step = 0; step < deadStepsMax; step++) {
      if (side === 'left' ? dead.low.length === 0 : dead.high === undefined) return undefined
      try {
        const { owner } = await lookup(side === 'left' ? { key: dead.low, below: true } : { key: dead.high!, below: false })
        return (await host.call(owner.contact, neighborsMethod, { level: 0 }, { deadlineMs: this.#init.neighborMs })).self
      } catch (error) {
        // more dead nodes side by side: the error names all their keys
        if (!(error instanceof OwnerUnreachableError)) return undefined
        dead = error.interval
      }
    }
    return undefined
  }

  /** Tell node that it has us beside it; where it knows a closer one, go on there. */
  async #linkWith (level: number, side: Side, first: GraphNode): Promise<GraphNode | undefined> {
    const { host, neighbors } = this.#components
    let node = first
    for (let step = 0; step < this.#init.levelStepsMax; step++) {
      const self = this.#components.self()
      if (self === undefined) return undefined
      let reply
      try {
        reply = await host.call(node.view.owner.contact, linkMethod, { level, node: self }, { deadlineMs: this.#init.neighborMs })
      } catch {
        this.#components.suspect(node.view)
        return undefined
      }
      // another store may be open there by now
      if (reply.self === undefined || sharedLevels(reply.self.vector, self.vector) < level) return undefined
      node = reply.self
      this.#components.learn(node.view)
      const now = this.#components.self()
      if (now === undefined) return undefined
      // whoever came closer in the meantime stays
      const present = neighbors.at(level)[side]
      if (isOnSide(node.view, now.view, side) && (present === undefined || present.view.owner.id === node.view.owner.id || isBetween(node.view, present.view, now.view))) neighbors.set(level, side, node)
      if (reply.closer === undefined || reply.closer.view.owner.id === now.view.owner.id || !isBetween(reply.closer.view, now.view, node.view)) return node
      node = reply.closer
    }
    return node
  }

  /** Check the link of one side: is it there, is it where it was, has somebody come between? */
  async #refreshAt (level: number, side: Side): Promise<void> {
    const { neighbors } = this.#components
    const link = neighbors.at(level)[side]
    const self = this.#components.self()
    if (self === undefined) return
    if (link === undefined) {
      if (level > 0) await this.#linkAt(level, side)
      return
    }
    const reply = await this.#ask(link, level)
    if (reply === undefined && level === 0) await this.#forgetSuperseded(side, link)
    if (reply === undefined || neighbors.at(level)[side]?.view.owner.id !== link.view.owner.id) return
    const now = this.#components.self()
    if (now === undefined) return
    if (reply.self?.view.owner.id !== link.view.owner.id || reply.self.placement !== link.placement || !isOnSide(reply.self.view, now.view, side)) {
      neighbors.drop(link.view.owner.id)
      if (level > 0) await this.#linkAt(level, side)
      return
    }
    neighbors.set(level, side, reply.self)
    const back = side === 'left' ? reply.right : reply.left
    if (back?.view.owner.id === now.view.owner.id) return
    const closer = back !== undefined && sharedLevels(back.vector, now.vector) >= level && isBetween(back.view, now.view, reply.self.view)
    await this.#linkWith(level, side, closer ? back : reply.self)
  }

  /** A silent neighbor at level 0 stays linked while it owns its keys, since the line is broken there; not when another owns them by now. */
  async #forgetSuperseded (side: Side, { view }: GraphNode): Promise<void> {
    const { lookup, neighbors, self } = this.#components
    const run = self()?.view.interval
    if (run === undefined || (side === 'left' ? run.low.length === 0 : run.high === undefined)) return
    try {
      const { owner } = await lookup(side === 'left' ? { key: run.low, below: true } : { key: run.high!, below: false })
      if (owner.id !== view.owner.id && neighbors.at(0)[side]?.view.owner.id === view.owner.id) neighbors.set(0, side, undefined)
    } catch (error) {
      if (!(error instanceof OwnerUnreachableError)) throw error
    }
  }

  async #ask (node: GraphNode, level: number): Promise<NeighborsReply | undefined> {
    const { host, isForeign, learn, suspect } = this.#components
    try {
      const reply = await host.call(node.view.owner.contact, neighborsMethod, { level }, { deadlineMs: this.#init.neighborMs })
      if (reply.self !== undefined && isForeign(reply.self.view)) return {}
      for (const heard of [reply.self, reply.left, reply.right]) if (heard !== undefined) learn(heard.view)
      return reply
    } catch {
      suspect(node.view)
      return undefined
    }
  }
}

function isOnSide (node: OwnerView, self: OwnerView, side: Side): boolean {
  const order = comparePositions(node, self)
  return side === 'left' ? order < 0 : order > 0
}
