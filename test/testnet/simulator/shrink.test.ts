// Shrinking: what is not needed for the failure goes, what is needed stays; and a scenario survives the way through its file.

import assert from 'node:assert/strict'
import { runScenario } from '../../../testnet/simulator/swarm/run.ts'
import { readScenario, scenarioText } from '../../../testnet/simulator/swarm/scenario-file.ts'
import { drawScenario, type Scenario } from '../../../testnet/simulator/swarm/scenario.ts'
import { shrink } from '../../../testnet/simulator/swarm/shrink.ts'

/** One with many faults. */
const large = Array.from({ length: 50 }, (_, seed) => drawScenario(seed)).find(({ faults, nodes }) => faults.length > 12 && nodes > 6)!

describe('shrinking a scenario', () => {
  it('keeps the faults that matter, and makes all else small', async () => {
    const [first, last] = [large.faults[2]!, large.faults.at(-1)!]
    const fails = async ({ faults, clients }: Scenario): Promise<boolean> => faults.includes(first) && faults.includes(last) && clients >= 2
    const small = await shrink(large, fails, { runsMax: 1000 })
    assert.deepEqual(small.faults, [first, last])
    assert.equal(small.clients, 2)
    assert.equal(small.nodes, 2)
    assert.deepEqual(small.keys, { hot: 1, cold: 1, objects: 1 })
    assert.deepEqual([small.overlay, small.storage, small.flushMs], [{}, {}, 0])
    assert(small.safetyMs <= last.atMs + 2000, `${small.safetyMs}`)
    assert.equal(small.seed, large.seed)
  })

  it('gives only scenarios that fail, and stops at its bound of runs', async () => {
    let runs = 0
    const failing = new Set<Scenario>([large])
    const small = await shrink(large, async scenario => {
      runs++
      if (scenario.faults.length < 3) return false
      failing.add(scenario)
      return true
    }, { runsMax: 7 })
    assert(failing.has(small))
    assert.equal(runs, 7)
  })

  it('leaves one that fails only as it is', async () => {
    assert.equal(await shrink(large, async () => false, { runsMax: 1000 }), large)
  })

  it('works on runs: a ring that has no time to come back keeps the crash and nothing else', async function () {
    this.timeout(60_000)
    const scenario: Scenario = {
      ...large,
      nodes: 4,
      overlay: {},
      storage: {},
      safetyMs: 6000,
      livenessMs: 0,
      faults: [
        { kind: 'clock', atMs: 1000, node: 'n0', byMs: 3_600_000 },
        { kind: 'crash', atMs: 3000, node: 'n1', downMs: 60_000, disk: 'kept', writtenShare: 0 },
        { kind: 'pause', atMs: 3500, node: 'n2', forMs: 100 }
      ]
    }
    const fails = async (each: Scenario): Promise<boolean> => /n1 is starting, long after/.test((await runScenario(each)).violation?.message ?? '')
    const small = await shrink(scenario, fails, { runsMax: 60 })
    assert.deepEqual(small.faults.map(({ kind }) => kind), ['crash'])
    assert.equal(await fails(small), true)
  })
})

describe('a scenario in a file', () => {
  it('is what it was', () => {
    for (let seed = 0; seed < 20; seed++) {
      const scenario = drawScenario(seed)
      assert.deepEqual(readScenario(scenarioText({ about: 'as drawn', scenario })), { about: 'as drawn', scenario })
    }
  })

  it('is refused with the field that is wrong', () => {
    const text = (change: object): string => scenarioText({ about: '', scenario: { ...large, ...change } })
    assert.throws(() => readScenario('{'), { name: 'SyntaxError' })
    assert.throws(() => readScenario('{"scenario": 1}'), /^RangeError: scenario is no JSON object/)
    assert.throws(() => readScenario(text({ clients: -1 })), /scenario\.clients is -1; expected a number/)
    assert.throws(() => readScenario(text({ ring: 'round' })), /scenario\.ring is "round"; expected "prepared" or "joined"/)
    assert.throws(() => readScenario(text({ faults: [{ kind: 'flood', atMs: 1 }] })), /scenario\.faults\[0\] is no fault: its kind is one of crash, stop/)
  })
})
