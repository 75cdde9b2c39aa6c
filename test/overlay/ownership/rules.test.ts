// Each rule of promise, accept, learn and catch-up in its cases, with values worked out by hand.

import assert from 'node:assert/strict'
import { accept } from '../../../overlay/ownership/accept.ts'
import { compareBallots, nextBallot } from '../../../overlay/ownership/ballot.ts'
import { checkClaim, clipPieces, hasMajority, sameClaim, supersedes } from '../../../overlay/ownership/claim.ts'
import { promise } from '../../../overlay/ownership/promise.ts'
import { basesOf, catchUp, learn, mayServe, mayWrite, newRegisters, nextFloorAfterBoot, raiseCeiling } from '../../../overlay/ownership/register.ts'
import type { Interval } from '../../../overlay/interval.ts'
import type { Ballot } from '../../../overlay/ownership/ballot.ts'
import type { Claim } from '../../../overlay/ownership/claim.ts'
import type { PromiseReply, PromiseStep } from '../../../overlay/ownership/promise.ts'
import type { Registers } from '../../../overlay/ownership/register.ts'

const free = { leaseBlocks: () => false }

function ballot (counter: number, member: string): Ballot {
  return { counter, member }
}

function claim (epoch: number, members: string, by: Ballot, more: Partial<Claim> = {}): Claim {
  return { chain: 'main', epoch, owner: members[0]!, members: [...members], floor: 0, by, ...more }
}

/** Keys from..to - 1, one byte each; 0 is the empty key, 9 the end of the line. */
function span (from: number, to: number): Interval {
  return { low: from === 0 ? new Uint8Array(0) : Uint8Array.of(from), high: to === 9 ? undefined : Uint8Array.of(to) }
}

function at (registers: Registers, key: number): Registers extends { get: (key: Uint8Array) => infer R } ? R : never {
  return registers.get(Uint8Array.of(key))
}

function ends ({ low, high }: Interval): [number, number] {
  return [low[0] ?? 0, high?.[0] ?? 9]
}

function refusal ({ reply }: PromiseStep): Extract<PromiseReply, { answer: 'refused' }> {
  assert.equal(reply.answer, 'refused')
  return reply
}

const first = claim(1, 'abc', ballot(1, 'a'))
const second = claim(2, 'bc', ballot(3, 'b'), { floor: 500 })
const rival = claim(2, 'ca', ballot(4, 'c'))

function holding (...pieces: Array<[number, number, Claim]>): Registers {
  return learn(newRegisters(), pieces.map(([from, to, claim]) => ({ interval: span(from, to), claim }))).registers
}

describe('ballots', () => {
  it('are ordered by counter, then by member', () => {
    assert.ok(compareBallots(ballot(1, 'b'), ballot(2, 'a')) < 0)
    assert.ok(compareBallots(ballot(2, 'a'), ballot(2, 'b')) < 0)
    assert.equal(compareBallots(ballot(2, 'a'), ballot(2, 'a')), 0)
  })

  it('grow above the last own counter and above what stood in the way', () => {
    assert.deepEqual(nextBallot('a', 4), ballot(5, 'a'))
    assert.deepEqual(nextBallot('a', 4, ballot(9, 'c')), ballot(10, 'a'))
    assert.deepEqual(nextBallot('a', 12, ballot(9, 'c')), ballot(13, 'a'))
  })
})

describe('claims', () => {
  it('are told apart by the ballot that proposed them, not by their epoch', () => {
    assert.equal(sameClaim(second, rival), false)
    assert.equal(sameClaim(second, { ...second }), true)
    assert.equal(supersedes(second, first), true)
    assert.equal(supersedes(second, rival), false)
    assert.equal(supersedes({ ...second, chain: 'lone' }, first), false)
  })

  it('need more than half of their members, and count nobody else', () => {
    assert.equal(hasMajority(['a'], first), false)
    assert.equal(hasMajority(['a', 'x', 'y'], first), false)
    assert.equal(hasMajority(['a', 'c'], first), true)
    assert.equal(hasMajority(['b'], second), false)
    assert.equal(hasMajority(['a'], claim(1, 'a', ballot(1, 'a'))), true)
  })

  it('are refused without the owner among the members, with a member twice or with no members', () => {
    assert.throws(() => checkClaim({ ...first, owner: 'x' }), /owner x/)
    assert.throws(() => checkClaim({ ...first, members: ['a', 'a'] }), /each once/)
    assert.throws(() => checkClaim({ ...first, members: [] }), /one or more/)
    assert.throws(() => checkClaim({ ...first, epoch: 0 }), /epoch/)
  })

  it('are clipped to an interval piece by piece', () => {
    const pieces = [{ interval: span(0, 4), claim: first }, { interval: span(4, 9), claim: second }]
    assert.deepEqual(clipPieces(pieces, span(2, 6)).map(({ interval }) => ends(interval)), [[2, 4], [4, 6]])
    assert.deepEqual(clipPieces(pieces, span(5, 6)).map(({ interval }) => ends(interval)), [[5, 6]])
  })
})

