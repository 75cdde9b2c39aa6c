// How many disks may be lost: of the members that a claim names, at most so many, and a majority has to be left, since without
// one nobody can decide who comes next. What is not spared is bound to lose data, which would say nothing of the protocol.

import type { Claim } from '../../../overlay/ownership/claim.ts'
import type { MemberId } from '../../../overlay/member.ts'

/** @param lost - members whose disks are lost already */
export function mayLoseDisk (claims: readonly Claim[], lost: ReadonlySet<MemberId>, member: MemberId, lostMax: number): boolean {
  return claims.every(({ members }) => {
    if (!members.includes(member)) return true
    const lostCount = members.filter(each => each === member || lost.has(each)).length
    return lostCount <= lostMax && (members.length - lostCount) * 2 > members.length
  })
}
