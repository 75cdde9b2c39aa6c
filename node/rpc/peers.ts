// Streams of calls to and from peers: one that this node opens to each peer it asks, one from each peer that asks it. Opens
// them when first needed, one opening a peer, and says when a peer's last connection is gone. A peer that breaks the
// protocol is disconnected, and told of once in a while.

import type { Connection, PeerId, Stream } from '@libp2p/interface'
import { BusyError, UnreachableError } from '../../overlay/errors.ts'
import type { Contact, Gone, Logger, Metrics } from '../../overlay/host.ts'
import type { Libp2pNode } from '../libp2p-node.ts'
import { LimitedLog } from '../limited-log.ts'
import { serveRows } from './bulk.ts'
import { Caller } from './caller.ts'
import type { Dialer } from './dialer.ts'
import { FrameStream } from './frame-stream.ts'
import { SilentError } from './errors.ts'
import type { Handlers } from './handlers.ts'
import { callsInFlightMax, connectionsOfPeerMax, dialTimeoutMs, pullsMax } from './init.ts'
import { Responder } from './responder.ts'
import { encodeHello } from './wire/frame.ts'

export const rpcProtocol = '/isobar/rpc/1'
export const bulkProtocol = '/isobar/bulk/1'
/** A peer needs one; a few more while an old one has not ended yet (guess). */
const rpcStreamsMax = 8

export interface PeersComponents {
  readonly libp2p: Libp2pNode
  readonly handlers: Handlers
  readonly dialer: Dialer
  readonly log: Logger
  readonly metrics: Metrics
}

export interface PeersInit {
  readonly self: () => Contact
  readonly onGone: (contact: Contact, why: Gone) => void
}

interface Opening {
  readonly caller: Promise<Caller>
  /** Calls that wait for it. */
  waiting: number
}

export class Peers {
  readonly #components: PeersComponents
  readonly #init: PeersInit
  readonly #callers = new Map<string, Caller>()
  readonly #openings = new Map<string, Opening>()
  readonly #responders = new Set<Responder>()
  readonly #bulk = new Set<Stream>()
  readonly #limitedLog: LimitedLog
  /** What connected peers said of themselves, or else what was dialed. */
  readonly contacts = new Map<string, Contact>()

  constructor (components: PeersComponents, init: PeersInit) {
    this.#components = components
    this.#init = init
    this.#limitedLog = new LimitedLog(components.log)
  }

