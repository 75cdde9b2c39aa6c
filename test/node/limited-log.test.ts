// One line a subject and minute.

import assert from 'node:assert/strict'
import type { Logger } from '../../overlay/host.ts'
import { LimitedLog } from '../../node/limited-log.ts'

function begin (): { limited: LimitedLog, lines: object[], pass: (ms: number) => void } {
  const lines: object[] = []
  let now = 0
  const at = (level: string) => (fields: object, text: string): void => { lines.push({ level, ...fields, text }) }
  const log: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  return { limited: new LimitedLog(log, () => now), lines, pass: ms => { now += ms } }
}

describe('a limited log', () => {
  it('writes one line a subject and minute, and the next says how many were left out', () => {
    const { limited, lines, pass } = begin()
    for (let count = 0; count < 5; count++) {
      limited.warn('a', { count }, 'of a')
      limited.error('b', { count }, 'of b')
      pass(20_000)
    }
    assert.deepEqual(lines, [
      { level: 'warn', count: 0, text: 'of a' },
      { level: 'error', count: 0, text: 'of b' },
      { level: 'warn', count: 3, leftOut: 2, text: 'of a' },
      { level: 'error', count: 3, leftOut: 2, text: 'of b' }
    ])
  })

  it('writes the next line at once about what is over and comes again', () => {
    const { limited, lines } = begin()
    limited.warn('a', {}, '1')
    limited.warn('a', {}, '2')
    limited.forget('a')
    limited.warn('a', {}, '3')
    assert.deepEqual(lines, [{ level: 'warn', text: '1' }, { level: 'warn', text: '3' }])
  })

  it('remembers a thousand subjects or so, whatever others make up', () => {
    const { limited, lines } = begin()
    for (let count = 0; count < 1_025; count++) limited.warn(`peer ${count}`, {}, '')
    lines.length = 0
    limited.warn('peer 1024', {}, 'remembered')
    limited.warn('peer 0', {}, 'forgotten')
    assert.deepEqual(lines, [{ level: 'warn', text: 'forgotten' }])
  })
})
