// What the adversary may let happen next, beside the arrival of a message: each step is one atomic step of one node.
// A step returns false, and changes nothing, when it makes no sense now.

import { hasMajority, isMember, sameClaim, supersedes } from '../../../overlay/ownership/claim.ts'
import type { MemberId } from '../../../overlay/member.ts'
import { acknowledge, prepare, send } from './handle.ts'
import { shows } from './moment.ts'
import { emptyMemory, withAt } from './world.ts'
import type { Node, Plan, World } from './world.ts'

/** Versions a member can give within one millisecond: its number among the members is the last part. */
const versionsPerMs = 16
/** Without clocks: room for so many boots an epoch and writes a boot. */
const timesPerBoot = 256
const timesPerEpoch = 16 * timesPerBoot

/** Node starts plan: from its newest decided claims, with source to fill from. */
export function beginChange (world: World, node: Node, plan: Plan, source: MemberId): boolean {
  if (!node.up || node.change !== undefined) return false
  const bases = world.rules.basesOf(node.registers, world.span(plan.from, plan.to))
  if (bases === undefined || !bases.every(({ claim }) => isMember(claim, source))) return false
  const learners = plan.members.filter(member => member !== source && !bases.every(({ claim }) => isMember(claim, member)))
  const session = world.init.fills ? `s${world.sessionsCount++}` : ''
  node.change = { plan, source, learners, session, filled: [], bases, proposal: undefined, phase: 'fill' }
  if (world.init.fills && learners.length > 0) send(world, node.id, source, { kind: 'fill', plan, session, learners })
  else prepare(world, node)
  return true
}

/** A new ballot for the same change, while its bases are the newest that its claimer knows. */
export function retry (world: World, node: Node): boolean {
  const { change } = node
  if (!node.up || change === undefined || change.phase === 'fill') return false
  const stale = change.bases.some(({ interval, claim }) => world.keysIn(interval).some(key => {
    const held = world.register(node, key)?.claim
    return held === undefined || !sameClaim(held, claim)
  }))
  if (stale) node.change = undefined
  else prepare(world, node)
  return true
}

export function abandon (world: World, node: Node): boolean {
  if (!node.up || node.change === undefined) return false
  node.change = undefined
  return true
}

/** Flushed state and grants stay; a restarted member waits for a full lease before it promises. */
export function crash (world: World, node: Node): boolean {
  if (!node.up) return false
  Object.assign(node, emptyMemory(world.init.keysCount), { up: false })
  return true
}

export function restart (world: World, node: Node): boolean {
  if (node.up) return false
  node.up = true
  node.boot++
  node.bootFloors = world.keys().map(key => {
    const register = world.register(node, key)
    return register === undefined || !world.habits.floorAfterBoot ? 0 : world.rules.nextFloorAfterBoot(register)
  })
  return true
}

/** The owner begins a write, brings what it has to its members again, or repeats what is under way. */
export function write (world: World, node: Node, key: number): boolean {
  const register = world.register(node, key)
  if (!node.up || register?.claim.owner !== node.id || !world.rules.mayWrite(register, node.id, register.claim)) return false
  if (node.writes[key] !== undefined) {
    tellWrite(world, node, key)
    return true
  }
  const above = world.oracle.seen(key)
  if (!node.synced[key]) {
    node.writes = withAt(node.writes, key, { version: node.versions[key]!, client: false, flushed: true, flushedBy: [node.id], above })
  } else {
    const timeMs = nextTime(world, node, key)
    if (world.init.clocks !== undefined && timeMs >= usableCeiling(world, node, key)) return false
    const version = timeMs * versionsPerMs + world.init.members.indexOf(node.id)
    world.oracle.gave(key, register.claim.epoch, version)
    world.writesCount++
    node.writes = withAt(node.writes, key, { version, client: true, flushed: false, flushedBy: [], above })
  }
  tellWrite(world, node, key)
  acknowledge(world, node, key)
  return true
}

function tellWrite (world: World, node: Node, key: number): void {
  const { claim } = world.register(node, key)!
  const { version, flushedBy } = node.writes[key]!
  for (const member of claim.members) {
    if (member !== node.id && !flushedBy.includes(member)) send(world, node.id, member, { kind: 'write', key, claim, version })
  }
}

/** Without clocks the epoch leads, so that no ceiling is needed. */
function nextTime (world: World, node: Node, key: number): number {
  const { claim } = world.register(node, key)!
  const next = Math.floor(node.versions[key]! / versionsPerMs) + 1
  const { clocks } = world.init
  if (clocks === undefined) return Math.max(next, claim.epoch * timesPerEpoch + node.boot * timesPerBoot)
  return Math.max(next, clocks[world.init.members.indexOf(node.id)]!, claim.floor, node.bootFloors[key]!)
}

/** The highest ceiling that a majority of the members has flushed. */
function usableCeiling (world: World, node: Node, key: number): number {
  const { members } = world.register(node, key)!.claim
  const ceilings = members.map(member => node.ceilings[key]!.find(([other]) => other === member)?.[1] ?? 0).sort((a, b) => b - a)
  return ceilings[Math.floor(ceilings.length / 2)]!
}

/** The owner asks its members for a lease and for a higher ceiling. */
export function askLease (world: World, node: Node): boolean {
  if (!node.up) return false
  const keys = world.keys().flatMap(key => {
    const register = world.register(node, key)
    if (register === undefined || !world.rules.mayServe(register, node.id)) return []
    return [{ key, claim: register.claim, ceiling: world.init.clocks === undefined ? 0 : nextTime(world, node, key) + 2, round: 0 }]
  })
  for (const member of new Set(keys.flatMap(({ claim }) => claim.members))) {
    send(world, node.id, member, { kind: 'lease', boot: node.boot, keys: keys.filter(({ claim }) => isMember(claim, member)) })
  }
  return keys.length > 0
}

/** A member's grant ends, after the owner has stopped counting it. */
export function endGrant (world: World, node: Node, key: number): boolean {
  const grant = node.grants[key]
  if (grant === undefined) return false
  node.grants = withAt(node.grants, key, undefined)
  node.grantRounds = withAt(node.grantRounds, key, node.grantRounds[key]! + 1)
  const owner = world.node(grant.claim.owner)
  owner.heldFrom = withAt(owner.heldFrom, key, owner.heldFrom[key]!.filter(member => member !== node.id))
  return true
}

/** A value is shown only while no write to it is under way, and after the members have had all of it. */
export function read (world: World, node: Node, key: number): boolean {
  if (!shows(world, node, key)) return false
  world.oracle.read(key, node.versions[key]!)
  return true
}

/**
 * After the grace a former member forgets what it held of key, if a majority of the newest claim's members knows it.
 * The grace outlives each message and each change under way; what is flushed may be as old as it likes.
 */
export function forget (world: World, node: Node, key: number): boolean {
  const held = world.register(node, key)?.claim
  if (held === undefined || isMember(held, node.id)) return false
  const knowing = held.members.filter(member => {
    const known = world.register(world.node(member), key)?.claim
    return known !== undefined && (sameClaim(known, held) || supersedes(known, held))
  })
  if (!hasMajority(knowing, held)) return false
  const registers = node.registers.copy()
  registers.delete(world.span(key, key + 1))
  node.registers = registers
  world.messages = []
  for (const other of world.nodes) Object.assign(other, { change: undefined, sessions: [] })
  return true
}
