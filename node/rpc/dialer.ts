// Connections to peers, one dial a peer at a time. A peer whose dial failed is left alone for a while that doubles, with
// jitter, so that many callers do not storm a node that is coming back. A refusal is told apart from silence: it means
// that no process listens at any of the contact's addresses.

import type { Connection, Libp2p, PeerId } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { CODE_P2P, multiaddr } from '@multiformats/multiaddr'
import type { Multiaddr } from '@multiformats/multiaddr'
import { UnreachableError } from '../../overlay/errors.ts'
import type { Contact, Logger, Metrics } from '../../overlay/host.ts'
import { addressesMax, backoffMsMax, backoffMsMin, dialTimeoutMs } from './init.ts'

export interface DialerComponents {
  readonly libp2p: Libp2p
  readonly now: () => number
  readonly random: () => number
  readonly log: Logger
  readonly metrics: Metrics
  readonly onRefused: (contact: Contact) => void
}

interface Backoff {
  readonly failures: number
  readonly untilMs: number
  readonly addresses: string
}

export class Dialer {
  readonly #components: DialerComponents
  readonly #dials = new Map<string, Promise<Connection>>()
  readonly #backoffs = new Map<string, Backoff>()

  constructor (components: DialerComponents) { this.#components = components }

  /** @throws UnreachableError */
  async connect (contact: Contact): Promise<Connection> {
    const peer = readPeerId(contact.id)
    const open = this.#components.libp2p.getConnections(peer).find(connection => connection.status === 'open')
    if (open !== undefined) return open
    let dial = this.#dials.get(contact.id)
    if (dial === undefined) {
      this.#assertNotBackingOff(contact)
      dial = this.#dial(contact, peer).finally(() => { this.#dials.delete(contact.id) })
      this.#dials.set(contact.id, dial)
    }
    return await dial
  }

  /** The peer has shown that it lives. */
  forgive (id: string): void { this.#backoffs.delete(id) }

  async #dial (contact: Contact, peer: PeerId): Promise<Connection> {
    const { libp2p, log, metrics, onRefused } = this.#components
    try {
      const addresses = readAddresses(contact, log)
      const connection = await libp2p.dial(addresses.length > 0 ? addresses : peer, { signal: AbortSignal.timeout(dialTimeoutMs) })
      this.forgive(contact.id)
      metrics.count('rpc_dials', { result: 'connected' })
      return connection
    } catch (error) {
      const refused = isRefused(error)
      this.#backOff(contact)
      metrics.count('rpc_dials', { result: refused ? 'refused' : 'failed' })
      log.debug({ peer: contact.id, error }, 'a dial failed')
      if (refused) onRefused(contact)
      throw new UnreachableError(`no connection to ${contact.id} at ${contact.addresses.join(', ')}: ${(error as Error).message}`)
    }
  }

  #assertNotBackingOff (contact: Contact): void {
    const backoff = this.#backoffs.get(contact.id)
    if (backoff === undefined || backoff.addresses !== contact.addresses.join() || this.#components.now() >= backoff.untilMs) return
    throw new UnreachableError(`${contact.id} could not be reached ${backoff.failures} times and is left alone for a moment`)
  }

  #backOff (contact: Contact): void {
    const { now, random } = this.#components
    const failures = (this.#backoffs.get(contact.id)?.failures ?? 0) + 1
    const waitMs = Math.min(backoffMsMax, backoffMsMin * 2 ** (failures - 1)) * (1 + random()) / 2
    this.#backoffs.delete(contact.id)
    this.#backoffs.set(contact.id, { failures, untilMs: now() + waitMs, addresses: contact.addresses.join() })
    if (this.#backoffs.size > backoffsMax) this.#backoffs.delete(this.#backoffs.keys().next().value!)
  }
}

/** Peers whose failures are remembered; the oldest is forgotten (guess). */
const backoffsMax = 4096

function readPeerId (id: string): PeerId {
  try {
    return peerIdFromString(id)
  } catch (error) {
    throw new UnreachableError(`${id} is no peer id: ${(error as Error).message}`)
  }
}

/** The contact's addresses with its id, those that can be read. */
function readAddresses (contact: Contact, log: Logger): Multiaddr[] {
  const addresses: Multiaddr[] = []
  for (const text of contact.addresses.slice(0, addressesMax)) {
    try {
      const address = multiaddr(text)
      const hasId = address.getComponents().some(component => component.code === CODE_P2P)
      addresses.push(hasId ? address : address.encapsulate(`/p2p/${contact.id}`))
    } catch (error) {
      log.debug({ address: text, error }, 'an address cannot be read')
    }
  }
  return addresses
}

/**
 * True where the peer is at none of its addresses: each refused, or another peer answers there, and one at least refused.
 * An address that is silent may still belong to a living process.
 */
export function isRefused (error: unknown): boolean {
  const errors: unknown[] = error instanceof AggregateError ? error.errors : [error]
  return errors.some(refuses) && errors.every(one => refuses(one) || (one instanceof Error && one.name === 'UnexpectedPeerError'))
}

function refuses (error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === 'ECONNREFUSED'
}
