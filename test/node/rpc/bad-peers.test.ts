// Peers that mean no good, over real libp2p streams on loopback: they are disconnected, or left to wait, and told of once,
// and the neighbor beside them notices nothing.

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Connection, Stream } from '@libp2p/interface'
import type { Codec, Logger, Method, Metrics, PullMethod } from '../../../overlay/host.ts'
import { createLibp2pHost, type Libp2pHost } from '../../../node/libp2p-host.ts'
import { Framer } from '../../../node/rpc/framer.ts'
import { bulkProtocol, rpcProtocol } from '../../../node/rpc/peers.ts'
import { decodeFrame, encodeHello, encodeNotice, encodeRequest } from '../../../node/rpc/wire/frame.ts'
import { Random } from '../../../testnet/simulator/random.ts'

const text: Codec<string> = { encode: text => new TextEncoder().encode(text), decode: bytes => new TextDecoder().decode(bytes) }
const ask: Method<string, string> = { name: 'test/1/ask', request: text, reply: text }
const large: Method<string, string> = { name: 'test/1/large', request: text, reply: text }
const rows: PullMethod<string, string> = { name: 'test/1/rows', request: text, row: text }
const largeBytes = 64 * 1024
const seed = Number(process.env['ISOBAR_SEED'] ?? 42)
const silence = (): void => {}

