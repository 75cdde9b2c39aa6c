// What nodes say to each other about records and holdings. Wire forms are generated from wire/storage.proto. A method
// whose request names a key is answered by that key's owner alone (overlay/routing); the rest go to a node by name.

import { codec } from '../overlay/codec.ts'
import type { Codec, Method, Notice, PullMethod } from '../overlay/host.ts'
import type { Interval, Key } from '../overlay/interval.ts'
import type { Member, MemberId } from '../overlay/member.ts'
import type { Claim } from '../overlay/ownership/claim.ts'
import type { Extent } from '../overlay/space/extent.ts'
import type { Space } from '../overlay/space/space.ts'
import type { Stretch } from './holdings/digest.ts'
import type { State } from './records/record.ts'
import { rowFrame } from './records/row-frame.ts'
import type { FrameRow } from './records/row-frame.ts'
import type { Version } from './storage-api.ts'
import { extentFromWire, extentToWire, mapped, spaceFromWire, spaceToWire, stateFromWire, stateToWire } from './wire/convert.ts'
import * as wire from './wire/storage.ts'

/** A put or delete of one key; of an id record when `object` is set. */
export interface WriteMessage {
  readonly key: Key
  readonly object: boolean
  readonly requestId: string | undefined
  /** Names a turn that the owner itself has given (turns.ts). */
  readonly turn: string | undefined
}

export interface PutMessage extends WriteMessage {
  readonly state: State
  /** The key of the object's place. */
  readonly place: Key | undefined
}
export interface PutReply { readonly version: Version, readonly created: boolean, readonly copies: number }
export const putMethod: Method<PutMessage, PutReply> = {
  name: 'storage/1/put',
  request: withState(wire.PutRequest),
  reply: codec(wire.PutReply, ['version'])
}

export type DeleteMessage = WriteMessage
export interface DeleteReply { readonly deleted: boolean }
export const deleteMethod: Method<DeleteMessage, DeleteReply> = { name: 'storage/1/delete', request: codec(wire.DeleteRequest), reply: codec(wire.DeleteReply) }

export interface GetMessage { readonly key: Key }
export interface GetReply { readonly row: Uint8Array | undefined }
export const getMethod: Method<GetMessage, GetReply> = { name: 'storage/1/get', request: codec(wire.GetRequest), reply: codec(wire.GetReply) }

export interface RangeMessage {
  /** What is left of the range, [low, high). */
  readonly low: Key
  readonly high: Key
  readonly reverse: boolean
  readonly keysOnly: boolean
  readonly rowsMax: number
  readonly bytesMax: number
}
export interface RangeReply {
  readonly rows: readonly FrameRow[]
  /** Forwards, what is left begins here; in reverse, it ends here. */
  readonly next: Key
}
export const rangeMethod: Method<RangeMessage, RangeReply> = { name: 'storage/1/range', request: codec(wire.RangeRequest), reply: withRows(wire.RangeReply) }

export interface FindMessage {
  readonly collection: string
  readonly space: Space
  readonly extent: Extent
  readonly words: readonly string[]
  readonly any: boolean
  /** Begin at the first place at or above this key. */
  readonly from: Key
  readonly rowsMax: number
  readonly bytesMax: number
  readonly countOnly: boolean
  /** Tell what moved in the last so many ms. */
  readonly movedMs: number
}
export interface FindReply {
  readonly rows: readonly FrameRow[]
  readonly count: number
  /** All below this key was looked at. */
  readonly next: Key
  /** Ids of objects that moved, in the last movedMs, from here to below `from` of the request. */
  readonly moved: readonly Key[]
}
export const findMethod: Method<FindMessage, FindReply> = {
  name: 'storage/1/find',
  request: mapped(codec<wire.FindRequest>(wire.FindRequest, ['space', 'extent']),
    message => ({ ...message, words: [...message.words], space: spaceToWire(message.space), extent: extentToWire(message.extent) }) as wire.FindRequest,
    message => ({ ...message, space: spaceFromWire(message.space!), extent: extentFromWire(message.extent!) })),
  reply: withRows(wire.FindReply)
}

export interface ArriveMessage { readonly place: Key, readonly state: State, readonly version: Version }
export const arriveMethod: Method<ArriveMessage, object> = {
  name: 'storage/1/arrive',
  request: withState(wire.ArriveRequest, ['version']),
  reply: codec(wire.ArriveReply)
}

export interface LeftMessage {
  readonly place: Key
  readonly version: Version
  readonly movedTo: Key | undefined
}
export const leftMethod: Method<LeftMessage, object> = { name: 'storage/1/left', request: codec(wire.LeftRequest, ['version']), reply: codec(wire.LeftReply) }

export interface CloseMessage {
  readonly key: Key
  /** Of the id record. */
  readonly version: Version
  /** The places that the closed intents take the object from; empty for one that only brings it. */
  readonly from: readonly Key[]
}
export const closeMethod: Method<CloseMessage, object> = {
  name: 'storage/1/close',
  request: mapped(codec<wire.CloseRequest>(wire.CloseRequest, ['version']), message => ({ ...message, from: [...message.from] }) as wire.CloseRequest, message => ({ ...message, version: message.version! })),
  reply: codec(wire.CloseReply)
}

export interface DefineMessage { readonly key: Key, readonly definition: Uint8Array }
export interface DefineReply { readonly definition: Uint8Array }
export const defineMethod: Method<DefineMessage, DefineReply> = { name: 'storage/1/define', request: codec(wire.DefineRequest), reply: codec(wire.DefineReply) }

