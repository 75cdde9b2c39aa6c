// How many disks may be lost: of the members that a claim names, at most so many, and a majority has to be left, since without
// one nobody can decide who comes next. What is not spared is bound to lose data or to stand still, which would say nothing of
// the protocol. Claims that some store holds count, old ones too, and so do successors that are accepted; of a change that has
// begun nobody can see yet what it will be, so its members keep their disks.

import type { MemberId } from '../../../overlay/member.ts'
import type { Register } from '../../../overlay/ownership/register.ts'

/** @param lost - members whose disks are lost already */
export function mayLoseDisk (registers: ReadonlyArray<Pick<Register, 'claim' | 'promised' | 'accepted'>>, lost: ReadonlySet<MemberId>, member: MemberId, lostMax: number): boolean {
  return registers.every(({ claim, promised, accepted }) => {
    const claims = accepted === undefined ? [claim] : [claim, accepted.claim]
    return claims.every(({ members }) => {
      if (!members.includes(member)) return true
      if (promised !== undefined) return false
      const lostCount = members.filter(each => each === member || lost.has(each)).length
      return lostCount <= lostMax && (members.length - lostCount) * 2 > members.length
    })
  })
}
