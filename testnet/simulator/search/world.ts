// A small world that runs the rules of ownership as they are, over a line of a few keys, under an adversary who decides
// what happens next: which message arrives (late, again or never), who crashes, who starts which change, whose lease
// ends. Here is its state; `handle.ts` has what a node does with a message, `steps.ts` what the adversary may do.
//
// Left out: contents (a value is its version), several chains, purging, lost disks, and time: a lease is a token that
// a member ends only after the owner has stopped counting it, which is what the real timing must achieve.

import { IntervalMap } from '../../../overlay/interval-map.ts'
import { lowestKey } from '../../../overlay/interval.ts'
import { newRegisters } from '../../../overlay/ownership/register.ts'
import type { Interval } from '../../../overlay/interval.ts'
import type { MemberId } from '../../../overlay/member.ts'
import type { AcceptReply, AcceptRequest } from '../../../overlay/ownership/accept.ts'
import type { Claim, Piece } from '../../../overlay/ownership/claim.ts'
import type { PromiseReply, PromiseRequest } from '../../../overlay/ownership/promise.ts'
import type { Proposal, Wish } from '../../../overlay/ownership/proposal.ts'
import type { Register, Registers } from '../../../overlay/ownership/register.ts'
import { Oracle } from './oracle.ts'
import type { Habits, Rules } from './rules.ts'

/** Keys that a change covers: from (included) to (excluded). */
export interface Plan extends Wish {
  readonly from: number
  readonly to: number
}

export interface WorldInit {
  readonly members: readonly MemberId[]
  readonly keysCount: number
  /** Who owns the keys at first: runs from `from` up to the next one. */
  readonly first: ReadonlyArray<Wish & { readonly from: number, readonly epoch: number }>
  /** Are reads bound to leases, and claimers held up by them? */
  readonly leases: boolean
  /** Milliseconds by which each member's clock is ahead; without it versions are given by epoch and no ceiling is used. */
  readonly clocks: readonly number[] | undefined
  /** Bring a snapshot first and the rest after the promise; otherwise all rows after the promise. */
  readonly fills: boolean
  /** Messages stay, to arrive again at any time; otherwise whoever delivers one may take it away. */
  readonly messagesStay: boolean
}

interface Write {
  readonly version: number
  /** False when an owner only brings what it has to its members again. */
  readonly client: boolean
  readonly flushed: boolean
  readonly flushedBy: readonly MemberId[]
  /** What had been acknowledged or read when it began. */
  readonly above: number
}

interface Session {
  readonly name: string
  readonly dirty: readonly number[]
}

interface Change {
  readonly plan: Plan
  readonly source: MemberId
  readonly learners: readonly MemberId[]
  readonly session: string
  readonly filled: readonly MemberId[]
  readonly bases: readonly Piece[]
  readonly proposal: Proposal | undefined
  readonly phase: 'fill' | 'prepare' | 'tail' | 'accept'
}

interface Grant {
  readonly claim: Claim
  readonly round: number
}

export interface Node {
  readonly id: MemberId
  up: boolean
  // Flushed: survives a crash.
  registers: Registers
  counter: number
  versions: number[]
  boot: number
  /** Names of claims that this store was filled for and has not held yet. */
  expects: readonly string[]
  // Memory: lost in a crash. Grants given stay, since a restarted member waits for a full lease before it promises.
  writes: Array<Write | undefined>
  synced: boolean[]
  bootFloors: number[]
  grants: Array<Grant | undefined>
  grantRounds: number[]
  heldFrom: Array<readonly MemberId[]>
  ceilings: Array<ReadonlyArray<readonly [MemberId, number]>>
  sessions: readonly Session[]
  change: Change | undefined
}

interface KeyClaim {
  readonly key: number
  readonly claim: Claim
  readonly ceiling: number
  readonly round: number
}

export type Body =
  | { readonly kind: 'fill', readonly plan: Plan, readonly session: string, readonly learners: readonly MemberId[] }
  | { readonly kind: 'snapshot', readonly rows: ReadonlyArray<readonly [number, number]>, readonly session: string, readonly claimer: MemberId }
  | { readonly kind: 'filled', readonly session: string }
  | { readonly kind: 'prepare', readonly request: PromiseRequest }
  | { readonly kind: 'promise', readonly reply: PromiseReply }
  | { readonly kind: 'askTail', readonly claim: Claim, readonly intervals: readonly Interval[], readonly session: string, readonly learners: readonly MemberId[] }
  | { readonly kind: 'tail', readonly claim: Claim, readonly rows: ReadonlyArray<readonly [number, number]>, readonly claimer: MemberId }
  | { readonly kind: 'full', readonly claim: Claim }
  | { readonly kind: 'accept', readonly request: AcceptRequest }
  | { readonly kind: 'accepted', readonly reply: AcceptReply }
  | { readonly kind: 'decided', readonly pieces: readonly Piece[] }
  | { readonly kind: 'lease', readonly keys: readonly KeyClaim[], readonly boot: number }
  | { readonly kind: 'grant', readonly keys: readonly KeyClaim[], readonly boot: number }
  | { readonly kind: 'write', readonly key: number, readonly claim: Claim, readonly version: number }
  | { readonly kind: 'written', readonly key: number, readonly version: number }

