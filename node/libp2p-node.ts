// The libp2p node under the host: TCP, Noise, Yamux, identify, ping, kad-dht within the local network, bootstrap list.
// Settings differ from libp2p's defaults where those were found to break a network of our kind; each says why.

import './promise-with-resolvers.ts'
import { noise } from '@chainsafe/libp2p-noise'
import { bootstrap } from '@libp2p/bootstrap'
import { identify } from '@libp2p/identify'
import type { Identify } from '@libp2p/identify'
import type { Libp2p, PrivateKey } from '@libp2p/interface'
import { kadDHT, passthroughMapper } from '@libp2p/kad-dht'
import type { KadDHT } from '@libp2p/kad-dht'
import { ping } from '@libp2p/ping'
import type { Ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { CODE_P2P, multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { addressDialTimeoutMs, dialTimeoutMs, peerConnectionsMax } from './rpc/init.ts'

export interface Libp2pNodeInit {
  readonly privateKey: PrivateKey
  /** Multiaddrs to listen at. */
  readonly listen: readonly string[]
  /** Multiaddrs to tell others instead of those listened at. */
  readonly announce?: readonly string[] | undefined
  /** Multiaddrs of peers to begin with, with or without their ids. */
  readonly bootstrap: readonly string[]
  /** Connections to peers, at most; further ones are turned away. */
  readonly connectionsMax?: number | undefined
}

// A type, not an interface: libp2p's services are indexed by name.

export type Libp2pServices = { identify: Identify, ping: Ping, dht: KadDHT }
export type Libp2pNode = Libp2p<Libp2pServices>

/** Not started yet. */
export async function createLibp2pNode (init: Libp2pNodeInit): Promise<Libp2pNode> {
  const connectionsMax = Math.min(init.connectionsMax ?? peerConnectionsMax, peerConnectionsMax)
  const withId = init.bootstrap.filter(hasPeerId)
  return await createLibp2p<Libp2pServices>({
    start: false,
    privateKey: init.privateKey,
    addresses: { listen: [...init.listen], ...(init.announce === undefined ? {} : { announce: [...init.announce] }) },
    transports: [tcp({ maxConnections: connectionsMax })],
    connectionEncrypters: [noise()],
    // A window that grows beyond the read buffer resets streams that pause.
    streamMuxers: [yamux({ streamOptions: { initialStreamWindowSize: 256 * 1024, maxStreamWindowSize: 2 ** 20, maxReadBufferLength: 4 * 2 ** 20 } })],
    // The defaults refuse the sixth connection a second from one address, which keeps peers of one machine apart.
    connectionManager: { inboundConnectionThreshold: 10_000, maxIncomingPendingConnections: 500, maxConnections: connectionsMax, dialTimeout: dialTimeoutMs, addressDialTimeout: addressDialTimeoutMs },
    // It opens a stream to each peer every 10 s: a quarter of a core for 200 connections.
    connectionMonitor: { enabled: false },
    peerDiscovery: withId.length === 0 ? [] : [bootstrap({ list: withId, timeout: 0 })],
    services: {
      identify: identify(),
      ping: ping(),
      dht: kadDHT({
        protocol: '/isobar/kad/1.0.0',
        clientMode: false,
        // The default mapper drops private addresses, and routing tables stay empty on loopback and in local networks.
        peerInfoMapper: passthroughMapper,
        // With true, the first query asks nobody and the next comes minutes later.
        allowQueryWithZeroPeers: false,
        // While many peers start at once, each filling its table at once costs more than all the rest.
        initialQuerySelfInterval: 5_000,
        querySelfInterval: 60_000
      })
    }
  })
}

export function hasPeerId (address: string): boolean {
  return peerIdIn(address) !== undefined
}

/** The peer id that a multiaddr ends with. */
export function peerIdIn (address: string): string | undefined {
  return multiaddr(address).getComponents().findLast(component => component.code === CODE_P2P)?.value
}

/** The address without a peer id, since a contact names that by itself. */
export function withoutPeerId (address: string): string {
  return address.replace(/\/p2p\/[^/]+$/, '')
}
