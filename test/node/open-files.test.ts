// Who may have how many of the files and sockets of a process.

import assert from 'node:assert/strict'
import { openFilesLimit, shareOpenFiles, warnOfLimit } from '../../node/open-files.ts'

describe('open files', () => {
  it('are shared so that all together stay below the limit, wherever it allows the least of each', () => {
    for (const limit of [200, 256, 1_024, 4_096, 20_000, 1_048_576]) {
      const { tables, httpConnections, peerConnections } = shareOpenFiles(limit)
      assert(64 + tables + httpConnections + peerConnections <= limit, String(limit))
      assert(tables >= 64 && tables <= 1_000 && httpConnections >= 16 && peerConnections >= 16, String(limit))
    }
    assert.deepEqual(shareOpenFiles(1_024), { tables: 480, httpConnections: 288, peerConnections: 192 })
    assert.deepEqual(shareOpenFiles(20_000), { tables: 1_000, httpConnections: 11_361, peerConnections: 7_575 })
    assert.deepEqual(shareOpenFiles(64), { tables: 64, httpConnections: 16, peerConnections: 16 })
  })

  it('are told of when they are few', () => {
    const lines: object[] = []
    const log = { debug () {}, info () {}, warn: (fields: object) => { lines.push(fields) }, error () {} }
    warnOfLimit(1_024, log)
    warnOfLimit(1_023, log)
    assert.deepEqual(lines, [{ limit: 1_023, advised: 1_024 }])
  })

  if (process.platform === 'linux') {
    it('have a limit that the system tells, also of other processes', () => {
      assert(openFilesLimit()! > 0)
      assert.equal(openFilesLimit(process.pid), openFilesLimit())
      assert.equal(openFilesLimit(2 ** 30), undefined)
    })
  }
})
