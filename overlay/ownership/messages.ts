// What claimers and members say to each other: PREPARE, ACCEPT, DECIDED. Each reply leaves when the registers that it
// speaks of are flushed.

import { codec } from '../codec.ts'
import type { Codec, Method } from '../host.ts'
import type { Interval } from '../interval.ts'
import type { Member, MemberId } from '../member.ts'
import { eachPath } from '../messages.ts'
import * as wire from '../wire/overlay.ts'
import type { AcceptReply, AcceptRequest } from './accept.ts'
import type { Ballot } from './ballot.ts'
import type { Piece } from './claim.ts'
import type { PromisedPart, PromiseRefusal, PromiseReply, PromiseRequest } from './promise.ts'

const claim = (at: string): string[] => [at, `${at}.by`]
const piece = ['interval', ...claim('claim')]

interface WirePromiseReply {
  readonly ballot: Ballot
  readonly parts: readonly PromisedPart[]
  readonly reason?: string | undefined
  readonly held: readonly Piece[]
  readonly above?: Ballot | undefined
}

const promiseReplyFields = codec<WirePromiseReply>(wire.PrepareReply, ['ballot', ...eachPath('parts', ['interval', ...claim('base')]), ...eachPath('held', piece)])

/** A promise and a refusal are two shapes here and one message on the wire, where a reason tells a refusal. */
const promiseReply: Codec<PromiseReply> = {
  encode: reply => promiseReplyFields.encode(reply.answer === 'promised' ? { ...reply, held: [] } : { ...reply, parts: [] }),
  decode (bytes) {
    const { ballot, parts, reason, held, above } = promiseReplyFields.decode(bytes)
    if (reason === undefined) return { answer: 'promised', ballot, parts }
    return { answer: 'refused', ballot, reason: reason as PromiseRefusal, held, above }
  }
}

export const prepareMethod: Method<PromiseRequest, PromiseReply> = {
  name: 'overlay/1/prepare',
  request: codec(wire.PrepareRequest, ['ballot', ...eachPath('base', piece)]),
  reply: promiseReply
}

export const acceptMethod: Method<AcceptRequest, AcceptReply> = {
  name: 'overlay/1/accept',
  request: codec(wire.AcceptRequest, ['ballot', ...eachPath('proposals', ['interval', ...claim('base'), ...claim('value')])]),
  reply: codec(wire.AcceptReply, ['ballot', ...eachPath('held', piece)])
}

export interface DecidedRequest {
  readonly pieces: readonly Piece[]
  /** How to call those whom the pieces name. */
  readonly members: readonly Member[]
}

export const decidedMethod: Method<DecidedRequest, object> = {
  name: 'overlay/1/decided',
  request: codec(wire.DecidedRequest, [...eachPath('pieces', piece), 'members[].contact']),
  reply: codec(wire.DecidedReply)
}

export interface LeaseRequest {
  /** How to call those whom the pieces name, the owner among them. */
  readonly members: readonly Member[]
  /** Which boot of the owner asks. */
  readonly boot: number
  /** Decided claims of the owner over parts of which the asked one is a member. */
  readonly pieces: readonly Piece[]
  /** Milliseconds since 1970, exclusive: how high versions shall be allowed to go. */
  readonly ceiling: number
}

export interface LeaseReply {
  readonly granted: readonly Interval[]
  /** Decided claims that are held in the place of what was asked for. */
  readonly held: readonly Piece[]
  /** Where the asked one should be a member, and has not the rows to be one. */
  readonly lacking: readonly Interval[]
  /** Who answers: another store may be open at an address. */
  readonly member: MemberId
}

export const leaseMethod: Method<LeaseRequest, LeaseReply> = {
  name: 'overlay/1/lease',
  request: codec(wire.LeaseRequest, ['members[].contact', ...eachPath('pieces', piece)]),
  reply: codec(wire.LeaseReply, [...eachPath('held', piece)])
}

export interface PingReply {
  /** The store that is open there now: another one than before where a disk was lost. */
  readonly member: MemberId
  readonly boot: number
}

/** Is the process there? */
export const pingMethod: Method<object, PingReply> = {
  name: 'overlay/1/ping',
  request: codec(wire.PingRequest),
  reply: codec(wire.PingReply)
}

/** A member asks whether a claim that names it is still the newest one. */
export interface CopyCheckRequest {
  readonly member: MemberId
  readonly piece: Piece
  /** It leaves the ring: the owner shall go on without its copy. The reply does not wait for that. */
  readonly leaves: boolean
}
/** Decided claims that are held in the place of the piece. */
export interface CopyCheckReply { readonly held: readonly Piece[] }

export const copyCheckMethod: Method<CopyCheckRequest, CopyCheckReply> = {
  name: 'overlay/1/copy-check',
  request: codec(wire.CopyCheckRequest, ['piece', ...piece.map(path => `piece.${path}`)]),
  reply: codec(wire.CopyCheckReply, [...eachPath('held', piece)])
}
