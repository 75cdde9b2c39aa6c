// Ways into a ring: peers that are connected, the bootstrap list, and, where nobody on that list answers, what kad-dht
// finds near this node's own id, beginning at the connected peers. A query of kad-dht opens streams to many peers, and
// costs more than all the rest when many start at once, so it is the last resort. A bootstrap address without a peer id is
// dialed to learn the id. Bounded in time, and in number: what lies beyond discoveredMax, connected peers first, is cut.

import type { PeerId } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import type { Contact, Logger } from '../overlay/host.ts'
import { hasPeerId, peerIdIn, withoutPeerId } from './libp2p-node.ts'
import type { Libp2pNode } from './libp2p-node.ts'
import { discoverMoreMsMax, discoverMsMax, discoveredMax } from './rpc/init.ts'

export interface DiscoverComponents {
  readonly libp2p: Libp2pNode
  readonly log: Logger
  /** What peers said of themselves, by id. */
  readonly contacts: ReadonlyMap<string, Contact>
  /** A signal that aborts after ms, or when the node stops. */
  readonly deadline: (ms: number) => AbortSignal
}

/** Connected peers first, then the bootstrap list, then what kad-dht knows: discoveredMax contacts at most, none twice. */
export async function discover ({ libp2p, log, contacts, deadline }: DiscoverComponents, listed: readonly string[]): Promise<Contact[]> {
  const own = new Set(libp2p.getMultiaddrs().map(address => withoutPeerId(address.toString())))
  const bootstrap = listed.filter(address => !own.has(withoutPeerId(address)))
  const found = new Map<string, Contact>()
  const add = (contact: Contact): void => {
    const key = contact.id === '' ? contact.addresses.join() : contact.id
    if (contact.id !== libp2p.peerId.toString() && contact.addresses.length > 0 && !found.has(key)) found.set(key, contact)
  }
  const isAlone = libp2p.getPeers().length === 0 && !bootstrap.some(hasPeerId)
  const bounded = deadline(isAlone ? discoverMsMax : discoverMoreMsMax)
  const nameless = bootstrap.filter(address => !hasPeerId(address))
  const dialed = await Promise.all(nameless.map(address => dialNameless(libp2p, address, bounded)))
  const named = namedContacts(bootstrap)
  const connected = new Set(libp2p.getPeers().map(peer => peer.toString()))
  const listLeads = dialed.some(({ id }) => id !== '') || named.some(({ id }) => connected.has(id))
  // its own deadline: an address that is silent may have used up the first
  const near = listLeads || connected.size === 0 ? [] : await nearPeers(libp2p, log, deadline(discoverMsMax))
  for (const peer of libp2p.getPeers()) add(contacts.get(peer.toString()) ?? await stored(libp2p, peer))
  for (const contact of dialed) add(contact)
  for (const contact of named) add(contact)
  for (const contact of near) add(contact)
  return [...found.values()].slice(0, discoveredMax)
}

/** One contact for each peer id in the list, with all its addresses. */
function namedContacts (bootstrap: readonly string[]): Contact[] {
  const byId = new Map<string, string[]>()
  for (const address of bootstrap) {
    const id = peerIdIn(address)
    if (id !== undefined) byId.set(id, [...byId.get(id) ?? [], withoutPeerId(address)])
  }
  return [...byId].map(([id, addresses]) => ({ id, addresses }))
}

async function dialNameless (libp2p: Libp2pNode, address: string, signal: AbortSignal): Promise<Contact> {
  try {
    const connection = await libp2p.dial(multiaddr(address), { signal })
    return { id: connection.remotePeer.toString(), addresses: [address] }
  } catch {
    // One that is not up yet, or this node itself under a name that it does not know; the caller asks again.
    return { id: '', addresses: [address] }
  }
}

async function nearPeers (libp2p: Libp2pNode, log: Logger, signal: AbortSignal): Promise<Contact[]> {
  const near: Contact[] = []
  // without isSelfQuery it would wait for kad-dht's own first query, which comes seconds after the start
  const options = { signal, isSelfQuery: true }
  try {
    for await (const event of libp2p.services.dht.getClosestPeers(libp2p.peerId.toMultihash().bytes, options)) {
      if (event.name !== 'FINAL_PEER') continue
      near.push({ id: event.peer.id.toString(), addresses: event.peer.multiaddrs.map(address => withoutPeerId(address.toString())) })
      if (near.length === discoveredMax) break
    }
  } catch (error) {
    log.debug({ error }, 'kad-dht gave no more peers')
  }
  return near
}

async function stored (libp2p: Libp2pNode, peer: PeerId): Promise<Contact> {
  const id = peer.toString()
  try {
    const { addresses } = await libp2p.peerStore.get(peer)
    return { id, addresses: addresses.map(address => withoutPeerId(address.multiaddr.toString())) }
  } catch {
    return { id, addresses: [] }
  }
}