export type Message = Body & { readonly from: MemberId, readonly to: MemberId }

const firstMember = 'z'

export class World {
  readonly init: WorldInit
  readonly rules: Rules
  readonly habits: Habits
  nodes: Node[]
  messages: readonly Message[] = []
  oracle: Oracle
  sessionsCount = 0
  /** What happened, for the counts beside a verdict. */
  writesCount = 0
  adoptionsCount = 0

  constructor (init: WorldInit, rules: Rules, habits: Habits) {
    this.init = init
    this.rules = rules
    this.habits = habits
    const claims = this.keys().map(key => {
      const index = init.first.findLastIndex(({ from }) => from <= key)
      const { owner, members, epoch } = init.first[index]!
      return { chain: 'c', epoch, owner, members, floor: 0, by: { counter: index + 1, member: firstMember } }
    })
    const segments = claims.map((claim, key) => ({ interval: this.span(key, key + 1), value: { claim, promised: undefined, accepted: undefined, ceiling: 0 } }))
    const none = claims.map(() => 0)
    this.nodes = init.members.map(id => ({
      id, up: true, registers: newRegisters(segments), counter: 0, boot: 1, versions: none, expects: [], grants: [], grantRounds: none, ...emptyMemory(claims.length), synced: claims.map(claim => claim.owner === id)
    }))
    this.oracle = new Oracle(claims, (member, key) => this.node(member).versions[key]!)
  }

  clone (): World {
    const clone = Object.create(World.prototype) as World
    Object.assign(clone, this)
    clone.nodes = this.nodes.map(node => ({ ...node }))
    clone.oracle = this.oracle.copy((member, key) => clone.node(member).versions[key]!)
    return clone
  }

  node (id: MemberId): Node {
    return this.nodes[this.init.members.indexOf(id)]!
  }

  keys (): number[] {
    return [...new Array(this.init.keysCount).keys()]
  }

  /** The keys from..to - 1 as an interval: the first begins at the empty key, the last one is open. */
  span (from: number, to: number): Interval {
    return { low: from === 0 ? lowestKey : Uint8Array.of(from), high: to === this.init.keysCount ? undefined : Uint8Array.of(to) }
  }

  keysIn (interval: Interval): number[] {
    const high = interval.high?.[0] ?? this.init.keysCount
    return this.keys().filter(key => key >= (interval.low[0] ?? 0) && key < high)
  }

  register (node: Node, key: number): Register | undefined {
    return node.registers.get(Uint8Array.of(key))
  }

  /** Is this surely the same state as `other`, from which it was cloned? */
  sameAs (other: World): boolean {
    return this.messages === other.messages && this.oracle.sameAs(other.oracle) && this.nodes.every((node, index) => {
      const before = other.nodes[index]!
      return (Object.keys(node) as Array<keyof Node>).every(name => node[name] === before[name])
    })
  }

  /** A text that is equal for equal states. */
  encode (): string {
    const nodes = this.nodes.map(node => {
      const flushed = [node.registers, node.counter, node.versions, node.boot, node.expects]
      const memory = [node.up, node.writes, node.synced, node.bootFloors, node.grants, node.grantRounds, node.heldFrom, node.ceilings, node.sessions, node.change]
      return [...flushed, ...memory].map(nameOf).join(' ')
    })
    return `${nodes.join('\n')}\n${this.messages.map(messageNumber).sort((a, b) => a - b).join()}\n${this.oracle.encode()}`
  }
}

/** What a crash takes. */
export function emptyMemory (keysCount: number): Pick<Node, 'writes' | 'synced' | 'bootFloors' | 'heldFrom' | 'ceilings' | 'sessions' | 'change'> {
  function each<T> (value: T): T[] {
    return new Array(keysCount).fill(value)
  }
  return { writes: each(undefined), synced: each(false), bootFloors: each(0), heldFrom: each([]), ceilings: each([]), sessions: [], change: undefined }
}

/** list with another value at index; list itself when it is there already. */
export function withAt<T> (list: T[], index: number, value: T): T[] {
  if (list[index] === value) return list
  const copy = [...list]
  copy[index] = value
  return copy
}

const numbersByText = new Map<string, number>()
const numbersByObject = new WeakMap<object, number>()

/** A number that is the same for equal objects, whatever their identity: each is told by the numbers of its parts. */
function numberOf (value: object): number {
  let number = numbersByObject.get(value)
  if (number === undefined) {
    const parts = value instanceof IntervalMap ? value.entries() : value instanceof Uint8Array ? [...value] : Object.values(value)
    const text = `${Array.isArray(value)}${value instanceof Uint8Array}${parts.map(nameOf).join()}`
    number = numbersByText.get(text) ?? numbersByText.size
    numbersByText.set(text, number)
    numbersByObject.set(value, number)
  }
  return number
}

function nameOf (value: unknown): string {
  return typeof value === 'object' && value !== null ? `#${numberOf(value)}` : `${value as string | number | boolean | undefined}`
}

/** Equal messages have equal numbers. */
export function messageNumber (message: Message): number {
  return numberOf(message)
}
