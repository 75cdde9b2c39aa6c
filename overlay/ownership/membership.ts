// Who shall hold copies of a piece: its owner and the nodes beside it, one left and one right, so that an exchange in
// either direction finds its records there already; at an end of the line the nearest ones of its one side. Membership
// goes by name (docs/ownership.md, "Copies"), so neighbors that change are followed in the background, one change after
// the other, and never below the number of copies that there are now.

import type { Member, MemberId } from '../member.ts'
import type { Claim, Piece } from './claim.ts'

export interface CopiesInit {
  /** Members of a claim, its owner among them, where there are so many nodes. */
  readonly copies: number
}

export interface Wanted {
  readonly self: Member
  /** Nearest first. */
  readonly left: readonly Member[]
  readonly right: readonly Member[]
}

/** The members that a claim of self should name, owner first; fewer than copies where there are fewer nodes. */
export function wantedMembers ({ self, left, right }: Wanted, copies: number): Member[] {
  const members = [self]
  for (let distance = 0; members.length < copies && distance < Math.max(left.length, right.length); distance++) {
    for (const member of [left[distance], right[distance]]) {
      if (member !== undefined && members.length < copies && !members.some(({ id }) => id === member.id)) members.push(member)
    }
  }
  return members
}

/** Wanted members, and present ones that live in the places that are left. */
export function nextMembers (claim: Claim, wanted: readonly Member[], present: readonly Member[], copies: number): Member[] {
  const members = [...wanted]
  for (const member of present) {
    if (members.length < copies && claim.members.includes(member.id) && !members.some(({ id }) => id === member.id)) members.push(member)
  }
  return members
}

export function sameMembers (claim: Claim, members: readonly { readonly id: MemberId }[]): boolean {
  return claim.members.length === members.length && members.every(({ id }) => claim.members.includes(id))
}

/** For a part that goes to a new owner: it, then those that hold the part already, first the giver. */
export function membersWithout (pieces: readonly Piece[], owner: Member, giver: Member | undefined, contactOf: (id: MemberId) => Member | undefined, copies: number): Member[] {
  const members = [owner]
  const holding = (pieces[0]?.claim.members ?? []).filter(id => pieces.every(({ claim }) => claim.members.includes(id)))
  const candidates = [...giver === undefined ? [] : [giver], ...holding.flatMap(id => contactOf(id) ?? [])]
  for (const member of candidates) {
    if (members.length < copies && !members.some(({ id }) => id === member.id)) members.push(member)
  }
  return members
}
