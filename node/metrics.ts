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
/** Buckets of what is measured in milliseconds: 0.25 ms to about 8 s, doubling. */
const msBuckets = Array.from({ length: 16 }, (_, power) => 0.25 * 2 ** power)
/** Buckets of counts and sizes: 1 to about 16 million, by four. */
const countBuckets = Array.from({ length: 13 }, (_, power) => 4 ** power)

interface Entry<M> {
  readonly metric: M
  readonly labelNames: string
  /** Values seen so far, by label name. */
  readonly seen: Map<string, Set<string>>
}

/** @param registry - one a node, so that several nodes can live in one process */
export function createMetrics (registry: Registry): Metrics {
  const counters = new Map<string, Entry<Counter>>()
  const gauges = new Map<string, Entry<Gauge>>()
  const histograms = new Map<string, Entry<Histogram>>()
  const common = (name: string, labels: Labels) => ({ help: helpOf(name), labelNames: Object.keys(labels), registers: [registry] })
  return {
    count: (name, labels = {}, by = 1) => {
      const entry = entryOf(counters, name, labels, () => new Counter({ name: `isobar_${name.replace(/_total$/, '')}_total`, ...common(name, labels) }))
      entry.metric.inc(bounded(entry, labels), by)
    },
    gauge: (name, value, labels = {}) => {
      const entry = entryOf(gauges, name, labels, () => new Gauge({ name: `isobar_${name}`, ...common(name, labels) }))
      entry.metric.set(bounded(entry, labels), value)
    },
    observe: (name, value, labels = {}) => {
      const buckets = name.endsWith('_ms') ? msBuckets : countBuckets
      const entry = entryOf(histograms, name, labels, () => new Histogram({ name: `isobar_${name}`, buckets, ...common(name, labels) }))
      entry.metric.observe(bounded(entry, labels), value)
    }
  }
}

function entryOf<M> (entries: Map<string, Entry<M>>, name: string, labels: Labels, create: () => M): Entry<M> {
  const found = entries.get(name)
  if (found !== undefined) return found
  assert.match(name, /^[a-z][a-z0-9_]*$/, `metric name ${name}`)
  const entry = { metric: create(), labelNames: Object.keys(labels).sort().join(','), seen: new Map<string, Set<string>>() }
  entries.set(name, entry)
  return entry
}

function bounded (entry: Entry<unknown>, labels: Labels): Labels {
  const names = Object.keys(labels)
  if (names.length === 0) {
    assert.equal(entry.labelNames, '', 'a metric keeps its label names')
    return labels
  }
  assert.equal(names.sort().join(','), entry.labelNames, 'a metric keeps its label names')
  const safe: Record<string, string> = {}
  for (const name of names) {
    const value = labels[name] as string
    let seen = entry.seen.get(name)
    if (seen === undefined) entry.seen.set(name, seen = new Set())
    if (!seen.has(value) && seen.size < labelValuesMax) seen.add(value)
    safe[name] = seen.has(value) ? value : 'other'
  }
  return safe
}

function helpOf (name: string): string {
  const unit = name.endsWith('_ms') ? ', in milliseconds' : name.endsWith('_bytes') ? ', in bytes' : ''
  return `isobar: ${name.replace(/_(ms|bytes|total)$/, '').replaceAll('_', ' ')}${unit}`
}
