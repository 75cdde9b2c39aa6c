// Hello: nodes that wait for a ring tell each other whom they have met; a node that serves says so. `greet` asks known
// contacts for the ring and for links into it, so that a lookup can begin somewhere.

import { errorName } from '../errors.ts'
import type { Contact, Host } from '../host.ts'
import type { Member, MemberId } from '../member.ts'
import { helloMethod, surveyMethod } from '../messages.ts'
import type { OwnerView } from '../routing/routing.ts'

export interface GreetInit {
  readonly helloMs: number
  readonly neighborMs: number
  /** Nodes met and remembered at most. */
  readonly metMax: number
}

export interface GreetComponents {
  readonly host: Host
  readonly self: MemberId
  /** Nodes that said hello to us or were named by others. */
  readonly met: Map<MemberId, Member>
  isServing (): boolean
  knows (member: Member): void
  learn (view: OwnerView): void
}

export function handleHello ({ host, self, met, isServing, knows }: GreetComponents, init: GreetInit): void {
  host.handle(helloMethod, request => {
    for (const member of [request.self, ...request.met]) {
      knows(member)
      if (member.id !== self && met.size < init.metMax) met.set(member.id, member)
    }
    return { self: { id: self, contact: host.self }, serving: isServing(), met: [...met.values()] }
  })
}

/** @returns those that are in a ring; their links have been learned */
export async function greet ({ host, self, learn }: Pick<GreetComponents, 'host' | 'self' | 'learn'>, contacts: readonly Contact[], init: GreetInit, signal: AbortSignal): Promise<Member[]> {
  const serving: Member[] = []
  await Promise.all(contacts.map(async contact => {
    try {
      const reply = await host.call(contact, helloMethod, { self: { id: self, contact: host.self }, met: [] }, { deadlineMs: init.helloMs, signal })
      if (reply.self.id === self || !reply.serving) return
      serving.push(reply.self)
      const { self: node, links } = await host.call(reply.self.contact, surveyMethod, {}, { deadlineMs: init.neighborMs, signal })
      for (const { view } of node === undefined ? links : [node, ...links]) learn(view)
    } catch (error) {
      host.log.debug({ contact: contact.id, error: errorName(error) }, 'no hello')
    }
  }))
  return serving
}
