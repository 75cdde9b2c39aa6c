// Counts for operators: what protocol code and the surface tell becomes Prometheus metrics by prom-client, made at first
// use. Names get the prefix isobar_ and, for counts, the suffix _total. Labels are from small fixed sets: a metric keeps
// the label names of its first use, and values beyond a bound are counted together as "other", so that no peer, key or
// error text can make the page grow (public faults of that kind: ZcashFoundation/zebra#10551, tendermint/tendermint#2600).

import assert from 'node:assert/strict'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Metrics } from '../overlay/host.ts'

type Labels = Readonly<Record<string, string>>

/** Different values of one label. More than any fixed set of reasons or methods here; a guess. */
const labelValuesMax = 64
/** Combinations of values remembered for speed; the rest are looked up anew. A guess. */
const childrenMax = 1_024
/** Buckets of what is measured in milliseconds: 0.25 ms to about 8 s, doubling. */
const msBuckets = Array.from({ length: 16 }, (_, power) => 0.25 * 2 ** power)
/** Buckets of counts and sizes: 1 to about 16 million, by four. */
const countBuckets = Array.from({ length: 13 }, (_, power) => 4 ** power)

/** What a metric gives for fixed labels. */
interface Child { inc (by: number): void, set (value: number): void, observe (value: number): void }

interface Entry {
  readonly labelNames: string
  childOf (labels: Labels): Child
  /** By label values as they came: the way that is taken each time but the first. */
  readonly children: Map<string, Child>
  /** Values seen so far, by label name. */
  readonly seen: Map<string, Set<string>>
}

/** @param registry - one a node, so that several nodes can live in one process */
export function createMetrics (registry: Registry): Metrics {
  const entries = new Map<string, Entry>()
  const entryOf = (kind: 'count' | 'gauge' | 'observe', name: string, labels: Labels): Entry => {
    const found = entries.get(name)
    if (found !== undefined) return found
    assert.match(name, /^[a-z][a-z0-9_]*$/, `metric name ${name}`)
    const metric = create(kind, name, { help: helpOf(name), labelNames: Object.keys(labels), registers: [registry] })
    const entry = { labelNames: namesOf(labels), childOf: (safe: Labels) => metric.labels(safe) as unknown as Child, children: new Map(), seen: new Map() }
    entries.set(name, entry)
    return entry
  }
  return {
    count: (name, labels = none, by = 1) => { childOf(entryOf('count', name, labels), labels).inc(by) },
    gauge: (name, value, labels = none) => { childOf(entryOf('gauge', name, labels), labels).set(value) },
    observe: (name, value, labels = none) => { childOf(entryOf('observe', name, labels), labels).observe(value) }
  }
}

const none: Labels = {}

function create (kind: 'count' | 'gauge' | 'observe', name: string, common: { help: string, labelNames: string[], registers: Registry[] }): Counter | Gauge | Histogram {
  switch (kind) {
    case 'count': return new Counter({ name: `isobar_${name.replace(/_total$/, '')}_total`, ...common })
    case 'gauge': return new Gauge({ name: `isobar_${name}`, ...common })
    case 'observe': return new Histogram({ name: `isobar_${name}`, buckets: name.endsWith('_ms') ? msBuckets : countBuckets, ...common })
  }
}

function childOf (entry: Entry, labels: Labels): Child {
  let key = ''
  for (const name in labels) key += `${name}\0${labels[name] as string}\0`
  const found = entry.children.get(key)
  if (found !== undefined) return found
  assert.equal(namesOf(labels), entry.labelNames, 'a metric keeps its label names')
  const child = entry.childOf(bounded(entry, labels))
  if (entry.children.size < childrenMax) entry.children.set(key, child)
  return child
}

function bounded (entry: Entry, labels: Labels): Labels {
  const safe: Record<string, string> = {}
  for (const [name, value] of Object.entries(labels)) {
    const seen = entry.seen.get(name) ?? new Set()
    entry.seen.set(name, seen)
    if (seen.size < labelValuesMax) seen.add(value)
    safe[name] = seen.has(value) ? value : 'other'
  }
  return safe
}

function namesOf (labels: Labels): string {
  return Object.keys(labels).sort().join(',')
}

function helpOf (name: string): string {
  const unit = name.endsWith('_ms') ? ', in milliseconds' : name.endsWith('_bytes') ? ', in bytes' : ''
  return `isobar: ${name.replace(/_(ms|bytes|total)$/, '').replaceAll('_', ' ')}${unit}`
}
