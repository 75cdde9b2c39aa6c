// Makes a scenario that fails smaller while it goes on failing: fewer faults first (in halves, quarters, and so on down to single
// ones, as in Zeller and Hildebrandt's delta debugging, 2002, section 3), then fewer clients, nodes and records, a shorter run, and
// settings back to their defaults. Each try is a whole run. The seed stays, but what is drawn from it may come to differ, so a
// small scenario may fail by another way into the same kind of fault.

import type { Fault } from '../faults/fault.ts'
import type { Scenario } from './scenario.ts'

export interface ShrinkOptions {
  /** Runs at most. */
  readonly runsMax: number
  /** Told of each scenario that still fails. */
  readonly onSmaller?: (scenario: Scenario, runs: number) => void
}

/** Simpler forms of a scenario, the boldest first. */
type Simplify = (scenario: Scenario) => Scenario[]

/** @param fails - does it fail in the same way? */
export async function shrink (scenario: Scenario, fails: (scenario: Scenario) => Promise<boolean>, { runsMax, onSmaller }: ShrinkOptions): Promise<Scenario> {
  let best = scenario
  let runs = 0
  const firstFailing = async (candidates: readonly Scenario[]): Promise<Scenario | undefined> => {
    for (const candidate of candidates) {
      if (++runs > runsMax) return undefined
      if (await fails(candidate)) return candidate
    }
    return undefined
  }
  for (let before: Scenario | undefined; before !== best && runs < runsMax;) {
    before = best
    for (const simplify of simplifications) {
      for (let next = await firstFailing(simplify(best)); next !== undefined; next = await firstFailing(simplify(best))) {
        best = next
        onSmaller?.(best, runs)
      }
    }
  }
  return best
}

const simplifications: readonly Simplify[] = [
  fewerFaults,
  scenario => fewer(scenario.clients, 1).map(clients => ({ ...scenario, clients })),
  scenario => fewer(scenario.nodes, 2).map(nodes => ({ ...scenario, nodes })),
  scenario => fewer(scenario.safetyMs, 1000).map(safetyMs => ({ ...scenario, safetyMs, faults: scenario.faults.filter(({ atMs }) => atMs < safetyMs) })),
  scenario => fewer(scenario.keys.cold, 1).map(cold => ({ ...scenario, keys: { ...scenario.keys, cold } })),
  scenario => fewer(scenario.keys.objects, 1).map(objects => ({ ...scenario, keys: { ...scenario.keys, objects } })),
  scenario => fewer(scenario.keys.hot, 1).map(hot => ({ ...scenario, keys: { ...scenario.keys, hot } })),
  scenario => scenario.thinkMs < 10_000 ? [{ ...scenario, thinkMs: scenario.thinkMs * 2 }] : [],
  scenario => without(scenario.overlay).map(overlay => ({ ...scenario, overlay })),
  scenario => without(scenario.storage).map(storage => ({ ...scenario, storage })),
  scenario => scenario.flushMs > 0 ? [{ ...scenario, flushMs: 0 }] : [],
  calmer
]

function fewerFaults (scenario: Scenario): Scenario[] {
  const { faults } = scenario
  const candidates: Array<readonly Fault[]> = faults.length > 0 ? [[]] : []
  for (let size = Math.floor(faults.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let start = 0; start < faults.length; start += size) candidates.push([...faults.slice(0, start), ...faults.slice(start + size)])
  }
  return candidates.map(faults => ({ ...scenario, faults }))
}

/** The least, the half, one less; all below count. */
function fewer (count: number, least: number): number[] {
  const tries = [least, Math.floor(count / 2), Math.floor(count * 0.9), count - 1]
  return [...new Set(tries)].filter(value => value >= least && value < count)
}

/** Each with one field left out. */
function without<Fields extends object> (fields: Fields): Fields[] {
  return Object.keys(fields).map(name => Object.fromEntries(Object.entries(fields).filter(([each]) => each !== name)) as Fields)
}

function calmer (scenario: Scenario): Scenario[] {
  const { network } = scenario
  const calm = { ...network, lossShare: 0, duplicateShare: 0 }
  return network.lossShare > 0 || network.duplicateShare > 0 ? [{ ...scenario, network: calm }] : []
}
