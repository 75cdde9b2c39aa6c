// A member: the identity of a store together with the way to call the node that has it open. Claims name members by
// their ids; an empty disk is a new member, whatever its peer id says (docs/ownership.md, "An empty disk is a new member").

import type { Contact } from './host.ts'

/** Random id of a store: 32 lower-case hex digits. */
export type MemberId = string

export interface Member {
  readonly id: MemberId
  readonly contact: Contact
}
