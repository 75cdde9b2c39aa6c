// The claimer's side of one ballot, step by step, with values worked out by hand.

import assert from 'node:assert/strict'
import { accept } from '../../../overlay/ownership/accept.ts'
import { promise } from '../../../overlay/ownership/promise.ts'
import { acceptRequest, beginProposal, countAccept, countNews, countPromise, countTail, outcome, ownIntervals, promiseRequest, settle, votersOf } from '../../../overlay/ownership/proposal.ts'
import type { Interval } from '../../../overlay/interval.ts'
import type { AcceptReply } from '../../../overlay/ownership/accept.ts'
import type { Claim, Piece } from '../../../overlay/ownership/claim.ts'
import type { PromisedPart, PromiseReply } from '../../../overlay/ownership/promise.ts'
import type { Proposal } from '../../../overlay/ownership/proposal.ts'
import { learn, newRegisters } from '../../../overlay/ownership/register.ts'

function claim (epoch: number, members: string, counter: number, by: string, floor = 0): Claim {
  return { chain: 'main', epoch, owner: members[0]!, members: [...members], floor, by: { counter, member: by } }
}

function span (from: number, to: number): Interval {
  return { low: from === 0 ? new Uint8Array(0) : Uint8Array.of(from), high: to === 9 ? undefined : Uint8Array.of(to) }
}

function piece (from: number, to: number, claim: Claim): Piece {
  return { interval: span(from, to), claim }
}

function ends ({ low, high }: Interval): [number, number] {
  return [low[0] ?? 0, high?.[0] ?? 9]
}

const left = claim(4, 'abc', 1, 'a', 100)
const right = claim(6, 'bcd', 1, 'd', 200)
const ballot = { counter: 9, member: 'b' }

function begin (bases: Piece[], members = 'bx', source = 'b'): Proposal {
  return beginProposal({ ballot, bases, wish: { owner: members[0]!, members: [...members] }, source })
}

function promised (...parts: Array<[number, number, Claim, number, PromisedPart['accepted']?]>): PromiseReply {
  return { answer: 'promised', ballot, parts: parts.map(([from, to, base, ceiling, accepted]) => ({ interval: span(from, to), base, ceiling, accepted })) }
}

function settled (proposal: Proposal): Proposal {
  const settling = settle(proposal)
  assert.equal(settling.state, 'settled')
  return settling.proposal
}

function waitsFor (proposal: Proposal): string | undefined {
  const settling = settle(proposal)
  return settling.state === 'waiting' ? settling.reason : undefined
}

function accepted (...intervals: Array<[number, number]>): AcceptReply {
  return { ballot, accepted: intervals.map(([from, to]) => span(from, to)), held: [], above: undefined }
}