describe('learning decided claims', () => {
  it('takes a claim where none was held, with the ceiling at its floor', () => {
    const { registers, learned, changed } = learn(newRegisters(), [{ interval: span(2, 5), claim: second }])
    assert.deepEqual(at(registers, 3), { claim: second, promised: undefined, accepted: undefined, ceiling: 500 })
    assert.equal(at(registers, 5), undefined)
    assert.deepEqual(learned.map(({ interval, before }) => [...ends(interval), before]), [[2, 5, undefined]])
    assert.deepEqual(changed.put.map(({ interval }) => ends(interval)), [[2, 5]])
  })

  it('replaces a lower epoch of the same chain in the part that is told, and leaves the rest its promise', () => {
    const promised = promise(holding([0, 9, first]), 'b', { ballot: ballot(2, 'a'), base: [{ interval: span(0, 9), claim: first }] }, free).registers
    const { registers, changed } = learn(promised, [{ interval: span(3, 6), claim: second }])
    assert.deepEqual(at(registers, 2)!.promised, ballot(2, 'a'))
    assert.equal(at(registers, 4)!.promised, undefined)
    assert.equal(at(registers, 4)!.claim, second)
    assert.deepEqual(at(registers, 6)!.promised, ballot(2, 'a'))
    assert.deepEqual(changed.put.map(({ interval }) => ends(interval)), [[0, 3], [3, 6], [6, 9]])
  })

  it('keeps what is newer, and the same registers when nothing is new', () => {
    const before = holding([0, 9, second])
    const { registers, learned, disputed } = learn(before, [{ interval: span(0, 9), claim: first }, { interval: span(0, 9), claim: second }])
    assert.equal(registers, before)
    assert.deepEqual([learned, disputed], [[], []])
  })

  it('overwrites no other chain and no other claim of the same epoch, but names them', () => {
    const lone = claim(9, 'x', ballot(1, 'x'), { chain: 'lone' })
    const { registers, disputed } = learn(holding([0, 9, second]), [{ interval: span(0, 4), claim: lone }, { interval: span(4, 9), claim: rival }])
    assert.equal(at(registers, 1)!.claim, second)
    assert.deepEqual(disputed.map(({ piece, held, reason }) => [...ends(piece.interval), held, reason]), [[0, 4, second, 'chain'], [4, 9, second, 'epoch']])
  })

  it('goes by passing news only where an older claim is held', () => {
    const { registers } = catchUp(holding([0, 4, first]), [{ interval: span(2, 6), claim: second }])
    assert.equal(at(registers, 3)!.claim, second)
    assert.equal(at(registers, 5), undefined)
  })
})

