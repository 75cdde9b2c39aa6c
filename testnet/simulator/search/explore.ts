// Breadth-first search over all orders of events of a small case, each state visited once. Messages stay for ever, so
// loss, delay, doubling and reordering need no events of their own. The first violation found has a shortest trace.

import type { MemberId } from '../../../overlay/member.ts'
import { flush, handle } from './handle.ts'
import { checkMoment } from './moment.ts'
import { Violation } from './oracle.ts'
import { goodHabits, ownershipRules } from './rules.ts'
import type { Habits, Rules } from './rules.ts'
import { abandon, askLease, beginChange, crash, endGrant, forget, restart, retry, write } from './steps.ts'
import { World } from './world.ts'
import type { Plan, WorldInit } from './world.ts'

export interface Case {
  readonly init: Omit<WorldInit, 'messagesStay'>
  /** Changes that may each be started once, at any time. */
  readonly changes: ReadonlyArray<Plan & { readonly by: MemberId, readonly source: MemberId }>
  /** How often each kind of event may happen in all. */
  readonly budget: Readonly<Partial<Record<'write' | 'crash' | 'retry' | 'abandon' | 'lease' | 'forget', number>>>
}

export interface Exploration {
  readonly statesCount: number
  /** True when no state was left to visit. */
  readonly exhausted: boolean
  readonly violation: string | undefined
  /** Events that lead to the violation. */
  readonly trace: readonly string[]
  /** Most decisions in any state. */
  readonly decisionsMax: number
}

type Budget = Readonly<Record<string, number>>

interface State {
  readonly world: World
  readonly budget: Budget
  readonly parent: State | undefined
  readonly event: string
}

interface Event {
  readonly name: string
  /** Which budget it takes from. */
  readonly cost?: string
  readonly run: (world: World) => boolean
}

export function explore (explored: Case, statesCountMax: number, rules: Rules = ownershipRules, habits: Habits = goodHabits): Exploration {
  const budget: Record<string, number> = { ...explored.budget }
  explored.changes.forEach((_, index) => { budget[`change ${index}`] = 1 })
  let frontier: State[] = [{ world: new World({ ...explored.init, messagesStay: true }, rules, habits), budget, parent: undefined, event: 'start' }]
  const seen = new Set([fingerprint(frontier[0]!)])
  let decisionsMax = 0
  while (frontier.length > 0 && seen.size < statesCountMax) {
    const next: State[] = []
    for (const state of frontier) {
      if (seen.size >= statesCountMax) break
      for (const event of eventsOf(state, explored)) {
        const world = state.world.clone()
        const reached = { world, budget: event.cost === undefined ? state.budget : { ...state.budget, [event.cost]: state.budget[event.cost]! - 1 }, parent: state, event: event.name }
        try {
          if (!event.run(world) || (event.cost === undefined && world.sameAs(state.world))) continue
          checkMoment(world)
        } catch (error) {
          if (!(error instanceof Violation)) throw error
          return { statesCount: seen.size, exhausted: false, violation: error.message, trace: traceOf(reached), decisionsMax }
        }
        const print = fingerprint(reached)
        if (seen.has(print)) continue
        seen.add(print)
        decisionsMax = Math.max(decisionsMax, world.oracle.decisionsCount)
        next.push(reached)
      }
    }
    frontier = next
  }
  return { statesCount: seen.size, exhausted: frontier.length === 0, violation: undefined, trace: [], decisionsMax }
}

function * eventsOf ({ world, budget }: State, explored: Case): Generator<Event> {
  for (const message of world.messages) yield { name: `${message.kind} ${message.from}>${message.to}`, run: world => handle(world, message) }
  for (const [index, change] of explored.changes.entries()) {
    const cost = `change ${index}`
    if (budget[cost]! > 0) yield { name: `${change.by} begins ${cost}`, cost, run: world => beginChange(world, world.node(change.by), change, change.source) }
  }
  for (const { id } of world.nodes) {
    yield { name: `${id} restarts`, run: world => restart(world, world.node(id)) }
    for (const [cost, step] of [['crash', crash], ['retry', retry], ['abandon', abandon], ['lease', askLease]] as const) {
      if ((budget[cost] ?? 0) > 0) yield { name: `${id} ${cost}`, cost, run: world => step(world, world.node(id)) }
    }
    for (const key of world.keys()) {
      yield { name: `${id} flushes ${key}`, run: world => flush(world, world.node(id), key) }
      yield { name: `${id} ends grant ${key}`, run: world => endGrant(world, world.node(id), key) }
      for (const [cost, step] of [['write', write], ['forget', forget]] as const) {
        if ((budget[cost] ?? 0) > 0) yield { name: `${id} ${cost} ${key}`, cost, run: world => step(world, world.node(id), key) }
      }
    }
  }
}

function traceOf (state: State): string[] {
  const trace: string[] = []
  for (let at: State | undefined = state; at !== undefined; at = at.parent) trace.unshift(at.event)
  return trace
}

/** Equal for equal states only. */
function fingerprint ({ world, budget }: State): string {
  return `${Object.values(budget).join()} ${world.encode()}`
}
