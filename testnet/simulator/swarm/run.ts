// Runs one scenario: a ring, clients and faults for a while (safety: nothing wrong may ever be seen), then everything is healed
// (liveness: all has to be well again in time), then each record is read once more and the whole history is judged.

import { InvariantError } from '../checkers/checker.ts'
import { DecidedClaims } from '../checkers/decided-claims.ts'
import { History } from '../checkers/history.ts'
import { Cluster } from '../cluster.ts'
import { Faults } from '../faults/inject.ts'
import { Client } from './client.ts'
import { foundRing } from './found-ring.ts'
import { judge, type Violation } from './judge.ts'
import { agree, doAll, LivenessError, recover } from './recovery.ts'
import type { Scenario } from './scenario.ts'
import { Slips } from './slips.ts'
import { wholeScans, Workload, type Deed } from './workload.ts'

export interface Counts {
  readonly operations: number
  readonly failed: number
  readonly indefinite: number
  readonly scans: number
  /** Scans that said complete: false, or had no answer. */
  readonly incomplete: number
  readonly faults: Readonly<Record<string, number>>
  readonly restarts: number
  /** Claims decided. */
  readonly changes: number
  readonly events: number
  readonly virtualMs: number
}

export interface Outcome {
  readonly seed: number
  readonly digest: string
  readonly counts: Counts
  /** The first thing that was wrong. */
  readonly violation: Violation | undefined
  readonly history: History
}

/** Far beyond what a run of minutes has (guess). */
const eventsMaxPerMinute = 500_000

export interface RunOptions {
  /** Told what nodes log and which faults happen, each with its virtual time. */
  readonly trace?: ((line: string) => void) | undefined
}

export async function runScenario (scenario: Scenario, { trace }: RunOptions = {}): Promise<Outcome> {
  const run = new Run(scenario, trace)
  const violation = await run.violation()
  return { seed: scenario.seed, digest: run.cluster.world.digest(), counts: run.counts(), violation, history: run.history }
}

class Run {
  readonly cluster: Cluster
  readonly #scenario: Scenario
  readonly #slips = new Slips()
  readonly history = new History()
  readonly #decided = new DecidedClaims()
  readonly #workload: Workload
  readonly #faults: Faults
  #failure: unknown

  constructor (scenario: Scenario, trace: ((line: string) => void) | undefined) {
    const { seed, network, overlay, storage, flushMs, keys, disksLostMax } = scenario
    this.#scenario = scenario
    const tell = (line: string): void => { trace?.(`${this.cluster.world.now().toFixed(1)} ${line}`) }
    this.cluster = new Cluster({ seed, ...network, overlay, storage, flushMs, log: name => this.#slips.log(name, tell) }, [this.#decided])
    this.#workload = new Workload(keys)
    this.#faults = new Faults(this.cluster, { disksLostMax, onFailure: error => { this.#failure ??= error }, onFault: (fault, what) => { tell(`${what}: ${JSON.stringify(fault)}`) } })
  }

  async violation (): Promise<Violation | undefined> {
    try {
      await this.#live()
      if (this.#failure !== undefined) throw this.#failure
    } catch (error) {
      if (error instanceof InvariantError) return { kind: 'invariant', message: this.#dated(error.message) }
      if (error instanceof LivenessError) return { kind: 'liveness', message: this.#dated(error.message) }
      return { kind: 'error', message: this.#dated(error instanceof Error ? error.stack ?? error.message : String(error)) }
    }
    return judge(this.history) ?? this.#slipped()
  }

  counts (): Counts {
    const { operations, scans } = this.history
    return {
      operations: operations.length,
      failed: operations.filter(({ outcome }) => outcome === 'failed').length,
      indefinite: operations.filter(({ outcome }) => outcome === 'indefinite').length,
      scans: scans.length,
      incomplete: scans.filter(({ complete }) => !complete).length,
      faults: this.#faults.counts,
      restarts: this.#faults.restarts,
      changes: this.#decided.count,
      events: this.cluster.world.clock.events,
      virtualMs: Math.round(this.cluster.world.now())
    }
  }

  async #live (): Promise<void> {
    const { cluster } = this
    const { seed, faults, clients, thinkMs, safetyMs, livenessMs } = this.#scenario
    await foundRing(cluster, this.#scenario)
    this.#faults.schedule(faults)
    const healMs = cluster.world.now() + safetyMs
    const components = { cluster, history: this.history, workload: this.#workload, slips: this.#slips }
    const working = Promise.all(Array.from({ length: clients }, async (_, index) => { await new Client(components, { seed, name: `c${index}`, thinkMs }).run(healMs) }))
    working.catch(() => {}) // told when it is awaited
    const end = await cluster.run({ untilMs: healMs, eventsMax: eventsMaxPerMinute * Math.ceil(safetyMs / 60_000) })
    if (end === 'events') throw new LivenessError('events follow each other without end')
    this.#faults.heal()
    await cluster.settle(working)
    const endMs = healMs + livenessMs
    await recover(cluster, endMs)
    const reader = new Client(components, { seed, name: 'reader', thinkMs })
    await cluster.settle(doAll(cluster, reader, this.#everyGet(), endMs))
    await cluster.settle(agree(cluster, reader, this.history, this.#workload.objects, endMs))
    for (const deeds of [this.#workload.everyPut(), this.#workload.everyGet(), wholeScans]) await cluster.settle(doAll(cluster, reader, deeds, endMs))
  }

  /** Of all records that were ever written. */
  #everyGet (): Deed[] {
    const names = new Set(this.history.operations.map(({ key }) => key))
    return [...names].map(name => {
      const slash = name.indexOf('/')
      return { kind: 'get', collection: name.slice(0, slash), key: name.slice(slash + 1) }
    })
  }

  #slipped (): Violation | undefined {
    return this.#slips.first === undefined ? undefined : { kind: 'slip', message: this.#slips.first }
  }

  #dated (message: string): string {
    return `at ${Math.round(this.cluster.world.now())} ms: ${message}`
  }
}
