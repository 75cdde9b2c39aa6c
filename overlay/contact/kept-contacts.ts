// Contacts on disk: whom this node last had as neighbors, so that after a restart it finds its ring again without a
// bootstrap list. Written only when they change.

import { fromString } from 'uint8arrays/from-string'
import type { Contact } from '../host.ts'
import type { Store } from '../store.ts'

const row = fromString('contacts')

export class KeptContacts {
  readonly #store: Store
  readonly #countMax: number
  #contacts: readonly Contact[]

  private constructor (store: Store, countMax: number, contacts: readonly Contact[]) {
    this.#store = store
    this.#countMax = countMax
    this.#contacts = contacts
  }

  static async open (store: Store, countMax: number): Promise<KeptContacts> {
    const bytes = store.getSync(row)
    return new KeptContacts(store, countMax, bytes === undefined ? [] : JSON.parse(new TextDecoder().decode(bytes)))
  }

  list (): readonly Contact[] {
    return this.#contacts
  }

  async keep (contacts: readonly Contact[]): Promise<void> {
    const kept = contacts.slice(0, this.#countMax)
    if (kept.length === 0 || JSON.stringify(kept) === JSON.stringify(this.#contacts)) return
    this.#contacts = kept
    await this.#store.batch([{ type: 'put', key: row, value: new TextEncoder().encode(JSON.stringify(kept)) }])
  }
}
