// What must be true at each moment of a search, whatever happened: at most one node serves a key, what it would show is
// what was acknowledged, and the claims that a node holds lie side by side over the line, each of them decided.

import { hasMajority } from '../../../overlay/ownership/claim.ts'
import { Violation } from './oracle.ts'
import type { Node, World } from './world.ts'

/** Does node answer reads of key as its owner? */
export function serves (world: World, node: Node, key: number): boolean {
  const register = world.register(node, key)
  return node.up && register !== undefined && world.rules.mayServe(register, node.id) && (!world.init.leases || hasMajority(node.heldFrom[key]!, register.claim))
}

/** May a reader see the value of key at node? Not while a write to it is under way or its members may lack it. */
export function shows (world: World, node: Node, key: number): boolean {
  return serves(world, node, key) && node.synced[key]! && node.writes[key] === undefined
}

export function checkMoment (world: World): void {
  if (world.init.leases) checkServing(world)
  for (const node of world.nodes) checkTiling(world, node)
}

/** Without leases a former owner that heard nothing would still answer, so this holds under leases alone. */
function checkServing (world: World): void {
  for (const key of world.keys()) {
    if (world.nodes.filter(node => serves(world, node, key)).length > 1) throw new Violation('two owners serve one key')
    if (world.nodes.some(node => shows(world, node, key) && node.versions[key]! < world.oracle.acknowledged[key]!)) throw new Violation('a read is stale')
  }
}

function checkTiling (world: World, node: Node): void {
  const held = node.registers.entries().flatMap(({ interval, value }) => world.keysIn(interval).map(key => ({ key, claim: value.claim })))
  held.forEach(({ key, claim }, index) => {
    if (index > 0 && key <= held[index - 1]!.key) throw new Violation('two registers lie over one key')
    if (claim.epoch > world.oracle.newest[key]!.epoch) throw new Violation('a claim is held that is newer than the newest decided one')
  })
}
