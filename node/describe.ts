// What one owner tells of itself when somebody lists the peers: a routed method, so it is answered by whoever owns the
// key at that moment.

import { codec } from '../overlay/codec.ts'
import type { Method } from '../overlay/host.ts'
import type { Key } from '../overlay/interval.ts'
import type { NodeState } from './node-view.ts'
import * as wire from './wire/node.ts'

export interface DescribeRequest {
  readonly key: Key
}

export interface DescribeReply {
  readonly state: NodeState
  /** Base URL of its HTTP API. */
  readonly rpc?: string | undefined
  readonly records: number
  readonly loadPerSecond: number
}

export const describeMethod: Method<DescribeRequest, DescribeReply> = {
  name: 'node/1/describe',
  request: codec(wire.DescribeRequest),
  reply: codec(wire.DescribeReply)
}
