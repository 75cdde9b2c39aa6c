// Two real nodes, of which one's wall clock jumps by an hour or a day, either way, while they run: what has a deadline keeps
// it, nobody is held for dead, nothing ends before its time, and the versions of a key ascend.

import assert from 'node:assert/strict'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Codec, Logger, Method, Metrics } from '../../overlay/host.ts'
import { overlayDefaults } from '../../overlay/init.ts'
import type { Extent } from '../../overlay/space/extent.ts'
import { createLibp2pHost, type Libp2pHost } from '../../node/libp2p-host.ts'
import { Node } from '../../node/node.ts'
import { machineClocks } from '../../node/steady-clock.ts'
import { storageDefaults } from '../../storage/init.ts'
import { MemoryStore } from '../../storage/memory-store.ts'
import { compareVersions } from '../../storage/records/version.ts'
import type { Version } from '../../storage/storage-api.ts'

const hourMs = 3_600_000
const text: Codec<string> = { encode: text => new TextEncoder().encode(text), decode: bytes => new TextDecoder().decode(bytes) }
const slow: Method<string, string> = { name: 'test/1/slow', request: text, reply: text }
const deadline = { deadlineMs: 20_000 }
const silence = (): void => {}
const log: Logger = { debug: silence, info: silence, warn: silence, error: silence }
const metrics: Metrics = { count: silence, gauge: silence, observe: silence }
const world: Extent = { kind: 'box', west: -180, south: -90, east: 180, north: 90 }
const utf8 = new TextEncoder()

interface Running {
  readonly host: Libp2pHost
  readonly node: Node
}

describe('a wall clock that jumps', () => {
  const running: Running[] = []
  /** What the wall clock of the first peer shows beyond the right time. */
  let aheadMs: number
  let [jumping, other]: Running[] = []

  async function run (bootstrap: readonly string[], wall: () => number): Promise<Running> {
    const host = await createLibp2pHost({ privateKey: await generateKeyPair('Ed25519'), listen: ['/ip4/127.0.0.1/tcp/0'], bootstrap, log, metrics, clocks: { ...machineClocks, wall } })
    await host.start()
    const node = new Node({ host, store: new MemoryStore() }, {
      overlay: overlayDefaults,
      storage: storageDefaults,
      unicodeVersion: '15',
      version: 'test',
      founding: bootstrap.length === 0 ? 'now' : 'after meeting',
      limits: {}
    })
    running.push({ host, node })
    await node.start()
    return { host, node }
  }

  before(async () => {
    aheadMs = 0
    jumping = await run([], () => Date.now() + aheadMs)
    other = await run([`${jumping.host.self.addresses[0]}/p2p/${jumping.host.self.id}`], Date.now)
    while (other.node.state() !== 'serving') await other.host.sleep(20)
  })

  after(async () => {
    for (const { node, host } of running.splice(0)) {
      node.stop()
      await host.stop()
    }
  })

  it('by hours and days leaves versions ascending, deadlines and peers as they were, and nothing ended', async () => {
    assert(jumping !== undefined && other !== undefined)
    const versions: Version[] = []
    const put = async (by: Running, value: string): Promise<void> => {
      const { version } = await by.node.storage.put({ collection: 'kv', key: utf8.encode('k'), value: utf8.encode(value) }, deadline)
      versions.push(version)
    }
    const move = async (lon: number): Promise<void> => {
      await other!.node.storage.put({ collection: 'places', key: utf8.encode('van'), value: utf8.encode('v'), point: [lon, 10] }, deadline)
    }
    let release: Array<(reply: string) => void> = []
    other.host.handle(slow, async () => await new Promise<string>(resolve => { release.push(resolve) }))
    let gone = 0
    jumping.host.onGone(() => { gone++ })
    for (const byMs of [hourMs, -hourMs, 24 * hourMs, -48 * hourMs, 24 * hourMs]) {
      await put(jumping, `before ${byMs}`)
      const call: Promise<string> = jumping.host.call(other.host.self, slow, 'x', deadline)
      const deadlineSignal = jumping.host.deadline(20_000)
      const startMs = jumping.host.now()
      while (release.length === 0) await other.host.sleep(1)
      aheadMs += byMs
      assert(jumping.host.now() - startMs < 20_000)
      await put(jumping, `after ${byMs}`)
      await put(other, `of the other after ${byMs}`)
      await move(byMs / hourMs)
      await move(byMs / hourMs + 90)
      release[0]!('in time')
      release = []
      assert.equal(await call, 'in time')
      assert.equal(deadlineSignal.aborted, false)
      const found = await jumping.node.storage.find({ collection: 'places', extent: world, words: [], match: 'all', limit: 10 }, deadline)
      assert.deepEqual(found.records.map(record => record.point), [[byMs / hourMs + 90, 10]])
      const { peers, complete } = await jumping.node.peers(deadline)
      assert.deepEqual([complete, peers.map(peer => peer.state)], [true, ['serving', 'serving']])
      assert((await jumping.node.status()).uptimeMs < 60_000)
    }
    assert.equal(gone, 0)
    assert.equal(versions.length, 15)
    for (const [at, version] of versions.entries()) if (at > 0) assert(compareVersions(versions[at - 1]!, version) < 0, `${at}: ${JSON.stringify(versions)}`)
  })
})
