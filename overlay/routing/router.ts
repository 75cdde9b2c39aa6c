// The router: brings a request to the owner of its key and lets storage answer only for keys that this node owns. Its
// envelope carries, beside the answer, who owns what near the key, so that every reply refreshes the asker's atlas.

import { codec } from '../codec.ts'
import { ConnectionLostError, errorName, isDefinite, OwnerUnreachableError, RemoteError, TimeoutError } from '../errors.ts'
import type { Codec, Contact, Host, Method } from '../host.ts'
import { lookupMethod, viewItemPaths, viewPaths, eachPath } from '../messages.ts'
import { keyText } from '../key-text.ts'
import * as wire from '../wire/overlay.ts'
import type { Ownership } from '../ownership/ownership.ts'
import { isNewer } from './atlas.ts'
import { covers } from './bracket.ts'
import { attemptOf, failureOf, lookup, type FailedNode, type LookupComponents, type LookupInit } from './lookup.ts'
import type { AskOptions, Asked, Owned, OwnerView, Routing, Target, Trace } from './routing.ts'

export interface RouterComponents extends LookupComponents {
  readonly host: Host
  readonly ownership: Pick<Ownership, 'standing'>
}

export interface RouterInit extends LookupInit {
  /** Owners tried for one request at most, redirects included. */
  readonly redirectsMax: number
}

/** A method's reply on the wire: the answer with the owner's claim, or where to ask instead. */
interface Envelope<Answer> {
  readonly answer?: Answer | undefined
  readonly owner?: OwnerView | undefined
  readonly self?: OwnerView | undefined
  readonly near: readonly OwnerView[]
}

export class Router implements Routing {
  readonly #components: RouterComponents
  readonly #init: RouterInit
  readonly #routed = new WeakMap<object, Method<unknown, Envelope<unknown>>>()

  constructor (components: RouterComponents, init: RouterInit) {
    this.#components = components
    this.#init = init
  }

  start (): void {
    const { host, ownership } = this.#components
    host.handle(lookupMethod, target => {
      const standing = ownership.standing(target)
      const { own, near } = this.#components.near(target)
      const owner = standing.kind === 'serving' ? standing.view : undefined
      const known = standing.kind === 'elsewhere' && standing.known !== undefined ? [standing.known] : []
      return { owner, near: [...known, ...near], self: own, changing: standing.kind === 'changing' }
    })
  }

  handle<Request, Answer> (method: Method<Request, Answer>, targetOf: (request: Request) => Target, fn: (request: Request, owned: Owned, from: Contact) => Answer | Promise<Answer>): void {
    this.#components.host.handle(this.#envelope(method), (request, from) => this.#answer(request, targetOf(request), fn, from))
  }

