// Two processes and one store: the second is refused while the first lives, however often it tries; when the first was
// killed in the middle of its writes, the next has the store at once, with all that was acknowledged.

import assert from 'node:assert/strict'
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { isInUse } from '../../node/level-database.ts'
import { openLevelStore } from '../../node/level-store.ts'
import { allRows } from '../conformance/store.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Puts 0, 1, 2 and so on, sixteen at a time, and says of each that it was acknowledged. */
const writer = `
  import './node/promise-with-resolvers.ts'
  import { openLevelStore } from './node/level-store.ts'
  const store = await openLevelStore(process.env.STORE)
  console.log('open')
  let next = 0
  const write = async () => {
    for (;;) {
      const number = next++
      const key = new Uint8Array(4)
      new DataView(key.buffer).setUint32(0, number)
      await store.batch([{ type: 'put', key, value: new Uint8Array(1 + number % 5000) }])
      console.log(number)
    }
  }
  for (let line = 0; line < 16; line++) write()
`

describe('a store and two processes', () => {
  let directory: string
  const children: Array<ChildProcessByStdio<null, Readable, null>> = []

  beforeEach(async () => { directory = await mkdtemp(join(tmpdir(), 'isobar-crash-')) })

  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    }
    await rm(directory, { recursive: true, maxRetries: 10, retryDelay: 100 })
  })

  /** @returns what the child acknowledged, as it comes, and what kills it */
  async function write (until: number): Promise<{ acknowledged: number[], kill: () => Promise<void> }> {
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type', 'module', '--eval', writer], { cwd: root, env: { ...process.env, STORE: directory }, stdio: ['ignore', 'pipe', 'inherit'] })
    children.push(child)
    const acknowledged: number[] = []
    const lines = createInterface({ input: child.stdout })
    const ended = once(lines, 'close')
    await new Promise<void>((resolve, reject) => {
      child.once('exit', code => { reject(new Error(`the writer ended with ${code}`)) })
      lines.on('line', line => {
        if (line !== 'open') acknowledged.push(Number(line))
        if (acknowledged.length >= until) resolve()
      })
    })
    return {
      acknowledged,
      kill: async () => {
        child.kill('SIGKILL')
        await ended
      }
    }
  }

  it('is refused to the second in one line, also when the files change while they are looked at', async () => {
    const { kill } = await write(1)
    for (let time = 0; time < 30; time++) {
      await assert.rejects(openLevelStore(directory), { name: 'StoreLockedError', message: `the data directory ${directory} is in use by another process: stop that one, or choose another data directory for this one` })
    }
    assert.equal(await isInUse(directory), true)
    await kill()
    assert.equal(await isInUse(directory), false)
  })

  it('is open to the second at once when the first was killed, with all that was acknowledged, several times over', async () => {
    const acknowledged = new Set<number>()
    for (const until of [1, 200, 2_000]) {
      const first = await write(until)
      await first.kill()
      for (const number of first.acknowledged) acknowledged.add(number)
      const store = await openLevelStore(directory)
      const rows = await allRows(store)
      await store.close()
      const found = new Set(rows.map(({ key }) => new DataView(key.buffer, key.byteOffset).getUint32(0)))
      assert.deepEqual([...acknowledged].filter(number => !found.has(number)), [])
      for (const { key, value } of rows) assert.equal(value.length, 1 + new DataView(key.buffer, key.byteOffset).getUint32(0) % 5000)
    }
  })
})
