// The contact book: how to call a member that a claim names by its id. Filled from every view that arrives; bounded,
// oldest entry first out.

import type { Contact } from '../host.ts'
import type { Member, MemberId } from '../member.ts'

export class Book {
  readonly #entriesMax: number
  readonly #contacts = new Map<MemberId, Contact>()

  constructor (entriesMax: number) {
    this.#entriesMax = entriesMax
  }

  learn (member: Member): void {
    const known = this.#contacts.get(member.id)
    if (known === member.contact) return
    // a contact without addresses never replaces one that has some
    if (known !== undefined && member.contact.addresses.length === 0) return
    this.#contacts.delete(member.id)
    this.#contacts.set(member.id, member.contact)
    if (this.#contacts.size > this.#entriesMax) this.#contacts.delete(this.#contacts.keys().next().value!)
  }

  get (id: MemberId): Member | undefined {
    const contact = this.#contacts.get(id)
    return contact === undefined ? undefined : { id, contact }
  }
}
