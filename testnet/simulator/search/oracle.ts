// What an all-knowing observer of the search keeps: which successor each key's claim really got, what was acknowledged
// and what was read. It is told of each flush at the moment it happens and throws Violation when an invariant breaks.
//
// Invariants (docs/ownership.md, "Invariants"): one successor a key and base; nobody takes an undecided claim
// for decided; what is acknowledged lies on the disks of all members of the newest decided claim; reads are not stale
// and do not go back; versions grow along the claims of a key.

import { hasMajority } from '../../../overlay/ownership/claim.ts'
import type { Ballot } from '../../../overlay/ownership/ballot.ts'
import type { Claim } from '../../../overlay/ownership/claim.ts'
import type { MemberId } from '../../../overlay/member.ts'

export class Violation extends Error {
  override readonly name = 'Violation'
}

/** Short name of a claim: the ballot under which it was first proposed. */
export function claimName (claim: Claim): string {
  return `${claim.by.counter}${claim.by.member}`
}

interface Vote {
  readonly value: Claim
  readonly voters: readonly MemberId[]
}

export class Oracle {
  /** By key, base and ballot. */
  #votes: ReadonlyMap<string, Vote> = new Map()
  /** Successor by key and base. */
  #decided: ReadonlyMap<string, Claim>
  /** Epoch and version of what was given, by key. */
  #given: ReadonlyArray<ReadonlyArray<readonly [number, number]>>
  newest: Claim[]
  acknowledged: number[]
  lastRead: number[]
  /** Reads the flushed version of a key at a member. */
  versionAt: (member: MemberId, key: number) => number

  constructor (claims: readonly Claim[], versionAt: (member: MemberId, key: number) => number) {
    this.newest = [...claims]
    this.acknowledged = claims.map(() => 0)
    this.lastRead = claims.map(() => 0)
    this.#given = claims.map(() => [])
    this.versionAt = versionAt
    this.#decided = new Map(claims.map((claim, key) => [`${key} first`, claim]))
  }

  copy (versionAt: (member: MemberId, key: number) => number): Oracle {
    const copy = new Oracle(this.newest, versionAt)
    copy.#votes = this.#votes
    copy.#decided = this.#decided
    copy.#given = this.#given
    copy.acknowledged = [...this.acknowledged]
    copy.lastRead = [...this.lastRead]
    return copy
  }

  sameAs (other: Oracle): boolean {
    return this.#votes === other.#votes && this.#given === other.#given && this.acknowledged.join() === other.acknowledged.join()
  }

  /** Decisions that were made so far, first claims not counted. */
  get decisionsCount (): number {
    return this.#decided.size - this.newest.length
  }

  accepted (member: MemberId, key: number, base: Claim, ballot: Ballot, value: Claim): void {
    const name = `${key} ${claimName(base)} ${ballot.counter}${ballot.member}`
    const vote = this.#votes.get(name)
    if (vote !== undefined && claimName(vote.value) !== claimName(value)) throw new Violation('one ballot proposes two values')
    if (vote?.voters.includes(member) === true) return
    const voters = [...vote?.voters ?? [], member]
    this.#votes = new Map(this.#votes).set(name, { value, voters })
    if (hasMajority(voters, base)) this.#decide(key, base, value)
  }

  #decide (key: number, base: Claim, value: Claim): void {
    const name = `${key} ${claimName(base)}`
    const before = this.#decided.get(name)
    if (before !== undefined) {
      if (claimName(before) !== claimName(value)) throw new Violation('two successors decided for one base')
      return
    }
    if (claimName(this.newest[key]!) !== claimName(base)) throw new Violation('the base of a decided claim was not decided')
    this.#decided = new Map(this.#decided).set(name, value)
    this.newest[key] = value
    this.#checkCopies(key)
  }

  learned (key: number, claim: Claim): void {
    for (const [name, decided] of this.#decided) {
      if (name.startsWith(`${key} `) && claimName(decided) === claimName(claim)) return
    }
    throw new Violation('an undecided claim is taken for decided')
  }

  gave (key: number, epoch: number, version: number): void {
    for (const [otherEpoch, other] of this.#given[key]!) {
      if (other === version) throw new Violation('one version is given twice')
      if ((otherEpoch < epoch && other >= version) || (otherEpoch > epoch && other <= version)) throw new Violation('versions do not grow along the claims of a key')
    }
    this.#given = this.#given.map((list, index) => index === key ? [...list, [epoch, version]] : list)
  }

  /** Highest version that a write which starts now must exceed. */
  seen (key: number): number {
    return Math.max(this.acknowledged[key]!, this.lastRead[key]!)
  }

  acknowledge (key: number, version: number, above: number): void {
    if (version <= above) throw new Violation('an acknowledged version is not above what was seen before')
    this.acknowledged[key] = Math.max(this.acknowledged[key]!, version)
    this.#checkCopies(key)
  }

  read (key: number, version: number): void {
    if (version < this.acknowledged[key]!) throw new Violation('a read is stale')
    if (version < this.lastRead[key]!) throw new Violation('a read goes back')
    this.lastRead[key] = version
  }

  #checkCopies (key: number): void {
    for (const member of this.newest[key]!.members) {
      if (this.versionAt(member, key) < this.acknowledged[key]!) throw new Violation('an acknowledged write is missing at a member of the newest decided claim')
    }
  }

  /** A text that is equal for equal states. */
  encode (): string {
    return `${textOf(this.#votes)}|${textOf(this.#decided)}|${this.acknowledged.join()}|${this.lastRead.join()}|${this.#given.map(list => list.join(';')).join('/')}`
  }
}

const texts = new WeakMap<object, string>()

function textOf (map: ReadonlyMap<string, Vote | Claim>): string {
  let text = texts.get(map)
  if (text === undefined) {
    const rows = [...map].map(([name, value]) => `${name}=${'value' in value ? `${claimName(value.value)}${[...value.voters].sort().join('')}` : claimName(value)}`)
    texts.set(map, text = rows.sort().join())
  }
  return text
}
