// The table of peers in key order, with a word on it, as `testnet up` and `testnet ps` print it.

import { intervalText, recordsNote } from '../../node/cli/status.ts'
import { shortId, table, thousands } from '../../node/cli/table.ts'
import type { PeerFields } from './peer-fields.ts'

const barWidth = 8

export function peerTable (peers: readonly PeerFields[]): string {
  const most = Math.max(...peers.map(peer => peer.loadPerSecond), Number.MIN_VALUE)
  const text = table(
    [{ title: '#', align: 'right' }, { title: 'PEER' }, { title: 'RPC' }, { title: 'KEYS' }, { title: 'BOX' }, { title: 'RECORDS', align: 'right' }, { title: 'LOAD/s', align: 'right' }, { title: '' }],
    peers.map(peer => [
      String(peer.number ?? '-'),
      shortId(peer.peerId),
      peer.state === 'serving' ? peer.rpc ?? '-' : peer.state,
      intervalText(peer.interval),
      peer.spatial.filter(({ collection }) => collection === 'places').map(({ bbox }) => bbox.map(side => Number(side.toFixed(2))).join(',')).join(' ') || '-',
      thousands(peer.records),
      peer.loadPerSecond.toFixed(1),
      '█'.repeat(Math.round(peer.loadPerSecond / most * barWidth))
    ]))
  return peers.some(({ spatial }) => spatial.length > 0) ? text + recordsNote : text
}
