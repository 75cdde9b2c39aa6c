// Broken forms of the rules of ownership, each a fault that was found in some draft of the protocol
// (docs/ownership.md, "Flaws and the rules that prevent them"). The search must catch every one of them, or it proves
// nothing about the unbroken rules.

import { intersect, subtract } from '../../../overlay/interval.ts'
import { sameClaim } from '../../../overlay/ownership/claim.ts'
import { ownIntervals, votersOf } from '../../../overlay/ownership/proposal.ts'
import { goodHabits, ownershipRules } from '../../../testnet/simulator/search/rules.ts'
import type { Interval } from '../../../overlay/interval.ts'
import type { Claim, Piece } from '../../../overlay/ownership/claim.ts'
import type { Proposal } from '../../../overlay/ownership/proposal.ts'
import type { Registers } from '../../../overlay/ownership/register.ts'
import type { Habits, Rules } from '../../../testnet/simulator/search/rules.ts'

export interface Mutant {
  readonly rules: Rules
  readonly habits: Habits
}

const right = ownershipRules

function broken (rules: Partial<Rules>): () => Mutant {
  return () => ({ rules: { ...right, ...rules }, habits: goodHabits })
}

function bad (habits: Partial<Habits>): () => Mutant {
  return () => ({ rules: right, habits: { ...goodHabits, ...habits } })
}

/** Each call gives a fresh mutant, as some remember what they saw. */
export const mutants: Record<string, () => Mutant> = {
  'a majority less one': broken({
    countPromise: (proposal, from, reply) => right.countPromise(right.countPromise(proposal, from, reply), phantomOf(proposal, from), reply),
    countAccept: (proposal, from, reply) => right.countAccept(right.countAccept(proposal, from, reply), phantomOf(proposal, from), reply)
  }),
  'no fence on writes after a promise': broken({
    mayWrite: (register, self, under) => right.mayWrite({ ...register, promised: undefined }, self, under)
  }),
  'an accepted value is not adopted': broken({
    countPromise: (proposal, from, reply) => right.countPromise(proposal, from, reply.answer === 'refused' ? reply : { ...reply, parts: reply.parts.map(part => ({ ...part, accepted: undefined })) })
  }),
  'an undecided claim as a base': broken({
    basesOf: (registers, interval) => right.basesOf(registers, interval) === undefined ? undefined : registers.entries(interval).map(({ interval, value }) => ({ interval, claim: value.accepted?.claim ?? value.claim }))
  }),
  'ACCEPT before the new members are full': broken({
    acceptRequest: proposal => right.acceptRequest({ ...proposal, fullMembers: proposal.own?.members ?? [] })
  }),
  'an adopted value goes to keys that were not prepared': adoptBeyond,
  'one accepted value a piece, not a key': broken({
    accept: (registers, self, request) => {
      const step = right.accept(registers, self, request)
      const next = step.registers.copy()
      for (const { base } of request.proposals) {
        next.update({ low: new Uint8Array(0), high: undefined }, (register, { low }) => {
          const elsewhere = !step.reply.accepted.some(interval => intersect(interval, { low, high: undefined })?.low === low)
          return register !== undefined && elsewhere && sameClaim(register.claim, base) ? { ...register, accepted: undefined } : register
        })
      }
      return { ...step, registers: next }
    }
  }),
  'a cut resets the promise of the rest': broken({
    learn: (registers, pieces) => { const step = right.learn(registers, pieces); return { ...step, registers: resetRest(registers, step.registers, pieces) } },
    catchUp: (registers, pieces) => { const step = right.catchUp(registers, pieces); return { ...step, registers: resetRest(registers, step.registers, pieces) } }
  }),
  'a decided claim is matched by its epoch': broken({
    learn: (registers, pieces) => right.learn(registers, byEpoch(registers, pieces)),
    catchUp: (registers, pieces) => right.catchUp(registers, byEpoch(registers, pieces))
  }),
  'the tail is taken before its source has promised': broken({ settle: settleWithoutSource }),
  'the floor may lie below ceilings': broken({
    countPromise: (proposal, from, reply) => right.countPromise(proposal, from, reply.answer === 'refused' ? reply : { ...reply, parts: reply.parts.map(part => ({ ...part, ceiling: 0 })) })
  }),
  'a forgotten register is made anew by PREPARE': broken({
    promise: (registers, self, request, options) => right.promise(right.learn(registers, request.base).registers, self, request, options)
  }),
  'a promise does not wait for leases': broken({
    promise: (registers, self, request) => right.promise(registers, self, request, { leaseBlocks: () => false })
  }),
  'a promise is flushed before earlier writes': bad({ promiseFlushesAfterWrites: false }),
  'a forgotten fill session counts as nothing written since': bad({ tailNeedsSession: false }),
  'a restarted owner starts at the floor of its claim': bad({ floorAfterBoot: false })
}

/** Somebody else who is counted as well. */
function phantomOf (proposal: Proposal, from: string): string {
  const others = votersOf(proposal).filter(member => member !== from)
  return others.find(member => member !== proposal.source && member !== proposal.ballot.member) ?? others[0] ?? from
}

function adoptBeyond (): Mutant {
  const proposedFor = new Map<Claim['by'], Interval[]>()
  function settle (proposal: Proposal): ReturnType<Rules['settle']> {
    const settling = right.settle(proposal)
    if (settling.state !== 'settled') return settling
    const { own } = settling.proposal
    if (own !== undefined) proposedFor.set(own.by, ownIntervals(settling.proposal))
    const parts = settling.proposal.parts.copy()
    for (const { value } of settling.proposal.parts.entries()) {
      if (value.value === own) continue
      let rest = proposedFor.get(value.value!.by) ?? []
      for (const { interval } of settling.proposal.parts.entries()) rest = rest.flatMap(piece => subtract(piece, interval))
      for (const interval of rest) parts.set(interval, { ...value, acceptedBy: [] })
    }
    return { state: 'settled', proposal: { ...settling.proposal, parts } }
  }
  return { rules: { ...right, settle }, habits: goodHabits }
}

function resetRest (before: Registers, after: Registers, pieces: readonly Piece[]): Registers {
  const cut = pieces.flatMap(({ interval }) => before.entries(interval).filter(({ interval: { low }, value }) => !sameClaim(after.get(low)!.claim, value.claim)).map(({ value }) => value.claim))
  const next = after.copy()
  next.update({ low: new Uint8Array(0), high: undefined }, register => register !== undefined && cut.some(claim => sameClaim(claim, register.claim)) ? { ...register, promised: undefined, accepted: undefined } : register)
  return next
}

function byEpoch (registers: Registers, pieces: readonly Piece[]): Piece[] {
  return pieces.flatMap(piece => {
    const accepted = registers.entries(piece.interval).flatMap(({ interval, value }) => value.accepted?.claim.epoch === piece.claim.epoch ? [{ interval, claim: value.accepted.claim }] : [])
    return [...accepted, piece]
  })
}

function settleWithoutSource (proposal: Proposal): ReturnType<Rules['settle']> {
  const settling = right.settle(proposal)
  if (settling.state !== 'waiting' || settling.reason !== 'source') return settling
  const wanted = proposal.parts.entries().filter(({ value }) => value.accepted === undefined)
  const other = wanted[0]!.value.promisedBy.find(member => wanted.every(({ value }) => value.promisedBy.includes(member)))
  if (other === undefined) return settling
  const pretended = right.settle({ ...proposal, source: other })
  return pretended.state === 'settled' ? { state: 'settled', proposal: { ...pretended.proposal, source: proposal.source } } : pretended
}