/** Rows in key order, at least one, with their values. */
export interface OfferMessage { readonly rows: readonly FrameRow[] }
export interface OfferReply { readonly accepted: number }
export const offerMethod: Method<OfferMessage, OfferReply> = { name: 'storage/1/offer', request: withRows(wire.OfferRequest), reply: codec(wire.OfferReply) }

export interface ConfirmMessage { readonly interval: Interval, readonly member: MemberId }
export interface ConfirmReply {
  /** The answer holds below it. */
  readonly until: Key | undefined
  /** Lowest epoch of the claims there, and whether one of them names the asker as a member. */
  readonly epoch: number
  readonly names: boolean
}
export const confirmMethod: Method<ConfirmMessage, ConfirmReply> = { name: 'storage/1/confirm', request: codec(wire.ConfirmRequest, ['interval']), reply: codec(wire.ConfirmReply) }

export interface LearnMessage {
  /** Who is meant: another store may be open at an address. */
  readonly member: MemberId
  readonly session: string
  readonly interval: Interval
  readonly source: Member
  readonly round: number
  /** This node has a copy, which is brought in line and never cleared; the same in all rounds. */
  readonly holds: boolean
  /** The source has promised: nothing more is written, and what it has replaces what this node has. */
  readonly tail: boolean
  /** Highest epoch of the claims that the fill is to change. */
  readonly epoch: number
}
export interface LearnReply {
  /** Is the round over and flushed? Else ask again. */
  readonly done: boolean
  /** Keys written since the round began. */
  readonly left: number
  /** Rows of the session so far. */
  readonly rows: number
}
export const learnMethod: Method<LearnMessage, LearnReply> = {
  name: 'storage/1/learn',
  request: codec(wire.LearnRequest, ['interval', 'source', 'source.contact']),
  reply: codec(wire.LearnReply)
}

export interface ReleaseMessage { readonly session: string, readonly kept: boolean }
export const releaseNotice: Notice<ReleaseMessage> = { name: 'storage/1/release', message: codec(wire.ReleaseNotice) }

export interface FillMessage {
  readonly session: string
  readonly interval: Interval
  readonly round: number
  /** Parts of interval whose rows are asked for, ascending. Where a session is open only, as the next two. */
  readonly parts: readonly Interval[]
  /** Keys that are asked for; a key without a row is answered too. */
  readonly keys: readonly Key[]
  /** Another request of this round follows: what was noted waits for the last one. */
  readonly more: boolean
}
export interface FillFrame {
  readonly rows: readonly FrameRow[]
  readonly last: boolean
  readonly left: number
}
export const fillMethod: PullMethod<FillMessage, FillFrame> = { name: 'storage/1/fill', request: codec(wire.FillRequest, ['interval']), row: withRows(wire.FillFrame) }

export interface DigestMessage { readonly session: string, readonly interval: Interval }
/** The last stretch of all has no high. */
export interface DigestFrame { readonly stretches: readonly Stretch[] }
export const digestMethod: PullMethod<DigestMessage, DigestFrame> = { name: 'storage/1/digest', request: codec(wire.DigestRequest, ['interval']), row: codec(wire.DigestFrame) }

/** Rows of one write, all under one claim. */
export interface CopyGroup extends Pick<Claim, 'chain' | 'epoch' | 'by'> {
  /** Which decision of the owner's boot it is. */
  readonly order: number
  readonly rows: readonly FrameRow[]
}
export interface CopyMessage {
  readonly owner: MemberId
  /** Of the owner's store: decisions are counted anew in each. */
  readonly boot: number
  readonly groups: readonly CopyGroup[]
}
export interface CopyReply {
  /** Groups that were not taken, by their place in the message. */
  readonly refused: readonly number[]
}
export const copyMethod: Method<CopyMessage, CopyReply> = {
  name: 'storage/1/copy',
  request: mapped(codec<wire.CopyRequest>(wire.CopyRequest),
    ({ owner, boot, groups }) => ({ owner, boot, groups: groups.map(({ chain, epoch, by, order, rows }) => ({ chain, epoch, counter: by.counter, member: by.member, order, rows: rowFrame.encode(rows) })) }),
    ({ owner, boot, groups }) => ({ owner, boot, groups: groups.map(({ chain, epoch, counter, member, order, rows }) => ({ chain, epoch, by: { counter, member }, order, rows: rowFrame.decode(rows) })) })),
  reply: codec(wire.CopyReply)
}

interface WireCodec { encode (message: never): Uint8Array, decode (bytes: Uint8Array): unknown }

function withRows<T extends { readonly rows: readonly FrameRow[] }> (inner: WireCodec): Codec<T> {
  return mapped<T, object>(codec<object>(inner),
    message => ({ ...message, rows: rowFrame.encode(message.rows) }),
    message => ({ ...message, rows: rowFrame.decode((message as { rows: Uint8Array }).rows) }) as unknown as T)
}

function withState<T extends { readonly state: State }> (inner: WireCodec, required: readonly string[] = []): Codec<T> {
  return mapped<T, object>(codec<object>(inner, ['state', ...required]),
    message => ({ ...message, state: stateToWire(message.state) }),
    message => ({ ...message, state: stateFromWire((message as { state: wire.State }).state) }) as unknown as T)
}