describe('a promise', () => {
  const base = [{ interval: span(0, 9), claim: first }]

  it('tells accepted values and ceilings of each run of keys, clipped to the change', () => {
    const start = accept(holding([0, 9, first]), 'b', { ballot: ballot(3, 'b'), proposals: [{ interval: span(4, 9), base: first, value: second }] }).registers
    const raised = raiseCeiling(start, 'b', { interval: span(0, 4), under: first, ceiling: 70 }).registers
    const { reply, registers, changed } = promise(raised, 'b', { ballot: ballot(5, 'c'), base: [{ interval: span(2, 6), claim: first }] }, free)
    assert.equal(reply.answer, 'promised')
    assert.deepEqual(reply.parts.map(({ interval, accepted, ceiling }) => [...ends(interval), accepted?.claim, accepted?.ballot, ceiling]), [
      [2, 4, undefined, undefined, 70],
      [4, 6, second, ballot(3, 'b'), 0]
    ])
    assert.deepEqual([1, 3, 5, 7].map(key => at(registers, key)!.promised), [undefined, ballot(5, 'c'), ballot(5, 'c'), ballot(3, 'b')])
    assert.deepEqual(changed.put.map(({ interval }) => ends(interval)), [[0, 2], [2, 4], [4, 6], [6, 9]])
  })

  it('is refused at or below a promised ballot, over all keys even if only one stands in the way', () => {
    const start = promise(holding([0, 9, first]), 'a', { ballot: ballot(4, 'b'), base: [{ interval: span(8, 9), claim: first }] }, free).registers
    for (const low of [ballot(4, 'b'), ballot(4, 'a'), ballot(3, 'c')]) {
      const step = promise(start, 'a', { ballot: low, base }, free)
      assert.equal(refusal(step).reason, 'ballot')
      assert.deepEqual(refusal(step).above, ballot(4, 'b'))
      assert.equal(step.registers, start)
    }
    assert.equal(promise(start, 'a', { ballot: ballot(4, 'c'), base }, free).reply.answer, 'promised')
  })

  it('is refused with the newer decided claims where there are any', () => {
    const step = promise(holding([0, 5, first], [5, 9, second]), 'b', { ballot: ballot(9, 'a'), base }, free)
    assert.equal(refusal(step).reason, 'superseded')
    assert.deepEqual(refusal(step).held.map(({ interval, claim }) => [...ends(interval), claim]), [[5, 9, second]])
    assert.equal(at(step.registers, 1)!.promised, undefined)
  })

  it('learns from the base where the member is behind, and then counts as a promise of the new base', () => {
    const step = promise(holding([0, 9, first]), 'b', { ballot: ballot(9, 'a'), base: [{ interval: span(0, 9), claim: second }] }, free)
    assert.equal(step.reply.answer, 'promised')
    assert.deepEqual(step.learned.map(({ before, after }) => [before, after]), [[first, second]])
    assert.deepEqual([at(step.registers, 1)!.claim, at(step.registers, 1)!.promised], [second, ballot(9, 'a')])
  })

  it('is refused by a store that holds no claim there, or that belongs to no base', () => {
    assert.equal(refusal(promise(newRegisters(), 'a', { ballot: ballot(9, 'a'), base }, free)).reason, 'unknown')
    assert.equal(refusal(promise(holding([0, 8, first]), 'a', { ballot: ballot(9, 'a'), base }, free)).reason, 'unknown')
    assert.equal(refusal(promise(holding([0, 9, first]), 'x', { ballot: ballot(9, 'a'), base }, free)).reason, 'outsider')
    assert.equal(refusal(promise(newRegisters(), 'x', { ballot: ballot(9, 'a'), base }, free)).reason, 'outsider')
  })

  it('is refused where another chain is held', () => {
    const lone = claim(1, 'ab', ballot(1, 'b'), { chain: 'lone' })
    assert.equal(refusal(promise(holding([0, 9, lone]), 'a', { ballot: ballot(9, 'a'), base }, free)).reason, 'different')
  })

  it('covers only the bases that the member belongs to', () => {
    const other = claim(7, 'xy', ballot(6, 'x'))
    const { reply, registers } = promise(holding([0, 4, first], [4, 9, other]), 'a', { ballot: ballot(9, 'x'), base: [{ interval: span(2, 4), claim: first }, { interval: span(4, 6), claim: other }] }, free)
    assert.equal(reply.answer, 'promised')
    assert.deepEqual(reply.parts.map(({ interval }) => ends(interval)), [[2, 4]])
    assert.equal(at(registers, 5)!.promised, undefined)
  })

  it('waits for the lease of another owner, never for that of the owner who asks', () => {
    const asked: Array<[number, number]> = []
    const leaseBlocks = (interval: Interval): boolean => { asked.push(ends(interval)); return true }
    assert.equal(refusal(promise(holding([0, 9, first]), 'b', { ballot: ballot(2, 'c'), base }, { leaseBlocks })).reason, 'lease')
    assert.deepEqual(asked, [[0, 9]])
    assert.equal(promise(holding([0, 9, first]), 'b', { ballot: ballot(2, 'a'), base }, { leaseBlocks }).reply.answer, 'promised')
  })
})