describe('a proposal', () => {
  it('asks all members of all bases', () => {
    const proposal = begin([piece(0, 4, left), piece(4, 9, right)])
    assert.deepEqual(votersOf(proposal), ['a', 'b', 'c', 'd'])
    assert.deepEqual(promiseRequest(proposal), { ballot, base: [piece(0, 4, left), piece(4, 9, right)] })
  })

  it('refuses bases with a gap, of two chains or without the source, and a wish without its owner', () => {
    assert.throws(() => begin([piece(0, 4, left), piece(5, 9, right)]), /side by side/)
    assert.throws(() => begin([piece(0, 4, left), piece(4, 9, { ...right, chain: 'lone' })]), /one chain/)
    assert.throws(() => begin([piece(0, 4, left), piece(4, 9, right)], 'bx', 'a'), /source a/)
    assert.throws(() => begin([]), /needs a base/)
    assert.throws(() => beginProposal({ ballot, bases: [piece(0, 9, left)], wish: { owner: 'x', members: ['a'] }, source: 'a' }), /owner x/)
  })

  it('counts a majority for each base apart', () => {
    let proposal = begin([piece(0, 4, left), piece(4, 9, right)])
    proposal = countPromise(proposal, 'b', promised([0, 4, left, 100], [4, 9, right, 200]))
    proposal = countPromise(proposal, 'b', promised([0, 4, left, 100], [4, 9, right, 200]))
    assert.equal(waitsFor(proposal), 'majority')
    proposal = countPromise(proposal, 'a', promised([0, 4, left, 100]))
    assert.equal(waitsFor(proposal), 'majority')
    assert.equal(settle(countPromise(proposal, 'd', promised([4, 9, right, 200]))).state, 'settled')
  })

  it('takes no promise of another ballot, of another base or from no member', () => {
    let proposal = countPromise(begin([piece(0, 9, left)]), 'b', promised([0, 9, left, 100]))
    proposal = countPromise(proposal, 'a', { ...promised([0, 9, left, 100]), ballot: { counter: 8, member: 'b' } } as PromiseReply)
    proposal = countPromise(proposal, 'a', promised([0, 9, right, 100]))
    proposal = countPromise(proposal, 'x', promised([0, 9, left, 100]))
    assert.equal(waitsFor(proposal), 'majority')
  })

  it('waits for the promise of a claimer that is a member, and of the source', () => {
    const toOthers = begin([piece(0, 9, left)], 'bx', 'a')
    const others = countPromise(countPromise(toOthers, 'a', promised([0, 9, left, 0])), 'c', promised([0, 9, left, 0]))
    assert.equal(waitsFor(others), 'claimer')
    const notSource = countPromise(countPromise(toOthers, 'b', promised([0, 9, left, 0])), 'c', promised([0, 9, left, 0]))
    assert.equal(waitsFor(notSource), 'source')
    assert.equal(settle(countPromise(notSource, 'a', promised([0, 9, left, 0]))).state, 'settled')
  })

  it('proposes one value: an epoch above all bases and a floor at the highest ceiling of the promises', () => {
    let proposal = begin([piece(0, 4, left), piece(4, 9, right)])
    proposal = countPromise(proposal, 'b', promised([0, 2, left, 150], [2, 4, left, 170], [4, 9, right, 200]))
    proposal = countPromise(proposal, 'c', promised([0, 4, left, 260], [4, 9, right, 230]))
    const { own, parts } = settled(proposal)
    assert.deepEqual(own, { chain: 'main', epoch: 7, owner: 'b', members: ['b', 'x'], floor: 260, by: ballot })
    assert.ok(parts.entries().every(({ value }) => value.value === own))
    // Without any ceiling above them the floors of the bases count: 200 is the higher one.
    const low = countPromise(countPromise(begin([piece(0, 4, left), piece(4, 9, right)]), 'b', promised([0, 4, left, 0], [4, 9, right, 0])), 'c', promised([0, 4, left, 0], [4, 9, right, 0]))
    assert.equal(settled(low).own!.floor, 200)
  })

  it('proposes what was accepted at the highest ballot, clipped to its keys, and the own value elsewhere', () => {
    const older = claim(5, 'a', 5, 'a')
    const newer = claim(5, 'c', 7, 'c')
    let proposal = begin([piece(2, 8, left)])
    proposal = countPromise(proposal, 'b', promised([2, 5, left, 100, { ballot: { counter: 5, member: 'a' }, claim: older }], [5, 8, left, 100]))
    proposal = countPromise(proposal, 'c', promised([2, 4, left, 100], [4, 6, left, 100, { ballot: { counter: 7, member: 'c' }, claim: newer }], [6, 8, left, 100]))
    const done = settled(proposal)
    assert.deepEqual(done.parts.entries().map(({ interval, value }) => [...ends(interval), value.value]), [[2, 4, older], [4, 5, newer], [5, 6, newer], [6, 8, done.own]])
    assert.deepEqual(ownIntervals(done).map(ends), [[6, 8]])
  })

  it('keeps to its values when a promise comes late', () => {
    const proposal = settled(countPromise(countPromise(begin([piece(0, 9, left)]), 'b', promised([0, 9, left, 100])), 'a', promised([0, 9, left, 100])))
    const late = countPromise(proposal, 'c', promised([0, 9, left, 900, { ballot: { counter: 7, member: 'c' }, claim: claim(5, 'c', 7, 'c') }]))
    assert.equal(late, proposal)
  })

  it('begins anew when a refusal shows a decided successor', () => {
    const successor = claim(5, 'c', 7, 'c')
    const proposal = countPromise(begin([piece(0, 9, left)]), 'c', { answer: 'refused', ballot, reason: 'superseded', held: [piece(3, 6, successor)], above: undefined })
    assert.deepEqual(settle(proposal), { state: 'superseded', pieces: [piece(3, 6, successor)] })
  })

  it('sends ACCEPT when all new members but the source are full, and at once when nothing is its own', () => {
    let proposal = countPromise(countPromise(begin([piece(0, 9, left)], 'bxy'), 'b', promised([0, 9, left, 100])), 'a', promised([0, 9, left, 100]))
    assert.equal(acceptRequest(proposal), undefined)
    proposal = countTail(settled(proposal), 'x')
    assert.equal(acceptRequest(proposal), undefined)
    proposal = countTail(proposal, 'y')
    assert.deepEqual(acceptRequest(proposal), { ballot, proposals: [{ interval: span(0, 9), base: left, value: proposal.own }] })

    const other = { ballot: { counter: 7, member: 'c' }, claim: claim(5, 'c', 7, 'c') }
    const adopting = settled(countPromise(countPromise(begin([piece(0, 9, left)], 'bxy'), 'b', promised([0, 9, left, 100])), 'c', promised([0, 9, left, 100, other])))
    assert.deepEqual([adopting.own, ownIntervals(adopting)], [undefined, []])
    assert.deepEqual(acceptRequest(adopting)!.proposals, [{ interval: span(0, 9), base: left, value: other.claim }])
  })

  it('is decided key by key, and done when each key is', () => {
    const other = { ballot: { counter: 7, member: 'c' }, claim: claim(5, 'c', 7, 'c') }
    let proposal = begin([piece(0, 9, left)])
    proposal = settled(countPromise(countPromise(proposal, 'b', promised([0, 9, left, 100])), 'c', promised([0, 3, left, 100, other], [3, 9, left, 100])))
    proposal = countAccept(proposal, 'b', accepted([0, 9]))
    proposal = countAccept(proposal, 'x', accepted([0, 9]))
    assert.deepEqual(outcome(proposal), { state: 'waiting', own: [], adopted: [], superseded: [] })
    proposal = countAccept(proposal, 'a', accepted([0, 5]))
    assert.deepEqual(outcome(proposal), { state: 'waiting', own: [piece(3, 5, proposal.own!)], adopted: [piece(0, 3, other.claim)], superseded: [] })
    proposal = countAccept(proposal, 'c', accepted([5, 9]))
    assert.deepEqual(outcome(proposal), { state: 'done', own: [piece(3, 5, proposal.own!), piece(5, 9, proposal.own!)], adopted: [piece(0, 3, other.claim)], superseded: [] })
  })

  it('takes news for a decision: its own value heard from another is decided, a different one supersedes it', () => {
    const start = settled(countPromise(countPromise(begin([piece(0, 9, left)]), 'b', promised([0, 9, left, 100])), 'a', promised([0, 9, left, 100])))
    const successor = claim(5, 'c', 7, 'c')
    const proposal = countNews(countNews(start, [piece(0, 5, start.own!)]), [piece(5, 9, successor)])
    assert.deepEqual(outcome(proposal), { state: 'done', own: [piece(0, 5, start.own!)], adopted: [], superseded: [piece(5, 9, successor)] })
    assert.equal(outcome(countNews(start, [piece(0, 9, left), piece(0, 9, { ...successor, chain: 'lone' })])).state, 'waiting')
  })

  it('hands one copy over: the giver promises and accepts alone, and both then hold the decided claim', () => {
    const base = claim(1, 'g', 1, 'g')
    let registers = learn(newRegisters(), [piece(0, 9, base)]).registers
    let proposal = beginProposal({ ballot: { counter: 2, member: 'g' }, bases: [piece(4, 9, base)], wish: { owner: 'r', members: ['r'] }, source: 'g' })
    const promising = promise(registers, 'g', promiseRequest(proposal), { leaseBlocks: () => false })
    registers = promising.registers
    proposal = countTail(settled(countPromise(proposal, 'g', promising.reply)), 'r')
    const accepting = accept(registers, 'g', acceptRequest(proposal)!)
    proposal = countAccept(proposal, 'g', accepting.reply)
    const { state, own } = outcome(proposal)
    assert.deepEqual([state, own], ['done', [piece(4, 9, { chain: 'main', epoch: 2, owner: 'r', members: ['r'], floor: 0, by: { counter: 2, member: 'g' } })]])
    const giver = learn(accepting.registers, own).registers
    assert.deepEqual(giver.entries().map(({ interval, value }) => [...ends(interval), value.claim.owner, value.promised]), [[0, 4, 'g', undefined], [4, 9, 'r', undefined]])
    assert.equal(learn(newRegisters(), own).registers.get(Uint8Array.of(5))!.claim.owner, 'r')
  })
})
