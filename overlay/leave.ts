// Leave: hand everything to a neighbor, then go. Each run goes whole to the node beside it, by `change`. A node that
// leaves receives nothing, so of two neighbors that leave at once one waits until the other is gone; the last node of
// a ring has nobody to give to and must stop instead. Stopping is not leaving: claims and records stay on disk.

import { errorName } from './errors.ts'
import type { Interval, Key } from './interval.ts'
import type { Member, MemberId } from './member.ts'
import { consentMethod, type GraphNode } from './messages.ts'
import { endsAt } from './ownership/adjacent.ts'
import { change, livingContact, type ChangeComponents, type ChangeInit } from './ownership/change.ts'
import { isMember, type Piece } from './ownership/claim.ts'
import { membersWithout, type CopiesInit } from './ownership/membership.ts'
import { copyCheckMethod } from './ownership/messages.ts'
import { tellOwed, unheard, type News } from './ownership/tell.ts'

export interface LeaveInit extends CopiesInit {
  readonly leaveBackoffMs: number
  readonly neighborMs: number
  /** Pieces that a node takes at most before its adjacent ones have merged. */
  readonly piecesMax: number
}

export interface LeaveComponents extends ChangeComponents {
  /** Called in the step in which all is done: from then on nothing that is decided for this node may be acknowledged. */
  gone (): void
  remember (member: Member): Promise<void>
  /** Who owns key now, by its own word. @throws as lookup */
  ownerOf (key: Key): Promise<Member>
  /** Neighbors at level 0, found anew by claims: right owns the key behind our run, left the keys before it. */
  beside (run: Interval): Promise<GraphNode[]>
}

/** This node could not hand over in time. It still serves what it has. */
export class LeaveError extends Error {
  override readonly name = 'LeaveError'
  readonly definite = true
}

/**
 * Resolves when this node owns nothing, the new owners know what they own, and no neighbor is handing anything over to
 * it: a hand-over that had begun before is taken, and given on.
 *
 * @throws LeaveError, AbortError
 */
export async function leave (components: LeaveComponents, init: LeaveInit & ChangeInit, signal: AbortSignal): Promise<void> {
  const { host, holdings, gone } = components
  holdings.refuseFills(true)
  try {
    for (;;) {
      await giveAll(components, init, signal)
      await allHeard(components, init, signal)
      await retire(components, init, signal)
      if (isDone(components)) {
        gone()
        return
      }
      if (signal.aborted) throw new LeaveError('a neighbor is still handing over to this node; leave again when it is done')
      await host.sleep(init.leaveBackoffMs)
    }
  } catch (error) {
    holdings.refuseFills(false)
    throw error
  }
}

function isDone ({ ownership, holdings, identity }: LeaveComponents): boolean {
  return ownership.ownedRuns().length === 0 && stillUnheard(ownership).length === 0 && !holdings.isFilling() && copiesHeld(ownership, identity.member).length === 0
}

/** What was decided since boot and not acknowledged. What is owed from before is not this leave's: such a member may be gone for good. */
function stillUnheard ({ owed }: LeaveComponents['ownership']): News[] {
  return unheard([...owed].filter(({ isFromBoot }) => !isFromBoot))
}

async function giveAll (components: LeaveComponents, init: LeaveInit & ChangeInit, signal: AbortSignal): Promise<void> {
  const { host, ownership } = components
  let last = 'no neighbor answered'
  for (let attempt = 0; ; attempt++) {
    const run = ownership.ownedRuns()[0]
    if (run === undefined) return
    const neighbors = await components.beside(run)
    if (neighbors.length === 0 && isWholeLine(run)) throw new LeaveError('this is the last node of its ring and has nobody to hand over to; stop it instead')
    const neighbor = neighbors[attempt % Math.max(1, neighbors.length)]
    const reason = neighbor === undefined ? undefined : await give(components, run, neighbor, init, signal)
    // at the end of the time the call itself is aborted, which explains nothing
    if (reason !== undefined && reason !== 'AbortError') last = reason
    if (ownership.ownedRuns().length === 0) return
    if (signal.aborted) throw new LeaveError(`could not hand over in time (${last}); this node still serves its interval; try again, or give more time`)
    if (neighbor === undefined || attempt % 2 === 1) await host.sleep(init.leaveBackoffMs * Math.min(attempt + 1, 10) * (0.5 + host.random()))
  }
}

