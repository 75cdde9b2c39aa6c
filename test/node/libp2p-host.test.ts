// What only the real host does: peers that break the protocol, nodes that begin all at once, back-off, discovery.

import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { UnreachableError } from '../../overlay/errors.ts'
import type { Codec, Contact, Logger, Method, Metrics } from '../../overlay/host.ts'
import { createLibp2pHost, isStreamStateFault } from '../../node/libp2p-host.ts'
import type { Libp2pHost } from '../../node/libp2p-host.ts'
import { isRefused } from '../../node/rpc/dialer.ts'

const text: Codec<string> = { encode: text => new TextEncoder().encode(text), decode: bytes => new TextDecoder().decode(bytes) }
const ask: Method<string, string> = { name: 'test/1/ask', request: text, reply: text }
const deadlineMs = 10_000
const silence = (): void => {}
const metrics: Metrics = { count: silence, gauge: silence, observe: silence }

interface NodeInit {
  readonly privateKey?: PrivateKey
  readonly port?: number
  readonly bootstrap?: readonly string[]
  readonly warned?: string[]
}

async function freePort (): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => { server.listen(0, '127.0.0.1', resolve) })
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => { server.close(resolve) })
  return port
}

/** Where nobody listens. */
async function deadAddress (): Promise<string> {
  return `/ip4/127.0.0.1/tcp/${await freePort()}`
}

async function stranger (): Promise<string> {
  return peerIdFromPrivateKey(await generateKeyPair('Ed25519')).toString()
}

function ids (contacts: readonly Contact[]): string[] {
  return contacts.map(({ id }) => id).sort()
}

