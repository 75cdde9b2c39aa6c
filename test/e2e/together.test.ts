// Daemons that are all started at the same moment, each told of all others and none told to begin, must end in one ring.

import assert from 'node:assert/strict'
import { build, slowMs } from './build.ts'
import { get, put } from './http.ts'
import { Ring } from './ring.ts'

const count = 4

describe('daemons started at the same moment, each with all others to join', () => {
  let ring: Ring | undefined

  before(build)

  after(async function () {
    this.timeout(slowMs)
    await ring?.close()
  })

  it('end in one ring', async function () {
    this.timeout(slowMs)
    const made = ring = await Ring.prepare(count)
    const numbers = Array.from({ length: count }, (_, at) => at)
    for (const at of numbers) made.run(at, numbers.filter(other => other !== at).flatMap(other => ['--join', made.p2p(other)]))
    await made.whole(count)
    for (const [at, rpc] of made.rpcs.entries()) await put(rpc, `from-${at}`, `value ${at}`)
    for (const rpc of made.rpcs) {
      for (const at of numbers) assert.equal(await get(rpc, `from-${at}`), `value ${at}`)
    }
  })
})
