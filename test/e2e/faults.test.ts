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
/**
 * A key of the box [-180, 0, -90, 90], which the curve passes from 0x0004 to 0x0006. Four peers halve the line at most
 * three times, so none of them begins or ends within.
 */
const californiaHex = Buffer.from('places\0').toString('hex') + '0005'

describe('a ring of four daemons, of which one fails', () => {
  let ring: Ring

  before(async function () {
    this.timeout(slowMs)
    build()
    ring = await Ring.start(4)
    assert.equal(await ring.load(quakes(), 'places'), 1_707)
    const { peers } = await json<RingAnswer>(`${ring.rpcs[0]}/v1/peers`)
    const owner = peers.findLast(({ interval: { low } }) => low === null || low.hex <= californiaHex)
    california = ring.peers.findIndex(peer => peer.rpc === owner?.rpc)
  })

  after(async function () {
    this.timeout(slowMs)
    await ring?.close()
  })

  /** Number of the peer that owns California, where most of the earthquakes are. */
  let california: number
  const victim = (): PeerProcess => ring.at(california)
  const other = (): string => ring.rpcs.find(rpc => rpc !== victim().rpc) ?? ''

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
        assert(answer.missing.some(part => covers(part, paused.interval)), JSON.stringify([answer.missing, paused.interval]))
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
    const partial = await json<End & { count: number }>(url(other(), '/v1/find', { bbox: world, count: true, deadlineMs: 2_000 }))
    assert.equal(partial.complete, false)
    ring.run(california, [])
    await completeAgain()
  })

  it('has all that was acknowledged after a peer was killed, which starts again unaided', async function () {
    this.timeout(slowMs)
    const acknowledged = new Map<string, string>()
    // kv comes before places, so it lies with the peer at the low end of the line.
    const { peers } = await json<RingAnswer>(`${ring.rpcs[0]}/v1/peers`)
    const at = ring.peers.findIndex(peer => peer.rpc === peers[0]?.rpc)
    const killed = ring.at(at)
    const writer = ring.rpcs.find(rpc => rpc !== killed.rpc) ?? ''
    let writes = 0
    const writers = Array.from({ length: 8 }, async (_, line) => {
      for (let count = 0; count < 1_000; count++) {
        const key = `kept-${line}-${count}`
        try {
          await put(writer, key, `${key} is here`)
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
    ring.run(at, [])
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

/** Does a missing part of places cover what a peer owns there? */
function covers (part: { readonly from: string, readonly to: string | null }, { low, high }: RingAnswer['peers'][number]['interval']): boolean {
  const [from, to] = [hexOf(part.from), part.to === null ? undefined : hexOf(part.to)]
  return (low === null || from <= low.hex) && (to === undefined || (high !== null && to >= high.hex))
}

/** The key as bytes of the whole line, in hex; keys that are no UTF-8 come in hex. */
function hexOf (key: string): string {
  return Buffer.from('places\0').toString('hex') + (key.startsWith('0x') ? key.slice(2) : Buffer.from(key).toString('hex'))
}
