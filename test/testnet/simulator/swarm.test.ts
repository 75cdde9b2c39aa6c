// The swarm: scenarios drawn from seeds, with everything checked. ISOBAR_SEEDS=n runs the first n seeds, and
// `npm run simulate` as many as you like; the default of 80 takes about 35 s of one core.

import assert from 'node:assert/strict'
import type { Operation, Row, Scan } from '../../../testnet/simulator/checkers/history.ts'
import { judge } from '../../../testnet/simulator/swarm/judge.ts'
import { runScenario, type Outcome } from '../../../testnet/simulator/swarm/run.ts'
import { drawScenario, type Scenario } from '../../../testnet/simulator/swarm/scenario.ts'

const seeds = Number(process.env['ISOBAR_SEEDS'] ?? 80)

/** Ten seconds of a small ring, with a crash and a pause. */
const small: Scenario = {
  ...drawScenario(1),
  seed: 11,
  nodes: 4,
  ring: 'prepared',
  overlay: {},
  storage: {},
  network: { latencyMs: { median: 5, sigma: 0.4 }, lossShare: 0, duplicateShare: 0 },
  flushMs: 2,
  clients: 4,
  thinkMs: 50,
  keys: { hot: 2, cold: 8, objects: 8 },
  safetyMs: 10_000,
  faults: [
    { kind: 'crash', atMs: 2000, node: 'n1', downMs: 1000, disk: 'kept', writtenShare: 0.5 },
    { kind: 'pause', atMs: 5000, node: 'n2', forMs: 1500 }
  ]
}

describe('a swarm of simulated runs', function () {
  this.timeout(60_000 + seeds * 5000)

  it(`of ${seeds} seeds finds nothing wrong`, async () => {
    const wrong: string[] = []
    for (let seed = 1; seed <= seeds; seed++) {
      const { violation } = await runScenario(drawScenario(seed))
      if (violation !== undefined) wrong.push(`seed ${seed}, ${violation.kind}: ${violation.message}`)
    }
    assert(wrong.length === 0, `\n${wrong.join('\n')}\n`)
  })

  it('draws the same scenario for a seed, and gives the same digest for it', async () => {
    for (const seed of [1, 2, 3]) {
      assert.deepEqual(drawScenario(seed), drawScenario(seed))
      const [first, second] = [await runScenario(drawScenario(seed)), await runScenario(drawScenario(seed))]
      assert.equal(first.digest, second.digest, `seed ${seed}`)
      assert.deepEqual(first.counts, second.counts, `seed ${seed}`)
    }
    assert.notEqual((await runScenario(small)).digest, (await runScenario({ ...small, seed: 12 })).digest)
  })

  it('draws scenarios of 3 to 12 nodes, or as many as it is told', () => {
    const sizes = new Set(Array.from({ length: 200 }, (_, seed) => drawScenario(seed).nodes))
    assert.deepEqual([...sizes].sort((a, b) => a - b), [3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    assert.equal(drawScenario(1, { nodes: 20 }).nodes, 20)
    assert.equal(drawScenario(1, { hours: 0.5 }).safetyMs, 1_800_000)
  })
})

describe('the verdict on a run', function () {
  this.timeout(60_000)
  let run: Outcome

  before(async () => { run = await runScenario(small) })

  /** What is said of the history when one answer in it is another. */
  function verdict (change: { operation?: [Operation, Partial<Operation>], scan?: [Scan, readonly Row[]] }): string {
    const { operations, scans } = run.history
    const violation = judge({
      operations: operations.map(each => each === change.operation?.[0] ? { ...each, ...change.operation[1] } : each),
      scans: scans.map(each => each === change.scan?.[0] ? { ...each, rows: change.scan[1] } : each)
    })
    return violation?.kind ?? 'nothing wrong'
  }

  /** Reads of a hot key that saw a value, in order. */
  const reads = (): Operation[] => run.history.operations.filter(({ kind, key, value }) => kind === 'get' && key.endsWith('-hot') && value !== undefined)
  const fullScans = (kind: Scan['kind']): Scan[] => run.history.scans.filter(scan => scan.kind === kind && scan.complete && !scan.isCut && scan.rows.length > 3)

  it('is good, and rests on operations of each sort and on the faults', () => {
    assert.equal(run.violation, undefined, run.violation?.message)
    assert.equal(verdict({}), 'nothing wrong')
    assert.deepEqual(run.counts.faults, { crash: 1, pause: 1 })
    assert.equal(run.counts.restarts, 1)
    assert(run.counts.operations > 200 && reads().length > 20 && fullScans('range').length > 1 && fullScans('find').length > 0)
  })

  it('is bad when a read gives the value of the first read of its key', () => {
    const last = reads().at(-1)!
    const first = reads().find(({ key }) => key === last.key)!
    assert.notEqual(first.value, last.value)
    assert.equal(verdict({ operation: [last, { value: first.value }] }), 'history')
  })

  it('is bad when a read finds nothing, or what another key holds', () => {
    const last = reads().at(-1)!
    const other = run.history.operations.find(({ kind, key, value }) => kind === 'put' && key !== last.key && value !== undefined)!
    assert.equal(verdict({ operation: [last, { value: undefined }] }), 'history')
    assert.equal(verdict({ operation: [last, { value: other.value }] }), 'history')
  })

  it('is bad when an acknowledged write that was read had failed', () => {
    const read = reads().at(-1)!
    const write = run.history.operations.find(({ kind, key, value }) => kind === 'put' && key === read.key && value === read.value)!
    assert.equal(verdict({ operation: [write, { outcome: 'failed' }] }), 'history')
  })

  it('is bad when a range or a find leaves a record out, gives one twice, or gives one that is gone', () => {
    const range = fullScans('range').at(-1)!
    const find = fullScans('find').at(-1)!
    assert.equal(verdict({ scan: [range, range.rows.slice(1)] }), 'history')
    for (const scan of [range, find]) assert.equal(verdict({ scan: [scan, [...scan.rows, scan.rows[0]!]] }), 'scan')
    const moved = run.history.operations.find(({ kind, key, value }) => kind === 'put' && key === find.rows[0]!.key && value !== find.rows[0]!.value)!
    assert.equal(verdict({ scan: [find, [{ key: moved.key, value: moved.value! }, ...find.rows.slice(1)]] }), 'scan')
    assert.equal(verdict({ scan: [find, find.rows.slice(1)] }), 'scan')
  })
})