/** Give a run to the node beside it. @returns why it did not work, or undefined */
export async function give (components: Omit<LeaveComponents, 'gone'>, run: Interval, neighbor: GraphNode, init: LeaveInit & ChangeInit, signal: AbortSignal): Promise<string | undefined> {
  const { host, identity, ownership } = components
  const { owner } = neighbor.view
  try {
    const { refused } = await host.call(owner.contact, consentMethod, { interval: run, giver: { id: identity.member, contact: host.self } }, { deadlineMs: init.neighborMs, signal })
    if (refused !== undefined) return `neighbor: ${refused}`
    await components.remember(owner)
    // piece by piece from the one that touches the neighbor: the members of each hold all of it
    const segments = ownership.registers.entries(run).map(({ interval, value }) => ({ interval, claim: value.claim }))
    if (endsAt(run, neighbor.view.interval)) segments.reverse()
    for (const piece of segments) {
      const left = { ...piece, claim: { ...piece.claim, members: piece.claim.members.filter(id => id !== identity.member) } }
      const members = membersWithout([left], owner, undefined, livingContact(components), init.copies)
      const outcome = await change(components, { interval: piece.interval, owner, members }, init, signal)
      if (outcome.state !== 'decided') return outcome.detail
    }
    return undefined
  } catch (error) {
    return errorName(error)
  }
}

/** The claims are decided, but a lost message may have left a new owner without the word, which nobody else could give it. */
async function allHeard (components: LeaveComponents, init: LeaveInit & ChangeInit, signal: AbortSignal): Promise<void> {
  const { host, ownership } = components
  for (let attempt = 0; stillUnheard(ownership).length > 0; attempt++) {
    await tellOwed(components, init)
    const silent = stillUnheard(ownership).map(({ member }) => member)
    if (silent.length === 0) return
    if (signal.aborted) throw new LeaveError(`all was handed over, but ${silent.map(({ contact }) => contact.id).join(', ')} did not answer and may not know it; leave again when it does`)
    await host.sleep(init.leaveBackoffMs * Math.min(attempt + 1, 10) * (0.5 + host.random()))
  }
}

/** The pieces of others that this node has copies of. */
function copiesHeld ({ registers }: LeaveComponents['ownership'], self: MemberId): Piece[] {
  return registers.entries().filter(({ value: { claim } }) => isMember(claim, self) && claim.owner !== self).map(({ interval, value }) => ({ interval, claim: value.claim }))
}

/** Others count on the copies here; each present owner replaces them, and this node votes for that. */
async function retire ({ host, identity, ownership, contactOf, ownerOf }: LeaveComponents, init: LeaveInit, signal: AbortSignal): Promise<void> {
  const { member } = identity
  for (let attempt = 0; ; attempt++) {
    const pieces = copiesHeld(ownership, member)
    if (pieces.length === 0 || ownership.ownedRuns().length > 0) return
    if (signal.aborted) throw new LeaveError('all was handed over, but others still count on copies that this node has; leave again, or stop it')
    await Promise.all(pieces.map(async piece => {
      try {
        // whom the claim names may be gone for long
        const owner = attempt % 2 === 0 ? contactOf(piece.claim.owner) : await ownerOf(piece.interval.low)
        if (owner === undefined) return
        const { held } = await host.call(owner.contact, copyCheckMethod, { member, piece, leaves: true }, { deadlineMs: init.neighborMs })
        await ownership.catchUp(held)
      } catch (error) {
        host.log.debug({ error: errorName(error) }, 'an owner still counts on a copy here')
      }
    }))
    await host.sleep(init.leaveBackoffMs * Math.min(attempt + 1, 10) * (0.5 + host.random()))
  }
}

function isWholeLine (run: Interval): boolean {
  return run.low.length === 0 && run.high === undefined
}
