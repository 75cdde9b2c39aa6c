// Random walks through the same world, deeper than a full search can go: one walk a seed. Which messages are lost, how
// far they are reordered, who changes what and how often differs from walk to walk, so that rare orders have their turn.

import type { MemberId } from '../../../overlay/member.ts'
import { isMember } from '../../../overlay/ownership/claim.ts'
import { flush, handle } from './handle.ts'
import { checkMoment } from './moment.ts'
import { Violation } from './oracle.ts'
import { goodHabits, ownershipRules } from './rules.ts'
import type { Habits, Rules } from './rules.ts'
import { abandon, askLease, beginChange, crash, endGrant, forget, read, restart, retry, write } from './steps.ts'
import { World } from './world.ts'
import type { Node, Plan, WorldInit } from './world.ts'

export interface Wandering {
  readonly init: Omit<WorldInit, 'messagesStay' | 'clocks'>
  /** Most members of a claim. */
  readonly copies: number
  readonly stepsCount: number
  /** Are versions given by clocks that differ, under ceilings? */
  readonly skewed: boolean
  readonly forgets: boolean
  /** Are there writes and reads? Without them a walk goes deeper into the choice of successors. */
  readonly data: boolean
}

export interface Walk {
  readonly violation: string | undefined
  readonly decisionsCount: number
  readonly writesCount: number
  readonly readsCount: number
  readonly adoptionsCount: number
}

/** Uniform integers below n, after mulberry32. */
export type Dice = (n: number) => number

export function diceOf (seed: number): Dice {
  let state = seed >>> 0
  return n => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % n
  }
}

interface Mood {
  /** Of a hundred steps, how many bring a message. */
  readonly deliverPercent: number
  readonly losePercent: number
  /** Of ten messages, how many are among the newest few. */
  readonly newestTenths: number
  crashesLeft: number
  changesLeft: number
}

export function wander (seed: number, wandering: Wandering, rules: Rules = ownershipRules, habits: Habits = goodHabits): Walk {
  const { init, stepsCount, skewed } = wandering
  const dice = diceOf(seed)
  const clocks = skewed ? init.members.map(() => dice(12)) : undefined
  const world = new World({ ...init, clocks, messagesStay: false }, rules, habits)
  const mood: Mood = { deliverPercent: 40 + dice(40), losePercent: 3 * dice(3), newestTenths: 3 * dice(4), crashesLeft: dice(5), changesLeft: 1 + dice(5) }
  let readsCount = 0
  let violation: string | undefined
  try {
    for (let step = 0; step < stepsCount; step++) {
      if (world.messages.length > 0 && dice(100) < mood.deliverPercent) deliver(world, dice, mood)
      else if (act(world, dice, mood, wandering) === 'read') readsCount++
      checkMoment(world)
    }
  } catch (error) {
    if (!(error instanceof Violation)) throw error
    violation = error.message
  }
  return { violation, decisionsCount: world.oracle.decisionsCount, writesCount: world.writesCount, readsCount, adoptionsCount: world.adoptionsCount }
}

function deliver (world: World, dice: Dice, mood: Mood): void {
  const { length } = world.messages
  const index = dice(10) < mood.newestTenths ? length - 1 - dice(Math.min(4, length)) : dice(length)
  const message = world.messages[index]!
  const stays = dice(100) >= 96
  if (!stays) world.messages = world.messages.filter((_, other) => other !== index)
  if (dice(100) < mood.losePercent) return
  handle(world, message)
}

function act (world: World, dice: Dice, mood: Mood, { copies, forgets, data }: Wandering): 'read' | undefined {
  const kind = data ? dice(100) : [8, 12, 72, 86, 92][dice(5)]! + dice(8)
  const key = dice(world.init.keysCount)
  const any = world.nodes[dice(world.nodes.length)]!
  const owners = world.nodes.filter(node => node.up && world.register(node, key)?.claim.owner === node.id)
  const owner = owners[dice(Math.max(1, owners.length))] ?? any
  if (kind < 8) {
    endGrant(world, any, key)
  } else if (kind < 12) {
    if (mood.crashesLeft > 0 && crash(world, any)) mood.crashesLeft--
  } else if (kind < 20) {
    restart(world, any)
  } else if (kind < 32) {
    if (world.init.leases || world.init.clocks !== undefined) askLease(world, owner)
  } else if (kind < 52) {
    if (!flush(world, owner, key) || dice(2) === 0) write(world, owner, key)
  } else if (kind < 72) {
    return read(world, owner, key) ? 'read' : undefined
  } else if (kind < 86) {
    if (mood.changesLeft > 0 && beginAny(world, dice, any, owner, key, copies)) mood.changesLeft--
  } else if (kind < 92) {
    retry(world, any)
  } else if (kind < 94) {
    abandon(world, any)
  } else if (forgets) {
    forget(world, any, key)
  }
  return undefined
}

/** Hand-off of a part, takeover, change of copies, merge, or anything else that the rules allow. */
function beginAny (world: World, dice: Dice, any: Node, owner: Node, key: number, copies: number): boolean {
  const kind = dice(5)
  const node = kind === 0 || kind === 3 ? any : owner
  const { from, to } = runAround(world, node, key)
  const cut = dice(2) === 0 ? { from: key, to } : { from, to: key + 1 }
  const span = kind === 1 || kind === 3 ? cut : kind === 4 ? { from: dice(key + 1), to: key + 1 + dice(world.init.keysCount - key) } : { from, to }
  const newOwner = kind === 0 ? node.id : kind === 2 ? owner.id : world.init.members[dice(world.init.members.length)]!
  const bases = world.rules.basesOf(node.registers, world.span(span.from, span.to))
  const sources = world.init.members.filter(member => bases?.every(({ claim }) => isMember(claim, member)))
  if (sources.length === 0) return false
  const source = sources.includes(node.id) ? node.id : sources[dice(sources.length)]!
  const plan: Plan = { ...span, owner: newOwner, members: someMembers(world, dice, newOwner, copies) }
  return beginChange(world, node, plan, source)
}

/** The keys around key that node holds under one claim. */
function runAround (world: World, node: Node, key: number): { from: number, to: number } {
  function same (other: number): boolean {
    return world.register(node, other)?.claim === world.register(node, key)?.claim
  }
  let from = key
  let to = key + 1
  while (from > 0 && same(from - 1)) from--
  while (to < world.init.keysCount && same(to)) to++
  return { from, to }
}

function someMembers (world: World, dice: Dice, owner: MemberId, copies: number): MemberId[] {
  const members = [owner]
  const wanted = copies === 1 ? 1 : 1 + dice(copies)
  while (members.length < wanted) {
    const member = world.init.members[dice(world.init.members.length)]!
    if (!members.includes(member)) members.push(member)
  }
  return members.sort()
}