describe('an accept', () => {
  const proposals = [{ interval: span(2, 6), base: first, value: second }]

  it('is taken key by key, at the promised ballot or above it', () => {
    const start = promise(holding([0, 9, first]), 'b', { ballot: ballot(5, 'c'), base: [{ interval: span(4, 9), claim: first }] }, free).registers
    const low = accept(start, 'b', { ballot: ballot(5, 'b'), proposals })
    assert.deepEqual(low.reply.accepted.map(ends), [[2, 4]])
    assert.deepEqual(low.reply.above, ballot(5, 'c'))
    assert.deepEqual(at(low.registers, 3)!.accepted, { ballot: ballot(5, 'b'), claim: second })
    assert.deepEqual(at(low.registers, 3)!.promised, ballot(5, 'b'))
    assert.equal(at(low.registers, 5)!.accepted, undefined)
    assert.deepEqual(accept(start, 'b', { ballot: ballot(5, 'c'), proposals }).reply.accepted.map(ends), [[2, 4], [4, 6]])
  })

  it('changes nothing when it comes again', () => {
    const once = accept(holding([0, 9, first]), 'b', { ballot: ballot(5, 'c'), proposals })
    const twice = accept(once.registers, 'b', { ballot: ballot(5, 'c'), proposals })
    assert.equal(twice.registers, once.registers)
    assert.deepEqual(twice.reply, once.reply)
  })

  it('is not taken without the base, and tells what is held instead', () => {
    const known = accept(holding([0, 9, rival]), 'c', { ballot: ballot(9, 'b'), proposals })
    assert.deepEqual([known.reply.accepted, known.reply.held.map(({ claim }) => claim)], [[], [rival]])
    const unknown = accept(newRegisters(), 'b', { ballot: ballot(9, 'b'), proposals })
    assert.deepEqual([unknown.reply.accepted, unknown.registers.size], [[], 0])
    assert.deepEqual(accept(holding([0, 9, first]), 'x', { ballot: ballot(9, 'b'), proposals }).reply.accepted, [])
  })

  it('throws on a value that cannot follow its base', () => {
    assert.throws(() => accept(newRegisters(), 'b', { ballot: ballot(9, 'b'), proposals: [{ interval: span(0, 9), base: second, value: rival }] }), /higher epoch/)
    assert.throws(() => accept(newRegisters(), 'b', { ballot: ballot(9, 'b'), proposals: [{ interval: span(0, 9), base: first, value: { ...second, owner: 'x' } }] }), /owner x/)
  })
})

describe('what a register allows', () => {
  const held = at(holding([0, 9, first]), 1)!
  const fenced = { ...held, promised: ballot(2, 'a') }

  it('is writing under its claim by members, until a promise', () => {
    assert.equal(mayWrite(held, 'b', first), true)
    assert.equal(mayWrite(held, 'x', first), false)
    assert.equal(mayWrite(held, 'b', second), false)
    assert.equal(mayWrite(fenced, 'a', first), false)
  })

  it('is serving by the owner, until a promise', () => {
    assert.deepEqual([mayServe(held, 'a'), mayServe(held, 'b'), mayServe(fenced, 'a')], [true, false, false])
  })

  it('is raising the ceiling where writing is allowed, never lowering it', () => {
    const start = promise(holding([0, 9, first]), 'b', { ballot: ballot(2, 'a'), base: [{ interval: span(6, 9), claim: first }] }, free).registers
    const { registers, raised } = raiseCeiling(start, 'b', { interval: span(3, 9), under: first, ceiling: 90 })
    assert.deepEqual(raised.map(ends), [[3, 6]])
    assert.deepEqual([2, 4, 7].map(key => at(registers, key)!.ceiling), [0, 90, 0])
    assert.equal(at(raiseCeiling(registers, 'b', { interval: span(0, 9), under: first, ceiling: 40 }).registers, 4)!.ceiling, 90)
  })

  it('is giving versions from its ceiling on after a boot', () => {
    assert.equal(nextFloorAfterBoot({ ...held, ceiling: 90 }), 90)
    assert.equal(nextFloorAfterBoot(at(holding([0, 9, second]), 1)!), 500)
  })

  it('is a base over each key that is known, decided claims only', () => {
    const start = accept(holding([0, 4, first], [4, 8, second]), 'b', { ballot: ballot(4, 'c'), proposals: [{ interval: span(0, 2), base: first, value: rival }] }).registers
    assert.deepEqual(basesOf(start, span(1, 6))!.map(({ interval, claim }) => [...ends(interval), claim]), [[1, 2, first], [2, 4, first], [4, 6, second]])
    assert.equal(basesOf(start, span(6, 9)), undefined)
  })
})