  async ask<Request, Answer> (target: Target, method: Method<Request, Answer>, request: Request, options: AskOptions): Promise<Asked<Answer>> {
    const { host, atlas } = this.#components
    const endMs = host.now() + options.deadlineMs
    const failed: FailedNode[] = []
    let told: OwnerView | undefined
    // once one try may have been carried out, no later failure says that nothing was
    let inDoubt = false
    for (let tries = 0; tries < this.#init.redirectsMax; tries++) {
      const own = this.#components.ownership.standing(target)
      const owner = own.kind !== 'elsewhere'
        ? undefined
        : told ?? atlas.at(target) ?? await lookup(this.#components, target, this.#init, { endMs, signal: options.signal, trace: options.trace, failed }).catch((error: unknown) => { throw inDoubt ? doubted(error) : error })
      const contact = owner?.owner.contact ?? host.self
      const remainingMs = endMs - host.now()
      if (remainingMs <= 0) break
      const deadlineMs = options.repeatable === true ? attemptOf(this.#init, remainingMs) : remainingMs
      if (owner !== undefined && options.trace !== undefined) options.trace.hops++
      try {
        const envelope = await host.call(contact, this.#envelope(method), request, { deadlineMs, signal: options.signal })
        const asked = this.#received(target, owner, envelope, options.trace)
        if (asked !== undefined) return asked
        told = this.#redirected(target, owner, envelope)
      } catch (error) {
        told = undefined
        if (owner === undefined || !this.#mayTryAgain(error, options)) throw withOwner(inDoubt ? doubted(error) : error, owner)
        inDoubt ||= !isDefinite(error)
        atlas.forget(owner)
        this.#components.suspect(owner)
        failed.push({ view: owner, how: failureOf(error) })
      }
    }
    throw new TimeoutError(`the owner of ${keyText(target.key)} did not answer in ${options.deadlineMs} ms`)
  }

  /** Check the claim and decide in one step; a key that is changing hands waits for its gate, then is looked at afresh. */
  #answer<Request, Answer> (request: Request, target: Target, fn: (request: Request, owned: Owned, from: Contact) => Answer | Promise<Answer>, from: Contact): Envelope<Answer> | Promise<Envelope<Answer>> {
    const standing = this.#components.ownership.standing(target)
    if (standing.kind === 'changing') return standing.gate.wait().then(async () => this.#answer(request, target, fn, from))
    const { own, near } = this.#components.near(target)
    if (standing.kind === 'elsewhere') return { near: standing.known === undefined ? near : [standing.known, ...near], self: own }
    const answer = fn(request, standing.owned, from)
    const envelope = (settled: Answer): Envelope<Answer> => ({ answer: settled, owner: { ...standing.view, interval: standing.owned.interval }, self: own, near: near.slice(0, 2) })
    return answer instanceof Promise ? answer.then(envelope) : envelope(answer)
  }

  #received<Answer> (target: Target, owner: OwnerView | undefined, envelope: Envelope<Answer>, trace: Trace | undefined): Asked<Answer> | undefined {
    if (envelope.owner !== undefined && this.#components.isForeign(envelope.owner)) return undefined
    for (const view of envelope.near) this.#components.learn(view)
    if (envelope.owner === undefined || envelope.answer === undefined) return undefined
    if (!covers(envelope.owner.interval, target)) throw new ConnectionLostError(`node ${envelope.owner.owner.id} answered for a key that it does not own`)
    if (owner !== undefined) this.#components.learn(envelope.owner)
    trace?.peers.add(envelope.owner.owner.id)
    return { answer: envelope.answer, interval: envelope.owner.interval, owner: envelope.owner.owner }
  }

  /** Follow a hint only when it is newer than the claim that did not hold, else look up anew: docs/ownership.md, "Hints must be newer". */
  #redirected<Answer> (target: Target, owner: OwnerView | undefined, envelope: Envelope<Answer>): OwnerView | undefined {
    if (owner !== undefined) this.#components.atlas.forget(owner)
    if (envelope.self !== undefined) this.#components.learn(envelope.self)
    const hint = envelope.near.find(view => covers(view.interval, target))
    if (hint === undefined) return undefined
    this.#components.learn(hint)
    return owner !== undefined && isNewer(hint, owner) ? hint : undefined
  }

  #mayTryAgain (error: unknown, options: AskOptions): boolean {
    if (options.signal?.aborted === true) return false
    const name = errorName(error)
    if (name === 'UnreachableError' || name === 'StoppedError') return true
    return options.repeatable === true && !isDefinite(error) && (name === 'TimeoutError' || name === 'ConnectionLostError')
  }

  #envelope<Request, Answer> (method: Method<Request, Answer>): Method<Request, Envelope<Answer>> {
    let routed = this.#routed.get(method) as Method<Request, Envelope<Answer>> | undefined
    if (routed === undefined) {
      routed = { name: method.name, request: method.request, reply: envelopeCodec(method.reply) }
      this.#routed.set(method, routed as Method<unknown, Envelope<unknown>>)
    }
    return routed
  }
}

/** The same failure, of a request that an earlier try may have carried out. */
function doubted (error: unknown): unknown {
  if (!isDefinite(error)) return error
  if (error instanceof OwnerUnreachableError) return new OwnerUnreachableError(error.message, { interval: error.interval, ownerId: error.ownerId, definite: false })
  return new RemoteError(errorName(error), error instanceof Error ? error.message : String(error), false)
}

/** A walk that meets a busy owner has to know whose run to step over. */
function withOwner (error: unknown, owner: OwnerView | undefined): unknown {
  if (owner !== undefined && error instanceof Error && errorName(error) === 'BusyError') Object.assign(error, { interval: owner.interval, ownerId: owner.owner.contact.id })
  return error
}

const outer = codec<Envelope<Uint8Array>>(wire.RoutedReply, [...eachPath('near', viewItemPaths), ...viewPaths('owner'), ...viewPaths('self')])

function envelopeCodec<Answer> (inner: Codec<Answer>): Codec<Envelope<Answer>> {
  return {
    encode: envelope => outer.encode({ ...envelope, answer: envelope.answer === undefined ? undefined : inner.encode(envelope.answer) }),
    decode (bytes) {
      const { answer, ...rest } = outer.decode(bytes)
      return { ...rest, answer: answer === undefined ? undefined : inner.decode(answer) }
    }
  }
}
