// Four real daemons, of which one is stopped, paused, killed, started again, and at last leaves: what was acknowledged is
// never lost, and what cannot be reached is named.

import assert from 'node:assert/strict'
import { quakes } from '../../testnet/data/quakes.ts'
import type { PeerProcess } from '../../testnet/local/peer-process.ts'
import { waitFor } from '../../testnet/local/wait.ts'
import { build, slowMs } from './build.ts'
import { countIn, json, put, get, url, type End, type Record } from './http.ts'
import { Ring, soonMs, type RingAnswer } from './ring.ts'
import { isobar } from './run-program.ts'

const world = '-180,-90,180,90'

describe('a ring of four daemons, of which one fails', () => {
  let ring: Ring

  before(async function () {
    this.timeout(slowMs)
    build()
    ring = await Ring.start(4)
    assert.equal(await ring.load(quakes(), 'places'), 1_707)
  })

  after(async function () {
    this.timeout(slowMs)
    await ring?.close()
  })

  /** A peer other than the first. */
  const victim = (): PeerProcess => ring.at(2)

  const completeAgain = async (): Promise<void> => {
    await ring.whole(4)
    for (const rpc of ring.rpcs) {
      await waitFor('complete answer', async () => {
        const answer = await json<End & { count: number }>(url(rpc, '/v1/find', { bbox: world, count: true }))
        return answer.complete && answer.count === 1_707 ? true : undefined
      }, { deadlineMs: soonMs })
    }
  }

  it('names the missing interval while a peer is paused, within the deadline, and is complete when it goes on', async function () {
    this.timeout(slowMs)
    const { peers } = await json<RingAnswer>(`${ring.rpcs[0]}/v1/peers`)
    const paused = peers.find(peer => peer.rpc === victim().rpc)
    assert(paused !== undefined)
    victim().signal('SIGSTOP')
    try {
      for (const rpc of ring.rpcs.filter(rpc => rpc !== victim().rpc)) {
        const answer = await json<End & { count: number }>(url(rpc, '/v1/find', { bbox: world, count: true, deadlineMs: 2_000 }), { signal: AbortSignal.timeout(20_000) })
        assert.equal(answer.complete, false)
        assert(answer.count < 1_707)
        assert(answer.missing.some(part => part.peer === paused.peerId), JSON.stringify(answer.missing))
      }
    } finally {
      victim().signal('SIGCONT')
    }
    await completeAgain()
  })

  it('is complete again after a peer was stopped and started with its ports and its folder', async function () {
    this.timeout(slowMs)
    const exit = await victim().stop(10_000)
    assert.deepEqual(exit, { code: 0, signal: null })
    const partial = await json<End & { count: number }>(url(ring.rpcs[0] ?? '', '/v1/find', { bbox: world, count: true, deadlineMs: 2_000 }))
    assert.equal(partial.complete, false)
    ring.run(2, [])
    await completeAgain()
  })

  it('has all that was acknowledged after a peer was killed, which starts again unaided', async function () {
    this.timeout(slowMs)
    const acknowledged = new Map<string, string>()
    const { rpc } = ring.at(0)
    const killed = ring.peers.find(peer => peer.rpc === rpc) as PeerProcess
    // kv lies with the first peer, which is killed amid the writes.
    let writes = 0
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let at = 0; at < 1_000; at++) {
        const key = `kept-${writer}-${at}`
        try {
          await put(ring.at(1).rpc, key, `${key} is here`)
        } catch {
          return
        }
        acknowledged.set(key, `${key} is here`)
        writes++
      }
    })
    await waitFor('acknowledged writes', async () => writes > 100 ? true : undefined, { deadlineMs: soonMs })
    killed.signal('SIGKILL')
    await killed.exited
    await Promise.all(writers)
    assert(acknowledged.size < 8_000, 'the writes ended before the kill')
    ring.run(0, [])
    await completeAgain()
    for (const [key, value] of acknowledged) assert.equal(await get(ring.at(3).rpc, key), value)
    const { records } = await json<{ records: Record[] }>(url(ring.at(2).rpc, '/v1/range', { prefix: 'kept-', keysOnly: true }))
    const found = new Set(records.map(record => record.key))
    assert.deepEqual([...acknowledged.keys()].filter(key => !found.has(key)), [])
  })

  it('loses nothing when a peer leaves, whose process then ends', async function () {
    this.timeout(slowMs)
    const leaver = victim()
    leaver.expected = true
    const { code, stderr } = await isobar(['leave', '--rpc', leaver.rpc])
    assert.equal(code, 0, stderr)
    assert.deepEqual(await leaver.exited, { code: 0, signal: null })
    await ring.whole(3)
    for (const rpc of ring.rpcs) assert.equal(await countIn(rpc, world), 1_707)
  })
})
