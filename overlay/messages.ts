// What nodes of the overlay say to each other. Wire forms are generated from wire/overlay.proto; the domain forms here
// differ from them only in how absence is spelled, so a codec checks that what must be there is there and passes the
// object on. Method names carry the folder and the wire version.

import * as wire from './wire/overlay.ts'
import { codec } from './codec.ts'
import type { Method } from './host.ts'
import type { Interval, Key } from './interval.ts'
import type { Member, MemberId } from './member.ts'
import type { OwnerView } from './routing/routing.ts'

/** A node of the skip graph as its neighbors know it: its run of keys, membership vector and how often it was placed. */
export interface GraphNode {
  readonly view: OwnerView
  readonly vector: number
  /** Grows at each join of the same store: a link to an earlier placement is void. */
  readonly placement: number
}

const view = ['interval', 'owner', 'owner.contact']
const graphNode = (at: string): string[] => [at, `${at}.view`, ...view.map(path => `${at}.view.${path}`)]
const optionalView = (at: string): string[] => view.map(path => `${at}.${path}`)
const each = (list: string, paths: readonly string[]): string[] => paths.map(path => `${list}[].${path}`)

export interface LookupRequest { readonly key: Key, readonly below: boolean }
export interface LookupReply {
  /** The answering node's own claim, when it serves the key. */
  readonly owner?: OwnerView | undefined
  /** Others near the key, as far as the answering node knows. */
  readonly near: readonly OwnerView[]
  /** The key is just changing hands here: ask again soon. */
  readonly changing: boolean
  /** The answering node's own run of keys; absent when it has no place in the ring. */
  readonly self?: OwnerView | undefined
}
export const lookupMethod: Method<LookupRequest, LookupReply> = {
  name: 'overlay/1/lookup',
  request: codec(wire.LookupRequest),
  reply: codec(wire.LookupReply, [...each('near', view), ...optionalView('owner'), ...optionalView('self')])
}

export interface NeighborsRequest { readonly level: number }
export interface NeighborsReply {
  /** Absent: the node has no place in the graph. */
  readonly self?: GraphNode | undefined
  readonly left?: GraphNode | undefined
  readonly right?: GraphNode | undefined
}
export const neighborsMethod: Method<NeighborsRequest, NeighborsReply> = {
  name: 'overlay/1/neighbors',
  request: codec(wire.NeighborsRequest),
  reply: codec(wire.NeighborsReply)
}

export interface LinkRequest { readonly level: number, readonly node: GraphNode }
export interface LinkReply {
  readonly self?: GraphNode | undefined
  /** Who stands between the asker and the answering node at this level. */
  readonly closer?: GraphNode | undefined
}
export const linkMethod: Method<LinkRequest, LinkReply> = {
  name: 'overlay/1/link',
  request: codec(wire.LinkRequest, graphNode('node')),
  reply: codec(wire.LinkReply)
}

export interface UnlinkRequest {
  readonly level: number
  readonly member: MemberId
  readonly placement: number
  readonly left?: GraphNode | undefined
  readonly right?: GraphNode | undefined
}
/** A node that leaves its place tells each neighbor who stood on its other side. */
export const unlinkMethod: Method<UnlinkRequest, object> = {
  name: 'overlay/1/unlink',
  request: codec(wire.UnlinkRequest),
  reply: codec(wire.UnlinkReply)
}

export interface SurveyReply {
  readonly self?: GraphNode | undefined
  /** Holdings.weigh of its run. */
  readonly weight: number
  readonly links: readonly GraphNode[]
}
export const surveyMethod: Method<object, SurveyReply> = {
  name: 'overlay/1/survey',
  request: codec(wire.SurveyRequest),
  reply: codec(wire.SurveyReply, each('links', ['view', ...view.map(path => `view.${path}`)]))
}

export interface HelloRequest { readonly self: Member, readonly met: readonly Member[] }
export interface HelloReply {
  readonly self: Member
  /** It serves an interval: a ring is here. */
  readonly serving: boolean
  readonly met: readonly Member[]
}
export const helloMethod: Method<HelloRequest, HelloReply> = {
  name: 'overlay/1/hello',
  request: codec(wire.HelloRequest, ['self', 'self.contact', 'met[].contact']),
  reply: codec(wire.HelloReply, ['self', 'self.contact', 'met[].contact'])
}

/** Why a node does not give or take a part now. */
export type Refusal = 'busy' | 'leaving' | 'not serving' | 'cannot be cut' | 'pieces' | 'not adjacent'

export interface JoinRequest { readonly joiner: Member, readonly vector: number, readonly placement: number }
export interface JoinReply {
  readonly refused?: string | undefined
  readonly giver?: GraphNode | undefined
  /** Who owns the keys above the joiner's. */
  readonly right?: GraphNode | undefined
}
export const joinMethod: Method<JoinRequest, JoinReply> = {
  name: 'overlay/1/join',
  request: codec(wire.JoinRequest, ['joiner', 'joiner.contact']),
  reply: codec(wire.JoinReply)
}

export interface ConsentRequest { readonly interval: Interval, readonly giver: Member }
export interface ConsentReply { readonly refused?: string | undefined }
export const consentMethod: Method<ConsentRequest, ConsentReply> = {
  name: 'overlay/1/consent',
  request: codec(wire.ConsentRequest, ['interval', 'giver', 'giver.contact']),
  reply: codec(wire.ConsentReply)
}

export { each as eachPath, optionalView as viewPaths, view as viewItemPaths }