describe('the libp2p host alone', () => {
  const hosts: Libp2pHost[] = []
  const ends: Array<() => void> = []

  /** Where connections are taken and nothing is ever said. */
  async function silentAddress (): Promise<string> {
    const sockets: Socket[] = []
    const server = createServer(socket => { sockets.push(socket.on('error', silence)) })
    await new Promise<void>(resolve => { server.listen(0, '127.0.0.1', resolve) })
    ends.push(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    return `/ip4/127.0.0.1/tcp/${(server.address() as AddressInfo).port}`
  }

  async function make ({ privateKey, port = 0, bootstrap = [], warned = [] }: NodeInit = {}): Promise<Libp2pHost> {
    const log: Logger = { debug: silence, info: silence, warn: (_fields, text) => { warned.push(text) }, error: silence }
    const host = await createLibp2pHost({ privateKey: privateKey ?? await generateKeyPair('Ed25519'), listen: [`/ip4/127.0.0.1/tcp/${port}`], bootstrap, log, metrics })
    host.handle(ask, request => `re ${request}`)
    hosts.push(host)
    return host
  }

  afterEach(async () => {
    await Promise.all(hosts.splice(0).map(async host => { await host.stop() }))
    for (const end of ends.splice(0)) end()
  })

  for (const [title, bytes] of [
    ['a frame that is too large', [1, 0, 16, 0]],
    ['a frame of no known kind', [1, 0, 0, 0, 99]],
    ['a request before the hello', [7, 0, 0, 0, 1, 1, 0, 0, 0, 1, 97]]
  ] as const) {
    it(`disconnects a peer that sends ${title}, and says so once`, async () => {
      const warned: string[] = []
      const [good, bad] = [await make({ warned }), await make()]
      await Promise.all([good.start(), bad.start()])
      const connection = await bad.libp2p.dial(good.libp2p.getMultiaddrs())
      const closed = new Promise(resolve => { connection.addEventListener('close', resolve) })
      const stream = await connection.newStream('/isobar/rpc/1')
      stream.send(Uint8Array.from(bytes))
      await closed
      assert.deepEqual(warned, ['a peer is disconnected'])
      assert.equal(await bad.call(good.self, ask, 'again', { deadlineMs }), 're again')
    })
  }

  it('finds the others when all begin at once, each with the others as bootstrap', async () => {
    const keys = await Promise.all(Array.from({ length: 4 }, async () => await generateKeyPair('Ed25519')))
    const ports = await Promise.all(keys.map(freePort))
    const list = keys.map((key, i) => `/ip4/127.0.0.1/tcp/${ports[i]}/p2p/${peerIdFromPrivateKey(key).toString()}`)
    const nodes = await Promise.all(keys.map(async (privateKey, i) => await make({ privateKey, port: ports[i]!, bootstrap: list })))
    await Promise.all(nodes.map(async node => { await node.start() }))
    for (const node of nodes) {
      const found = await node.discover()
      assert.deepEqual(found.map(contact => contact.id).sort(), nodes.filter(other => other !== node).map(other => other.self.id).sort())
      for (const contact of found) assert.equal(await node.call(contact, ask, 'x', { deadlineMs }), 're x')
    }
  })

  it('finds the listed and the connected where the list answers, with the id of an address without one, and asks nobody else', async () => {
    const first = await make()
    await first.start()
    const address = first.self.addresses[0]!
    const [second, third, fourth] = [await make({ bootstrap: [address] }), await make({ bootstrap: [address] }), await make()]
    await Promise.all([second.start(), third.start(), fourth.start()])
    assert.deepEqual(ids(await second.discover()), [first.self.id])
    await third.libp2p.dial(fourth.libp2p.getMultiaddrs())
    let found: string[] = []
    // identify may not have told yet where the fourth listens
    for (let tries = 0; tries < 40 && found.length < 2; tries++) {
      found = ids(await third.discover())
      await third.sleep(10)
    }
    assert.deepEqual(found, [first.self.id, fourth.self.id].sort())
  })

  for (const [title, listed] of [
    ['is empty', async () => []],
    ['leads to ports where nobody listens', async () => [await deadAddress(), `${await deadAddress()}/p2p/${await stranger()}`]],
    ['leads to one that takes connections and says nothing', async () => [await silentAddress()]]
  ] as const) {
    it(`finds further nodes by kad-dht through a connected one where its list ${title}`, async () => {
      const bootstrap = await listed()
      const [first, second, third] = [await make(), await make(), await make({ bootstrap })]
      await Promise.all([first.start(), second.start(), third.start()])
      await second.libp2p.dial(first.libp2p.getMultiaddrs())
      await third.libp2p.dial(first.libp2p.getMultiaddrs())
      let found: string[] = []
      // the first may not have taken both into its table yet
      for (let tries = 0; tries < 40 && !found.includes(second.self.id); tries++) {
        const contacts = await third.discover()
        for (const contact of contacts) assert(contact.addresses.length > 0)
        found = ids(contacts)
      }
      const named = bootstrap.filter(address => address.includes('/p2p/')).map(address => address.split('/').at(-1)!)
      const nameless = bootstrap.filter(address => !address.includes('/p2p/')).map(() => '')
      assert.deepEqual(found, [...nameless, ...named, first.self.id, second.self.id].sort())
      const contact = (await third.discover()).find(({ id }) => id === second.self.id)!
      assert.equal(await third.call(contact, ask, 'x', { deadlineMs }), 're x')
    })
  }

  it('leaves a node alone for a moment after a failed dial, and hears of one refusal for calls at once', async () => {
    const [a, b] = [await make(), await make()]
    await Promise.all([a.start(), b.start()])
    const contact = b.self
    await b.stop()
    let refusals = 0
    a.onGone(() => { refusals++ })
    const errors = await Promise.all(Array.from({ length: 10 }, async () => await a.call(contact, ask, 'x', { deadlineMs }).catch((error: unknown) => error)))
    assert(errors.every(error => error instanceof UnreachableError))
    await assert.rejects(a.call(contact, ask, 'x', { deadlineMs }), /left alone/)
    assert.equal(refusals, 1)
  })

  it('reaches a node that came back, though it was refused before', async () => {
    const privateKey = await generateKeyPair('Ed25519')
    const port = await freePort()
    const a = await make()
    await a.start()
    const contact = { id: peerIdFromPrivateKey(privateKey).toString(), addresses: [`/ip4/127.0.0.1/tcp/${port}`] }
    await assert.rejects(a.call(contact, ask, 'x', { deadlineMs }), UnreachableError)
    await (await make({ privateKey, port })).start()
    let reply = ''
    for (let tries = 0; tries < 40 && reply === ''; tries++) {
      reply = await a.call(contact, ask, 'x', { deadlineMs }).catch(() => '')
      await a.sleep(50)
    }
    assert.equal(reply, 're x')
  })

  it('takes a refusal for one only where no address may still belong to the node', () => {
    const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
    const other = Object.assign(new Error('another peer'), { name: 'UnexpectedPeerError' })
    const silent = Object.assign(new Error('late'), { name: 'TimeoutError' })
    const verdicts = [refused, new AggregateError([refused, refused]), new AggregateError([refused, other]), other, new AggregateError([refused, silent]), silent, 'x'].map(isRefused)
    assert.deepEqual(verdicts, [true, true, true, false, false, false, false])
  })

  it('cannot reach what has no peer id or no address that can be read', async () => {
    const a = await make()
    await a.start()
    for (const contact of [{ id: 'nobody', addresses: [] }, { id: await stranger(), addresses: ['not an address'] }]) {
      await assert.rejects(a.call(contact, ask, 'x', { deadlineMs: 300 }), UnreachableError)
    }
  })

  it('tells faults of streams that were closing from faults of its own', () => {
    const fault = Object.assign(new Error('Cannot write to a stream that is closed'), { name: 'StreamStateError' })
    assert.deepEqual([isStreamStateFault(fault), isStreamStateFault(new TypeError('x')), isStreamStateFault('x')], [true, false, false])
  })
})
