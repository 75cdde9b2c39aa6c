// A node for tests of the surface: one owner, everything in a sorted array, answers at once. It knows only what the
// surface needs to be seen: order of bytes, boxes by plain comparison, words by the word rule. Tests may replace verbs.

import { compareKeys, type Key } from '../../overlay/interval.ts'
import { holds } from '../../overlay/space/extent.ts'
import { lonLat } from '../../overlay/space/space.ts'
import type { CollectionDefinition } from '../../storage/records/collection.ts'
import type { FindRequest, RangeRequest, ReadEnd, RowStream, StorageVerbs, StoredRecord } from '../../storage/storage-api.ts'
import { matches, queryWords, wordsOf } from '../../storage/words.ts'
import type { NodeState, NodeStatus, NodeView, PeersAnswer } from '../../node/node-view.ts'

export interface FakeNode extends NodeView {
  storage: StorageVerbs
  nodeState: NodeState
  /** Records by collection, in key order. */
  readonly collections: Map<string, StoredRecord[]>
  readonly definitions: Map<string, CollectionDefinition>
  /** What the next reads carry at their end. */
  readEnd: Partial<ReadEnd>
  peersAnswer: PeersAnswer
  readonly calls: string[]
}

const cost = { hops: 2, peers: 3, tookMs: 6 }

export function createFakeNode (): FakeNode {
  const collections = new Map<string, StoredRecord[]>()
  const definitions = new Map<string, CollectionDefinition>([
    ['kv', { name: 'kv', kind: 'ordered' }],
    ['places', { name: 'places', kind: 'spatial', space: lonLat }]
  ])
  const calls: string[] = []
  const node: FakeNode = {
    collections,
    definitions,
    calls,
    nodeState: 'serving',
    readEnd: {},
    peersAnswer: { peers: [], complete: true },
    storage: undefined as unknown as StorageVerbs,
    state: () => node.nodeState,
    status: async () => statusOf(node),
    peers: async () => node.peersAnswer,
    join: async address => { calls.push(`join ${address}`) },
    leave: async ({ deadlineMs }) => { calls.push(`leave ${deadlineMs}`) }
  }
  node.storage = createVerbs(node)
  return node
}

function createVerbs (node: FakeNode): StorageVerbs {
  let counter = 0
  const rowsOf = (name: string): StoredRecord[] => {
    const rows = node.collections.get(name) ?? []
    node.collections.set(name, rows)
    return rows
  }
  const indexOf = (rows: StoredRecord[], key: Key): number => rows.findIndex(row => compareKeys(row.key, key) >= 0)
  const endOf = (cursor: string | undefined): ReadEnd => ({ ...cost, complete: true, missing: [], cursor, ...node.readEnd })
  const page = (all: StoredRecord[], limit: number) => {
    const records = all.slice(0, limit)
    return { records, ...endOf(records.length < all.length ? `after:${records.length}` : undefined) }
  }
  const streamOf = (all: StoredRecord[], limit: number): RowStream => {
    const { records, ...end } = page(all, limit)
    return { rows: eachOf(records), end: Promise.resolve(end) }
  }
  const verbs: StorageVerbs = {
    put: async ({ collection, key, value, contentType, point, text }) => {
      const rows = rowsOf(collection)
      const record: StoredRecord = { key, value, contentType, point, text, version: { ms: 1_700_000_000_000, counter: counter += 2, member: 'ab' } }
      const at = indexOf(rows, key)
      const created = at < 0 || compareKeys((rows[at] as StoredRecord).key, key) !== 0
      rows.splice(at < 0 ? rows.length : at, created ? 0 : 1, record)
      return { version: record.version, copies: 1, created, ...cost }
    },
    get: async ({ collection, key }) => ({ record: rowsOf(collection).find(row => compareKeys(row.key, key) === 0), ...cost }),
    delete: async ({ collection, key }) => {
      const rows = rowsOf(collection)
      const at = rows.findIndex(row => compareKeys(row.key, key) === 0)
      if (at >= 0) rows.splice(at, 1)
      return { deleted: at >= 0, ...cost }
    },
    range: async request => page(selectRange(rowsOf(request.collection), request), request.limit),
    rangeStream: request => streamOf(selectRange(rowsOf(request.collection), request), request.limit),
    find: async request => page(selectFind(rowsOf(request.collection), request), request.limit),
    findStream: request => streamOf(selectFind(rowsOf(request.collection), request), request.limit),
    count: async request => ({ count: selectFind(rowsOf(request.collection), request).length, ...endOf(undefined) }),
    defineCollection: async definition => {
      node.definitions.set(definition.name, definition)
      return definition
    },
    collection: async name => node.definitions.get(name),
    collections: async () => [...node.definitions.values()]
  }
  return verbs
}

function selectRange (rows: StoredRecord[], { gte, gt, lte, lt, prefix, reverse }: RangeRequest): StoredRecord[] {
  const chosen = rows.filter(({ key }) =>
    (gte === undefined || compareKeys(key, gte) >= 0) && (gt === undefined || compareKeys(key, gt) > 0) &&
    (lte === undefined || compareKeys(key, lte) <= 0) && (lt === undefined || compareKeys(key, lt) < 0) &&
    (prefix === undefined || compareKeys(key.slice(0, prefix.length), prefix) === 0))
  return reverse === true ? chosen.reverse() : chosen
}

function selectFind (rows: StoredRecord[], { extent, words, match }: FindRequest): StoredRecord[] {
  const asked = queryWords(words, 'words')
  return rows.filter(row => row.point !== undefined && holds(lonLat, extent, row.point) && matches(wordsOf(row.text ?? ''), asked, match))
}

async function * eachOf (records: StoredRecord[]): AsyncGenerator<StoredRecord> {
  yield * records
}

function statusOf (node: FakeNode): NodeStatus {
  return {
    version: '0.1.0',
    memberId: 'ab'.repeat(16),
    peerId: '12D3KooWFake',
    addresses: ['/ip4/127.0.0.1/tcp/1'],
    state: node.nodeState,
    pieces: [{ interval: { low: new Uint8Array(0), high: undefined }, chain: 'c1', epoch: 1, members: ['ab'.repeat(16)] }],
    spatial: [{ collection: 'places', bbox: [-180, -90, 180, 90], share: 1 }],
    records: 0,
    loadPerSecond: 0,
    uptimeMs: 1_000,
    left: undefined,
    right: undefined,
    levels: 0,
    atlasEntries: 1,
    limits: { valueBytesMax: 1 << 20 }
  }
}
