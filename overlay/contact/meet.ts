// Founding: does this node join a ring or found one? Nodes that wait exchange contacts. A node with a list of others to
// join never founds while one of them may lead into a ring: only when every listed one has answered without a ring and
// this node's id is the lowest of all that met, or, where some are refused, after a long wait (docs/ownership.md, "Founding").
// Rings founded apart all the same stay apart for now.

import { errorName } from '../errors.ts'
import type { Contact, Host } from '../host.ts'
import type { Member, MemberId } from '../member.ts'
import { helloMethod, type HelloReply } from '../messages.ts'

export interface MeetInit {
  readonly helloMs: number
  /** Milliseconds between rounds of hellos. */
  readonly meetIntervalMs: number
  /** Milliseconds for which the same nodes must have met, all answering, before the lowest founds. */
  readonly settledMs: number
  /** Milliseconds after which the lowest founds though some did not answer; others wait twice as long. */
  readonly foundAfterMs: number
  readonly metMax: number
}

export interface MeetComponents {
  readonly host: Host
  /** Contacts to try besides what the host discovers; looked at in each round. */
  known (): readonly Contact[]
  readonly self: MemberId
  /** Nodes that said hello to us or were named by others while we wait. */
  readonly met: Map<MemberId, Member>
}

export type Meeting =
  | { readonly outcome: 'ring', readonly through: readonly Member[] }
  | { readonly outcome: 'found' }

/** Resolves when a ring is met or this node is to found one. @throws AbortError */
export async function meet (components: MeetComponents, init: MeetInit, signal: AbortSignal): Promise<Meeting> {
  const { host, self, met } = components
  const startMs = host.now()
  let settledSince = startMs
  let settledWith = ''
  for (;;) {
    const contacts = dedupe([...components.known(), ...await host.discover(), ...[...met.values()].map(member => member.contact)], host.self)
    const round = await hellos(components, contacts, init, signal)
    const through = round.replies.filter(reply => reply.serving).map(reply => reply.self)
    if (through.length > 0) return { outcome: 'ring', through }
    for (const member of round.replies.flatMap(reply => [reply.self, ...reply.met])) {
      if (member.id !== self && met.size < init.metMax) met.set(member.id, member)
    }
    const ids = [...met.keys(), self].sort()
    const nowWith = ids.join()
    const allAnswer = round.silent === 0 && round.replies.length > 0
    if (nowWith !== settledWith || !allAnswer) settledSince = host.now()
    settledWith = nowWith
    const waitedMs = host.now() - startMs
    const isLowest = ids[0] === self
    if (isLowest && host.now() - settledSince >= init.settledMs) return { outcome: 'found' }
    if (waitedMs >= (isLowest ? 1 : 2) * init.foundAfterMs) return { outcome: 'found' }
    await host.sleep(init.meetIntervalMs * (0.75 + host.random() / 2), signal)
  }
}

async function hellos ({ host, self, met }: MeetComponents, contacts: readonly Contact[], init: MeetInit, signal: AbortSignal): Promise<{ replies: HelloReply[], silent: number }> {
  const replies: HelloReply[] = []
  let silent = 0
  await Promise.all(contacts.slice(0, init.metMax).map(async contact => {
    try {
      const reply = await host.call(contact, helloMethod, { self: { id: self, contact: host.self }, met: [...met.values()] }, { deadlineMs: init.helloMs, signal })
      if (reply.self.id !== self) replies.push(reply)
    } catch (error) {
      if (signal.aborted) throw error
      host.log.debug({ contact: contact.id, error: errorName(error) }, 'no hello')
      silent++
    }
  }))
  return { replies, silent }
}

function dedupe (contacts: readonly Contact[], self: Contact): Contact[] {
  const unique = new Map<string, Contact>()
  for (const contact of contacts) {
    if (contact.id !== '' && contact.id === self.id) continue
    unique.set(contact.id === '' ? contact.addresses.join() : contact.id, contact)
  }
  return [...unique.values()]
}
