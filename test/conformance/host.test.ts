// The conformance suite of Host on both hosts.

import { generateKeyPair } from '@libp2p/crypto/keys'
import { createLibp2pHost } from '../../node/libp2p-host.ts'
import type { Libp2pHost } from '../../node/libp2p-host.ts'
import type { Logger, Metrics } from '../../overlay/host.ts'
import { World } from '../../testnet/simulator/world.ts'
import { hostConformance } from './host.ts'
import type { HostFixture } from './host-messages.ts'

const silence = (): void => {}
const log: Logger = { debug: silence, info: silence, warn: silence, error: silence }
const metrics: Metrics = { count: silence, gauge: silence, observe: silence }

async function simulated (codecs: boolean, count: number): Promise<HostFixture> {
  const world = new World({ seed: 7, codecs, latencyMs: { min: 1, max: 10 } })
  const hosts = Array.from({ length: count }, (_, i) => world.host(`node ${i}`))
  return {
    hosts,
    settle: async promise => await world.settle(promise),
    kill: async index => { world.kill(`node ${index}`) },
    stop: async index => { hosts[index]!.stop() },
    close: async () => {}
  }
}

async function real (count: number): Promise<HostFixture> {
  const hosts: Libp2pHost[] = []
  for (let i = 0; i < count; i++) {
    const privateKey = await generateKeyPair('Ed25519')
    hosts.push(await createLibp2pHost({ privateKey, listen: ['/ip4/127.0.0.1/tcp/0'], bootstrap: [], log, metrics }))
  }
  await Promise.all(hosts.map(async host => { await host.start() }))
  return {
    hosts,
    settle: async promise => await promise,
    kill: async index => { await hosts[index]!.stop() },
    stop: async index => { await hosts[index]!.stop() },
    close: async () => { await Promise.all(hosts.map(async host => { await host.stop() })) }
  }
}

hostConformance('simulated', async count => await simulated(true, count))
hostConformance('libp2p', real)
