// A scenario as a file: what it is about and all that it depends on, as JSON. Those in test/scenarios/ are replayed as tests.

import { faultKinds, type Fault } from '../faults/fault.ts'
import type { Scenario } from './scenario.ts'

export interface ScenarioFile {
  /** A sentence: what once went wrong here, or what it shows. */
  readonly about: string
  readonly scenario: Scenario
}

export function scenarioText ({ about, scenario }: ScenarioFile): string {
  const { faults, ...rest } = scenario
  const fields = Object.entries(rest).map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},`)
  const listed = faults.map(fault => `      ${JSON.stringify(fault)}`).join(',\n')
  return `{\n  "about": ${JSON.stringify(about)},\n  "scenario": {\n${fields.join('\n')}\n    "faults": [${listed === '' ? '' : `\n${listed}\n    `}]\n  }\n}\n`
}

/** @throws SyntaxError, RangeError for text that is no scenario; the message names the field */
export function readScenario (text: string): ScenarioFile {
  const file = fieldsOf(JSON.parse(text), 'the file')
  const given = fieldsOf(file['scenario'], 'scenario')
  for (const name of ['seed', 'nodes', 'flushMs', 'clients', 'thinkMs', 'safetyMs', 'livenessMs', 'disksLostMax']) {
    const value = given[name]
    if (typeof value !== 'number' || !(value >= 0)) throw new RangeError(`scenario.${name} is ${JSON.stringify(value)}; expected a number that is not negative`)
  }
  for (const name of ['overlay', 'storage', 'network', 'keys']) fieldsOf(given[name], `scenario.${name}`)
  if (given['ring'] !== 'prepared' && given['ring'] !== 'joined') throw new RangeError(`scenario.ring is ${JSON.stringify(given['ring'])}; expected "prepared" or "joined"`)
  if (!Array.isArray(given['faults'])) throw new RangeError('scenario.faults is not a list')
  given['faults'].forEach((fault: unknown, index) => {
    const { kind, atMs } = fieldsOf(fault, `scenario.faults[${index}]`) as Partial<Fault>
    if (kind === undefined || !faultKinds.includes(kind) || typeof atMs !== 'number') throw new RangeError(`scenario.faults[${index}] is no fault: its kind is one of ${faultKinds.join(', ')}, and it has atMs`)
  })
  return { about: typeof file['about'] === 'string' ? file['about'] : '', scenario: given as unknown as Scenario }
}

function fieldsOf (value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new RangeError(`${what} is no JSON object`)
  return value as Record<string, unknown>
}
