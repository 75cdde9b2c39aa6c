// Lookup: find the node that owns a key. Iterative: the asker drives and every answer is one synchronous step, so
// failure and cancellation are simple. It ends at the node whose own decided claim holds the key; hints only say whom
// to ask next. A silent owner does not hang it: the bracket closes around the dead node from both sides, which gives
// the missing interval.

import { errorName, isDefinite, OwnerUnreachableError, TimeoutError } from '../errors.ts'
import type { Host } from '../host.ts'
import { lookupMethod } from '../messages.ts'
import { keyText } from '../key-text.ts'
import type { MemberId } from '../member.ts'
import { isNewer, type Atlas } from './atlas.ts'
import { Bracket, covers, type Failure } from './bracket.ts'
import type { OwnerView, Target, Trace } from './routing.ts'

export interface LookupComponents {
  readonly host: Host
  readonly atlas: Atlas
  readonly self: () => MemberId
  /** Is this a view of another ring than the one that this node serves in? Such a node may stand at an address that was ours. */
  isForeign (view: OwnerView): boolean
  /** What this node knows near a key: its own run, links and atlas entries. */
  near (target: Target): { own: OwnerView | undefined, near: readonly OwnerView[] }
  /** Take in a view heard from the network. */
  learn (view: OwnerView): void
  /** A node did not answer. */
  suspect (view: OwnerView): void
}

export interface LookupInit {
  /** Requests of one lookup at most. */
  readonly hopsMax: number
  /** Milliseconds that one node has to answer before the next is tried. */
  readonly attemptMs: number
  /** The same for a node that has just been silent. */
  readonly probeMs: number
  /** First wait, in ms, when a key is changing hands or its new owner is not known yet; doubles. */
  readonly backoffMs: number
  readonly backoffMsMax: number
  /** Milliseconds without an answer from an owner, tried at least twice, after which its keys count as unreachable. */
  readonly silentMs: number
}

export interface FailedNode {
  readonly view: OwnerView
  readonly how: Failure
}

export interface LookupOptions {
  /** On Host.now(), when to give up. */
  readonly endMs: number
  readonly signal?: AbortSignal | undefined
  readonly trace?: Trace | undefined
  /** Nodes that just failed to answer the caller. */
  readonly failed?: readonly FailedNode[] | undefined
}

/**
 * The owner of target by its own word.
 *
 * @throws OwnerUnreachableError (names the interval), TimeoutError, AbortError
 */
export async function lookup (components: LookupComponents, target: Target, init: LookupInit, options: LookupOptions): Promise<OwnerView> {
  const { host } = components
  const bracket = begin(components, target, options.failed ?? [])
  const startMs = host.now()
  let hops = 0
  for (let round = 0; ; round++) {
    for (let next = bracket.next(); next !== undefined && hops < init.hopsMax; next = bracket.next()) {
      hops++
      const owner = await ask(components, bracket, next, init, options)
      if (owner !== undefined) return owner
    }
    const failed = bracket.failedOwner()
    const isOver = failed?.how === 'silent' || (round > 0 && host.now() - startMs >= init.silentMs)
    if (!bracket.changing && hops > 0 && isOver) throw unreachable(bracket, failed?.view)
    const waitMs = Math.min(init.backoffMsMax, init.backoffMs * 2 ** round) * (0.5 + host.random())
    if (hops >= init.hopsMax || host.now() + waitMs > options.endMs) throw failed !== undefined || hops > 0 ? unreachable(bracket, failed?.view) : alone(target)
    await host.sleep(waitMs, options.signal)
    for (const view of components.near(target).near) bracket.hear(view)
    bracket.renew()
  }
}

function begin (components: LookupComponents, target: Target, failed: readonly FailedNode[]): Bracket {
  const bracket = new Bracket(target)
  const { own, near } = components.near(target)
  for (const view of [...failed.map(node => node.view), ...near]) bracket.hear(view)
  // who was silent is probed once more: one message may have been lost
  for (const { view, how } of failed) if (how === 'refused') bracket.failed(view.owner.id, how)
  if (own !== undefined) bracket.answered(own.owner.id, own)
  return bracket
}

/** One hop: the owner's view when the asked node serves the target. */
async function ask (components: LookupComponents, bracket: Bracket, next: OwnerView, init: LookupInit, options: LookupOptions): Promise<OwnerView | undefined> {
  const { host } = components
  const { target } = bracket
  const isProbe = options.failed?.some(({ view }) => view.owner.id === next.owner.id) === true
  const deadlineMs = Math.min(attemptOf(init, options.endMs - host.now()), isProbe ? init.probeMs : Infinity)
  if (deadlineMs <= 0) throw new TimeoutError(`no owner of ${keyText(target.key)} found in time`)
  if (options.trace !== undefined) options.trace.hops++
  try {
    const reply = await host.call(next.owner.contact, lookupMethod, target, { deadlineMs, signal: options.signal })
    if (reply.self !== undefined && components.isForeign(reply.self)) {
      bracket.answered(next.owner.id, undefined)
      components.suspect(next)
      return undefined
    }
    for (const view of reply.near) hear(components, bracket, view)
    if (reply.self !== undefined) components.learn(reply.self)
    bracket.answered(next.owner.id, reply.self)
    // whoever is told by a claim that is news to itself has yet to hear that it is the owner
    const isUntold = reply.owner === undefined && covers(next.interval, target) && (reply.self === undefined || isNewer(next, reply.self))
    if (reply.changing || isUntold) bracket.changing = true
    if (reply.owner !== undefined) {
      components.learn(reply.owner)
      return reply.owner
    }
  } catch (error) {
    if (options.signal?.aborted === true) throw error
    host.log.debug({ node: next.owner.id, error: String(error), definite: isDefinite(error) }, 'lookup hop failed')
    bracket.failed(next.owner.id, failureOf(error))
    components.suspect(next)
  }
  return undefined
}

/** Milliseconds for one of several nodes to answer, with time left to go on without it. */
export function attemptOf ({ attemptMs }: Pick<LookupInit, 'attemptMs'>, remainingMs: number): number {
  return Math.min(attemptMs, remainingMs / 2)
}

export function failureOf (error: unknown): Failure {
  return errorName(error) === 'TimeoutError' ? 'silent' : 'refused'
}

function hear (components: LookupComponents, bracket: Bracket, view: OwnerView): void {
  if (components.isForeign(view)) return
  if (view.owner.id !== components.self()) bracket.hear(view)
  components.learn(view)
}

function unreachable (bracket: Bracket, silent: OwnerView | undefined): OwnerUnreachableError {
  const interval = bracket.gap()
  const who = silent === undefined ? 'no node that answers owns it' : `its owner ${silent.owner.contact.id} does not answer`
  return new OwnerUnreachableError(`key ${keyText(bracket.target.key)}: ${who}`, { interval, ownerId: silent?.owner.contact.id, definite: true })
}

function alone (target: Target): OwnerUnreachableError {
  return new OwnerUnreachableError(`key ${keyText(target.key)}: this node knows no other node`, { interval: { low: new Uint8Array(0), high: undefined }, ownerId: undefined, definite: true })
}