describe('a peer that means no good', () => {
  const hosts: Libp2pHost[] = []
  let good: Libp2pHost
  let neighbor: Libp2pHost
  let bad: Libp2pHost
  let warned: string[]
  let counts: Map<string, number>
  /** Times that the handler of `large` has run. */
  let largeRuns: number

  async function make (log: Logger, metrics: Metrics): Promise<Libp2pHost> {
    const host = await createLibp2pHost({ privateKey: await generateKeyPair('Ed25519'), listen: ['/ip4/127.0.0.1/tcp/0'], bootstrap: [], log, metrics })
    hosts.push(host)
    host.handle(ask, request => `re ${request}`)
    return host
  }

  beforeEach(async () => {
    warned = []
    counts = new Map()
    largeRuns = 0
    const quiet: Logger = { debug: silence, info: silence, warn: silence, error: silence }
    const uncounted: Metrics = { count: silence, gauge: silence, observe: silence }
    good = await make({ ...quiet, warn: (_fields, text) => { warned.push(text) } }, { ...uncounted, count: (name, _labels, by = 1) => { counts.set(name, (counts.get(name) ?? 0) + by) } })
    neighbor = await make(quiet, uncounted)
    bad = await make(quiet, uncounted)
    good.handle(large, () => {
      largeRuns++
      return 'x'.repeat(largeBytes)
    })
    good.handlePull(rows, async function * () { yield 'row' })
    await Promise.all(hosts.map(async host => { await host.start() }))
    await neighborIsServed()
  })

  afterEach(async () => {
    await Promise.all(hosts.splice(0).map(async host => { await host.stop() }))
  })

  async function neighborIsServed (): Promise<void> {
    assert.equal(await neighbor.call(good.self, ask, 'well', { deadlineMs: 10_000 }), 're well')
  }

  async function openStream (protocol: string): Promise<{ connection: Connection, stream: Stream, closed: Promise<void> }> {
    for (let tries = 1; ; tries++) {
      const connection = await bad.libp2p.dial(good.libp2p.getMultiaddrs())
      const closed = new Promise<void>(resolve => { connection.addEventListener('close', () => { resolve() }) })
      try {
        return { connection, stream: await connection.newStream(protocol), closed }
      } catch (error) {
        // kad-dht may have dialed too, and what ends one connection of a peer ends all.
        if (tries === 200) throw error
        await neighborIsServed()
      }
    }
  }

  /** What cannot be sent any more is not: the far end has closed. */
  function send (stream: Stream, bytes: Uint8Array): void {
    if (stream.status === 'open') stream.send(bytes)
  }

  for (const [title, protocol] of [['calls', rpcProtocol], ['bulk', bulkProtocol]] as const) {
    it(`is disconnected for random bytes on a stream of ${title}, each time, and told of once`, async () => {
      const random = new Random(seed, 'bytes')
      const disconnects = (): number => counts.get('rpc_disconnects') ?? 0
      for (let time = 0; time < 50 && disconnects() < 10; time++) {
        const { stream, closed } = await openStream(protocol)
        // Begins as a frame of unknown kind, else the bytes might say that much is to come and the end be silence.
        send(stream, Uint8Array.from([2, 0, 0, 0, 200, 200, ...Array.from({ length: 5_000 }, () => random.uint32() & 255)]))
        await closed
      }
      assert.deepEqual(warned, ['a peer is disconnected'], `seed ${seed}`)
      assert.equal(disconnects(), 10)
      await neighborIsServed()
    })
  }

  it('is disconnected for a row request whose length goes beyond the bound', async () => {
    const { stream, closed } = await openStream(bulkProtocol)
    send(stream, Uint8Array.from([0xff, 0xff, 0xff, 0xff, 0x0f]))
    await closed
    assert.deepEqual(warned, ['a peer is disconnected'])
    await neighborIsServed()
  })

  it('is disconnected after a flood of requests for what nobody knows, and told of once for each', async () => {
    const { stream, closed } = await openStream(rpcProtocol)
    send(stream, encodeHello([]))
    const requests = Buffer.concat(Array.from({ length: 500 }, (_, id) => encodeRequest(id, `no/such/${id}`, Buffer.from('x'))))
    for (let time = 0; time < 10; time++) send(stream, requests)
    await closed
    assert.deepEqual(warned, ['a peer asks for what is unknown here or cannot be read; is it of another version?', 'a peer is disconnected'])
    assert.equal(counts.get('rpc_failures'), 1_001)
    await neighborIsServed()
  })

  it('that does not read its replies makes no more of them, and gets them all when it reads', async () => {
    const { stream } = await openStream(rpcProtocol)
    let replies = 0
    let resolveAll!: () => void
    const all = new Promise<void>(resolve => { resolveAll = resolve })
    const framer = new Framer(frame => {
      assert.equal(decodeFrame(frame).kind, 'reply')
      if (++replies === 1_000) resolveAll()
    })
    stream.addEventListener('message', event => { framer.push(event.data) })
    stream.pause()
    send(stream, encodeHello([]))
    send(stream, Buffer.concat(Array.from({ length: 1_000 }, (_, id) => encodeRequest(id, large.name, Buffer.from('x')))))
    // It has come to a standstill when nothing has changed for many turns of others.
    for (let runs = -1; runs !== largeRuns || runs === 0;) {
      runs = largeRuns
      for (let turn = 0; turn < 50; turn++) await neighborIsServed()
    }
    // 4 MiB wait here, one reply may go beyond it, and up to 1 MiB lies in each end's window.
    assert(largeRuns * largeBytes <= 7 << 20, `${largeRuns} replies of ${largeBytes} bytes were made`)
    stream.resume()
    await all
    assert.equal(largeRuns, 1_000)
    assert.deepEqual(warned, [])
  })

  it('that begins a frame and says no more harms nobody, also where it does so on each of its streams', async () => {
    const { connection } = await openStream(rpcProtocol)
    for (let count = 0; count < 6; count++) send(await connection.newStream(rpcProtocol), Uint8Array.from([0, 0, 16, 0, 1, 2, 3]))
    for (let count = 0; count < 20; count++) send(await connection.newStream(bulkProtocol), Uint8Array.from([0x80, 0x80, 0x40, 1, 2, 3]))
    await neighborIsServed()
    assert.deepEqual(warned, [])
  })

  it('that opens connections without end keeps eight', async () => {
    const opened: Connection[] = []
    for (let count = 0; count < 12; count++) {
      const connection = await bad.libp2p.dial(good.libp2p.getMultiaddrs(), { force: true }).catch(() => undefined)
      if (connection !== undefined) opened.push(connection)
    }
    const kept = (): number => good.libp2p.getConnections(bad.libp2p.peerId).length
    for (let turn = 0; turn < 1_000 && kept() > 8; turn++) await neighborIsServed()
    assert.equal(kept(), 8)
    assert.deepEqual(warned, ['a peer has too many connections; its last one is closed'])
    await neighborIsServed()
  })

  it('that speaks no libp2p, or nothing at all, keeps nobody else out', async () => {
    const port = Number(/tcp\/(\d+)/.exec(good.self.addresses[0] ?? '')?.[1])
    const random = new Random(seed, 'bytes')
    const sockets = Array.from({ length: 50 }, (_, at) => {
      const socket = connect(port, '127.0.0.1').on('error', silence)
      // After a length that libp2p takes for one, or it would wait for more.
      if (at % 2 === 0) socket.write(Buffer.from([20, ...Array.from({ length: 3_000 }, () => random.uint32() & 255)]))
      return socket
    })
    await Promise.all(sockets.map(async (socket, at) => { if (at % 2 === 0) await new Promise(resolve => { socket.resume().once('close', resolve) }) }))
    const late = await make({ debug: silence, info: silence, warn: silence, error: silence }, { count: silence, gauge: silence, observe: silence })
    await late.start()
    assert.equal(await late.call(good.self, ask, 'late', { deadlineMs: 10_000 }), 're late')
    await neighborIsServed()
    for (const socket of sockets) socket.destroy()
    assert.deepEqual(warned, [], `seed ${seed}`)
  })

  it('that asks for rows with something else than hello and request is disconnected', async () => {
    const { stream, closed } = await openStream(bulkProtocol)
    const notice = encodeNotice(rows.name, Buffer.from('x')).subarray(4)
    send(stream, Buffer.concat([Buffer.from([notice.length]), notice, Buffer.from([notice.length]), notice]))
    await closed
    assert.deepEqual(warned, ['a peer is disconnected'])
  })
})
