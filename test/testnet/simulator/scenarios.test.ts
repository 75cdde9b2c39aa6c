// The scenarios in test/scenarios/ are replayed: each once went wrong, or shows something, and must go well. A new one comes from
// `npm run simulate -- --first-seed S --seeds 1 --shrink test/scenarios/NAME.json`; then "about" is made a sentence by hand.

import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { runScenario } from '../../../testnet/simulator/swarm/run.ts'
import { readScenario } from '../../../testnet/simulator/swarm/scenario-file.ts'

const folder = new URL('../../scenarios/', import.meta.url)

describe('scenarios that are kept', function () {
  this.timeout(60_000)
  for (const name of readdirSync(folder).filter(name => name.endsWith('.json')).sort()) {
    const { about, scenario } = readScenario(readFileSync(new URL(name, folder), 'utf8'))
    it(`${name}: ${about}`, async () => {
      const { violation } = await runScenario(scenario)
      assert.equal(violation, undefined, `seed ${scenario.seed}, ${violation?.kind}: ${violation?.message}`)
    })
  }
})