  async start (): Promise<void> {
    const { libp2p } = this.#components
    await libp2p.handle(rpcProtocol, (stream, connection) => { this.#respond(stream, connection) }, { maxInboundStreams: rpcStreamsMax, maxOutboundStreams: rpcStreamsMax })
    await libp2p.handle(bulkProtocol, (stream, connection) => { this.#serve(stream, connection) }, { maxInboundStreams: pullsMax, maxOutboundStreams: pullsMax })
    libp2p.addEventListener('peer:disconnect', this.#onDisconnect)
    libp2p.addEventListener('connection:open', this.#onConnection)
  }

  /** Ends all streams, and so all calls that wait. */
  stop (error: Error): void {
    this.#components.libp2p.removeEventListener('peer:disconnect', this.#onDisconnect)
    this.#components.libp2p.removeEventListener('connection:open', this.#onConnection)
    for (const caller of [...this.#callers.values()]) caller.abort(error)
    for (const responder of [...this.#responders]) responder.abort(error)
    for (const stream of [...this.#bulk]) stream.abort(error)
  }

  /** The open stream to a peer, if there is one. */
  ready (id: string): Caller | undefined {
    const caller = this.#callers.get(id)
    return caller?.isOpen === true ? caller : undefined
  }

  /** @throws UnreachableError, BusyError */
  async caller (contact: Contact): Promise<Caller> {
    const ready = this.ready(contact.id)
    if (ready !== undefined) return ready
    let opening = this.#openings.get(contact.id)
    if (opening === undefined) {
      opening = { caller: this.#open(contact).finally(() => { this.#openings.delete(contact.id) }), waiting: 0 }
      this.#openings.set(contact.id, opening)
    }
    if (opening.waiting++ >= callsInFlightMax) throw new BusyError(`${callsInFlightMax} calls wait for the connection to ${contact.id}`)
    return await opening.caller
  }

  /** A fresh stream for one pull. @throws UnreachableError */
  async bulkStream (contact: Contact, signal: AbortSignal): Promise<Stream> {
    const stream = await this.#newStream(contact, bulkProtocol, pullsMax, signal)
    this.#bulk.add(stream)
    stream.addEventListener('close', () => { this.#bulk.delete(stream) })
    return stream
  }

  async #open (contact: Contact): Promise<Caller> {
    const { metrics } = this.#components
    const stream = await this.#newStream(contact, rpcProtocol, rpcStreamsMax, AbortSignal.timeout(dialTimeoutMs))
    const caller = new Caller({
      metrics,
      stream: caller => new FrameStream({
        stream,
        onFrame: frame => { caller.receive(frame) },
        onEnd: error => {
          if (this.#callers.get(contact.id) === caller) this.#callers.delete(contact.id)
          caller.ended()
          this.#blame(contact.id, error)
        }
      })
    }, { peer: contact.id })
    this.#callers.set(contact.id, caller)
    caller.hello(encodeHello(this.#init.self().addresses))
    return caller
  }

  async #newStream (contact: Contact, protocol: string, maxOutboundStreams: number, signal: AbortSignal): Promise<Stream> {
    const connection = await this.#components.dialer.connect(contact)
    if (!this.contacts.has(contact.id)) this.contacts.set(contact.id, contact)
    try {
      return await connection.newStream(protocol, { signal, maxOutboundStreams })
    } catch (error) {
      // A connection that opens no stream in time is dead, though it does not know yet.
      if (signal.aborted) connection.abort(error as Error)
      throw new UnreachableError(`no stream to ${contact.id}: ${(error as Error).message}`)
    }
  }

  #respond (stream: Stream, connection: Connection): void {
    const { handlers, log, metrics, dialer } = this.#components
    const peer = connection.remotePeer.toString()
    const responder = new Responder({
      handlers,
      log,
      limitedLog: this.#limitedLog,
      metrics,
      stream: responder => new FrameStream({
        stream,
        onFrame: frame => { responder.receive(frame) },
        onEnd: error => {
          this.#responders.delete(responder)
          responder.ended()
          this.#blame(peer, error)
        }
      })
    }, {
      peer,
      onContact: contact => {
        this.contacts.set(peer, contact)
        dialer.forgive(peer)
      }
    })
    this.#responders.add(responder)
  }

  #serve (stream: Stream, connection: Connection): void {
    const { handlers, log } = this.#components
    this.#bulk.add(stream)
    stream.addEventListener('close', () => { this.#bulk.delete(stream) })
    const peer = connection.remotePeer.toString()
    void serveRows({ handlers, log, onBreach: error => { this.#disconnect(peer, error instanceof SilentError ? 'silence' : 'breach', error) } }, stream, peer)
  }

  /** Disconnects a peer whose bytes could not be read, or that has long been silent. */
  #blame (peer: string, error: Error | undefined): void {
    if (error instanceof RangeError) this.#disconnect(peer, 'breach', error)
    else if (error instanceof SilentError) this.#disconnect(peer, 'silence', error)
  }

  #disconnect (peer: string, reason: 'breach' | 'silence', error: Error): void {
    const { libp2p, metrics } = this.#components
    this.#limitedLog.warn(`${reason} ${peer}`, { peer, reason, detail: error.message }, 'a peer is disconnected')
    metrics.count('rpc_disconnects', { reason })
    for (const connection of libp2p.getConnections()) if (connection.remotePeer.toString() === peer) connection.abort(error)
  }

  readonly #onConnection = (event: CustomEvent<Connection>): void => {
    const connection = event.detail
    const count = this.#components.libp2p.getConnections(connection.remotePeer).length
    if (count <= connectionsOfPeerMax) return
    const peer = connection.remotePeer.toString()
    this.#limitedLog.warn(`connections ${peer}`, { peer, count }, 'a peer has too many connections; its last one is closed')
    connection.abort(new RangeError(`a peer has at most ${connectionsOfPeerMax} connections`))
  }

  readonly #onDisconnect = (event: CustomEvent<PeerId>): void => {
    const id = event.detail.toString()
    const contact = this.contacts.get(id)
    this.contacts.delete(id)
    if (contact !== undefined) this.#init.onGone(contact, 'closed')
  }
}
