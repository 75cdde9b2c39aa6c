// The log's two forms and its level; the metrics' names, labels and bound.

import assert from 'node:assert/strict'
import { Registry } from 'prom-client'
import { createLog } from '../../node/log.ts'
import { createMetrics } from '../../node/metrics.ts'

describe('the log', () => {
  const capture = (format: 'text' | 'json') => {
    const lines: string[] = []
    return { lines, log: createLog({ level: 'info', format, sink: { write: line => { lines.push(line) } } }) }
  }

  it('is a line of time, level, area, text and fields for people', () => {
    const { lines, log } = capture('text')
    log.area('move').info({ objects: 420, ms: 38, reason: 'load 3.1x', with: '12D3' }, 'exchanged [k..q)')
    assert.equal(lines.length, 1)
    assert.match(lines[0] ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO {2}move {6}exchanged \[k\.\.q\) objects=420 ms=38 reason="load 3\.1x" with=12D3\n$/)
  })

  it('keeps text from outside on its line', () => {
    const { lines, log } = capture('text')
    log.warn({ key: 'a\nb c', error: new Error('line one\nline two') }, 'odd')
    assert.equal((lines[0] ?? '').split('\n').length, 2)
    assert.match(lines[0] ?? '', /key="a\\nb c" error="Error: line one\\nline two"\n$/)
  })

  it('is one JSON object a line for machines', () => {
    const { lines, log } = capture('json')
    log.error({ area: 'http', count: 3 }, 'failed')
    const { time, ...rest } = JSON.parse(lines[0] ?? '')
    assert.deepEqual(rest, { level: 'error', area: 'http', count: 3, text: 'failed' })
    assert.match(time, /Z$/)
  })

  it('changes its level while it runs, for every area', () => {
    const { lines, log } = capture('json')
    const area = log.area('ring')
    area.debug({}, 'quiet')
    log.level = 'debug'
    area.debug({}, 'heard')
    log.level = 'silent'
    area.error({}, 'quiet again')
    assert.deepEqual(lines.map(line => JSON.parse(line).text), ['heard'])
  })
})

describe('metrics', () => {
  it('have the prefix isobar_ and units in their names', async () => {
    const registry = new Registry()
    const metrics = createMetrics(registry)
    metrics.count('lookups')
    metrics.count('lookups', {}, 4)
    metrics.gauge('streams_open', 7, { kind: 'rpc' })
    metrics.observe('call_ms', 3, { method: 'get' })
    metrics.observe('hops', 2)
    const page = await registry.metrics()
    assert.match(page, /^isobar_lookups_total 5$/m)
    assert.match(page, /^isobar_streams_open\{kind="rpc"\} 7$/m)
    assert.match(page, /^isobar_call_ms_bucket\{le="4",method="get"\} 1$/m)
    assert.match(page, /^isobar_call_ms_bucket\{le="2",method="get"\} 0$/m)
    assert.match(page, /^isobar_hops_count 1$/m)
  })

  it('keep the label names of their first use', () => {
    const metrics = createMetrics(new Registry())
    metrics.count('moves', { reason: 'load' })
    assert.throws(() => { metrics.count('moves', { cause: 'load' }) })
    assert.throws(() => { metrics.count('moves') })
    assert.throws(() => { metrics.count('Bad Name') })
  })

  it('count values beyond their bound together, so that the page cannot grow', async () => {
    const registry = new Registry()
    const metrics = createMetrics(registry)
    for (let at = 0; at < 1_000; at++) metrics.count('errors', { name: `E${at}` })
    const page = await registry.metrics()
    assert.equal(page.split('\n').filter(line => line.startsWith('isobar_errors_total{')).length, 65)
    assert.match(page, /isobar_errors_total\{name="other"\} 936/)
  })
})
