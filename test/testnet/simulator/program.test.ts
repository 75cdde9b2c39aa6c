// The program behind `npm run simulate`, run as a process: what it prints and how it ends.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readScenario, scenarioText } from '../../../testnet/simulator/swarm/scenario-file.ts'
import { drawScenario, type Scenario } from '../../../testnet/simulator/swarm/scenario.ts'

const main = fileURLToPath(new URL('../../../testnet/simulator/main.ts', import.meta.url))

function simulate (...args: string[]): { status: number | null, stdout: string, stderr: string } {
  return spawnSync(process.execPath, ['--import', 'tsx', main, ...args], { encoding: 'utf8' })
}

/** Goes well with time to come back after the crash, and fails without. */
const scenario: Scenario = {
  ...drawScenario(1),
  nodes: 3,
  ring: 'prepared',
  overlay: {},
  storage: {},
  clients: 1,
  thinkMs: 500,
  keys: { hot: 1, cold: 1, objects: 1 },
  safetyMs: 3000,
  faults: [{ kind: 'crash', atMs: 2000, node: 'n1', downMs: 60_000, disk: 'kept', writtenShare: 0 }]
}

describe('the simulate program', function () {
  this.timeout(60_000)
  let folder: string

  before(() => { folder = mkdtempSync(join(tmpdir(), 'isobar-simulate-')) })
  after(() => { rmSync(folder, { recursive: true, force: true }) })

  function file (given: Scenario): string {
    const path = join(folder, 'scenario.json')
    writeFileSync(path, scenarioText({ about: '', scenario: given }))
    return path
  }

  it('tells a run in a line and a sum, the same each time, and nothing on stderr', () => {
    const [first, second] = [simulate('--scenario', file(scenario)), simulate('--scenario', file(scenario))]
    assert.deepEqual([first.status, first.stderr], [0, ''])
    assert.match(first.stdout, /^seed 1 {2}digest [0-9a-f]{16} {2}operations \d+ \(\d+ failed, \d+ in doubt\) {2}scans \d+ \(\d+ not complete\) {2}faults crash 1 {2}restarts 1 {2}changes \d+ {2}virtual time \d+ s\n1 seed, none failed; operations \d+, faults crash 1, restarts 1, changes \d+, virtual time [\d.]+ h\n$/)
    assert.equal(first.stdout, second.stdout)
  })

  it('tells the same as one JSON object', () => {
    const { status, stdout } = simulate('--scenario', file(scenario), '--json')
    const { seeds, summary } = JSON.parse(stdout) as { seeds: Array<{ seed: number, counts: { faults: unknown } }>, summary: { failed: number[] } }
    assert.equal(status, 0)
    assert.deepEqual(seeds.map(({ seed, counts }) => [seed, counts.faults]), [[1, { crash: 1 }]])
    assert.deepEqual(summary.failed, [])
  })

  it('ends with 1 where something is wrong, says what, and writes a smaller scenario', () => {
    const small = join(folder, 'small.json')
    const { status, stdout, stderr } = simulate('--scenario', file({ ...scenario, clients: 2, livenessMs: 0 }), '--shrink', small)
    assert.equal(status, 1)
    assert.match(stdout, /\nseed 1 FAILED, liveness: at \d+ ms: n1 is starting, long after the last fault was healed\n1 seed, 1 FAILED: 1;/)
    assert.equal(stderr, `simulate: a smaller scenario that fails is in ${small}; replay it with --scenario ${small}\n`)
    const written = readScenario(readFileSync(small, 'utf8'))
    assert.equal(written.scenario.clients, 1)
    assert.equal(written.scenario.faults.length, 1)
    assert.equal(simulate('--scenario', small).status, 1)
  })

  it('refuses what it does not know with 2, and helps with an example', () => {
    assert.equal(simulate('--seeds', '0').stderr, "simulate: option '--seeds <n>' argument '0' is invalid. Expected a whole number from 1.; see --help\n")
    assert.equal(simulate('--seeds', '0').status, 2)
    assert.match(simulate('--scenario', join(folder, 'none.json')).stderr, /^simulate: .*none\.json is no scenario: ENOENT/)
    const help = simulate('--help')
    assert.equal(help.status, 0)
    assert.match(help.stdout, /Example:\n {2}\$ npm run simulate -- --seeds 100/)
  })
})
