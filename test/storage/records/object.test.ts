// Objects that move: the orderer at the id, the entries at the places, and what happens when one of them is silent, changes
// hands, or hears of things late. Ends are compared with a map of the last acknowledged state of each id.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { everything } from '../../../overlay/interval.ts'
import { lonLat, indexOf } from '../../../overlay/space/space.ts'
import type { Point } from '../../../overlay/space/point.ts'
import { curveKey, idKey, placeKey } from '../../../storage/records/key-layout.ts'
import { decodeHeld } from '../../../storage/records/record.ts'
import type { Held } from '../../../storage/records/record.ts'
import { arriveMethod, leftMethod } from '../../../storage/messages.ts'
import type { FindRequest } from '../../../storage/storage-api.ts'
import { MemoryStore } from '../../../storage/memory-store.ts'
import { deadline, FakeRing } from '../fake-ring.ts'

const world: FindRequest = { collection: 'places', extent: { kind: 'box', west: -180, south: -90, east: 180, north: 90 }, words: [], match: 'all', limit: 10_000 }
const quarters = [1, 2, 3].map(quarter => curveKey('places', quarter * 2 ** 50))
/** One in each quarter of the curve. */
const corners: Point[] = [[-90, -45], [-90, 45], [90, 45], [90, -45]]
const ownerOfPoint = (point: Point): number => Math.floor(indexOf(lonLat, point) / 2 ** 50)
const placeOf = (point: Point, id: string): Uint8Array => placeKey('places', indexOf(lonLat, point), fromString(id))

/** An id whose id record lies with the given quarter's owner. */
function idAt (ring: FakeRing, node: number): string {
  for (let i = 0; ; i++) if (ring.ownerOf({ key: idKey('places', fromString(`id ${i}`)), below: false }).node === node) return `id ${i}`
}

async function put (ring: FakeRing, id: string, point: Point, more: { value?: string, requestId?: string, node?: number } = {}): Promise<{ created: boolean }> {
  return await ring.nodes[more.node ?? 0]!.storage.put({ collection: 'places', key: fromString(id), value: fromString(more.value ?? ''), point, requestId: more.requestId }, deadline)
}

async function rowsOf (ring: FakeRing, nodes = ring.nodes): Promise<Held[]> {
  const rows: Held[] = []
  for (const { store } of nodes) {
    const snapshot = store.snapshot()
    for await (const page of snapshot.pages(everything, { pageRows: 100 })) rows.push(...page.map(({ value }) => decodeHeld(value)))
    snapshot.close()
  }
  return rows
}

async function found (ring: FakeRing): Promise<Array<[string, Point]>> {
  const answer = await ring.run(ring.any.find(world, deadline))
  assert.equal(answer.complete, true)
  return answer.records.map(({ key, point }): [string, Point] => [toString(key), point!]).sort(([a], [b]) => a < b ? -1 : 1)
}

describe('objects', () => {
  it('are where their last update says, and nowhere else', async () => {
    const ring = new FakeRing({ boundaries: quarters })
    await ring.run(put(ring, 'bus', corners[0]!))
    for (const point of [corners[1]!, corners[2]!, corners[2]!, corners[3]!]) {
      assert.equal((await ring.run(put(ring, 'bus', point))).created, false)
      assert.deepEqual(await found(ring), [['bus', point]])
    }
    assert.equal((await ring.run(ring.any.delete({ collection: 'places', key: fromString('bus') }, deadline))).deleted, true)
    assert.deepEqual(await found(ring), [])
    assert.equal((await ring.run(put(ring, 'bus', corners[0]!))).created, true)
  })

  it('leave a mark that names where they went, until no message is under way any more', async () => {
    const ring = new FakeRing({ boundaries: quarters })
    await ring.run(put(ring, 'bus', corners[0]!))
    await ring.run(put(ring, 'bus', corners[2]!))
    const marks = (await rowsOf(ring)).filter(row => row.kind === 'place' && row.state === undefined)
    assert.deepEqual(marks.map(mark => mark.kind === 'place' && mark.movedTo), [placeOf(corners[2]!, 'bus')])
    await ring.pass(130_000)
    assert.deepEqual((await rowsOf(ring)).filter(row => row.state === undefined), [])
  })

  it('close their intents soon after the answer', async () => {
    const ring = new FakeRing({ boundaries: quarters })
    for (const point of corners) await ring.run(put(ring, 'bus', point))
    const open = async (): Promise<number> => (await rowsOf(ring)).reduce((sum, row) => sum + (row.kind === 'id' ? row.open.length : 0), 0)
    assert.equal(await open(), 1)
    await ring.pass(1000)
    assert.equal(await open(), 0)
  })

  it('are not brought back by a late arrival', async () => {
    const ring = new FakeRing({ boundaries: quarters })
    const id = 'ghost'
    const place = placeOf(corners[1]!, id)
    await ring.run(put(ring, id, corners[1]!))
    const { record } = await ring.run(ring.any.get({ collection: 'places', key: fromString(id) }, deadline))
    await ring.run(put(ring, id, corners[2]!))
    const { value, contentType, point, text, version } = record!
    const host = ring.nodes[0]!.host
    const late = { place, state: { value, contentType, point, text }, version }
    await ring.run(host.call(ring.nodes[ownerOfPoint(corners[1]!)]!.member.contact, arriveMethod, late, deadline))
    assert.deepEqual(await found(ring), [[id, corners[2]!]])
    const early = { place: placeOf(corners[2]!, id), version, movedTo: undefined }
    await ring.run(host.call(ring.nodes[ownerOfPoint(corners[2]!)]!.member.contact, leftMethod, early, deadline))
    assert.deepEqual(await found(ring), [[id, corners[2]!]])
  })

  it('are updated one after the other, at most sixteen waiting', async () => {
    const ring = new FakeRing({ boundaries: quarters })
    const { node } = ring.ownerOf({ key: idKey('places', fromString('bus')), below: false })
    const updates = Array.from({ length: 30 }, async (_, i) => await put(ring, 'bus', corners[i % 4]!, { node, value: `${i}` }).then(() => 'done', (error: Error & { remoteName?: string }) => error.remoteName))
    const outcomes = await ring.run(Promise.all(updates))
    assert.equal(outcomes.filter(outcome => outcome === 'done').length, 17)
    assert.equal(outcomes.filter(outcome => outcome === 'BusyError').length, 13)
    const { record } = await ring.run(ring.any.get({ collection: 'places', key: fromString('bus') }, deadline))
    assert.deepEqual(await found(ring), [['bus', record!.point!]])
  })

  it('answer a retry as the first time', async () => {
    const ring = new FakeRing({ boundaries: quarters })
    const answers = await ring.run(Promise.all([0, 1, 2].map(async () => await put(ring, 'bus', corners[1]!, { requestId: 'once' }))))
    assert.deepEqual(answers.map(({ created }) => created), [true, true, true])
    assert.equal((await rowsOf(ring)).filter(row => row.kind === 'id').length, 1)
  })

  it('whose new place is silent are told as unfinished, and arrive when it is back', async () => {
    const ring = new FakeRing({ boundaries: quarters, init: { updateMsMax: 2000 } })
    const id = idAt(ring, 0)
    await ring.run(put(ring, id, corners[1]!))
    const silent = ownerOfPoint(corners[2]!)
    assert.notEqual(silent, 0)
    ring.silent.add(silent)
    await assert.rejects(ring.run(put(ring, id, corners[2]!)), { name: 'RemoteError', remoteName: 'UnfinishedError', definite: false })
    const { record } = await ring.run(ring.any.get({ collection: 'places', key: fromString(id) }, deadline))
    assert.deepEqual(record?.point, corners[2])
    await assert.rejects(ring.run(put(ring, id, corners[3]!)), { remoteName: 'BusyError', definite: true })
    ring.silent.delete(silent)
    await ring.pass(60_000)
    assert.deepEqual(await found(ring), [[id, corners[2]!]])
  })

  it('are finished by whoever gets the id record with an open intent', async () => {
    const ring = new FakeRing({ boundaries: quarters, spare: 1, init: { updateMsMax: 1000, driveAgainMsMin: 1e9, driveAgainMsMax: 1e9 } })
    const id = idAt(ring, 0)
    await ring.run(put(ring, id, corners[1]!))
    ring.silent.add(ownerOfPoint(corners[2]!))
    await assert.rejects(ring.run(put(ring, id, corners[2]!)), { remoteName: 'UnfinishedError' })
    ring.silent.clear()
    ring.nodes[0]!.storage.stop()
    await ring.run(ring.move({ low: new Uint8Array(0), high: quarters[0] }, 4))
    await ring.pass(5_000)
    assert.deepEqual(await found(ring), [[id, corners[2]!]])
    assert.deepEqual((await rowsOf(ring, ring.nodes.slice(1))).filter(row => row.kind === 'id' && row.open.length > 0), [])
  })

  it('are not carried out by a former owner of their id, who may hold an old intent', async () => {
    const ring = new FakeRing({ boundaries: quarters, spare: 1, init: { updateMsMax: 1000, driveAgainMsMin: 200_000, driveAgainMsMax: 200_000, strayCheckMs: 1e9 } })
    const id = idAt(ring, 0)
    await ring.run(put(ring, id, corners[1]!))
    const silent = ownerOfPoint(corners[2]!)
    ring.silent.add(silent)
    await assert.rejects(ring.run(put(ring, id, corners[2]!)), { remoteName: 'UnfinishedError' })
    ring.silent.add(4) // so that the former owner cannot let go of its rows
    await ring.run(ring.move({ low: new Uint8Array(0), high: quarters[0] }, 4))
    await ring.pass(500)
    ring.silent.clear()
    await ring.pass(5000)
    await ring.run(put(ring, id, corners[3]!, { node: 1 }))
    await ring.pass(150_000)
    assert.equal((await rowsOf(ring, ring.nodes.slice(0, 1))).filter(row => row.kind === 'id' && row.open.length > 0).length, 1)
    await ring.pass(300_000)
    assert.deepEqual(await found(ring), [[id, corners[3]]])
    const entries = (await rowsOf(ring)).filter(row => row.kind === 'place' && row.state !== undefined)
    assert.equal(entries.length, 1) // a find of the world would hide one that is older than another
  })

  it('stay where they came back to, though their old mark ends there while the place changes hands', async () => {
    let flushMs = 0
    const low = { low: new Uint8Array(0), high: quarters[1] }
    const ring: FakeRing = new FakeRing({
      boundaries: [quarters[1]!],
      init: { strayCheckMs: 1e9 },
      storeOf: index => new MemoryStore(async () => { if (index === 0 && flushMs > 0) await ring.nodes[0]!.host.sleep(flushMs) })
    })
    const [there, away] = [[-100, -40], [100, -40]] as const
    await ring.run(put(ring, 'x', there, { node: 1 }))
    const movedMs = ring.world.now()
    await ring.run(put(ring, 'x', away, { node: 1 }))
    assert.equal(ring.ownerOf({ key: placeOf(there, 'x'), below: false }).node, 0)
    ring.silent.add(1) // so that the old mark stays with its former owner
    await ring.run(ring.move(low, 1))
    await ring.pass(500)
    ring.silent.clear()
    await ring.run(put(ring, 'x', there, { node: 1 }))
    await ring.pass(120_000 - (ring.world.now() - movedMs) - 30)
    flushMs = 100
    await ring.run(ring.move(low, 0))
    flushMs = 0
    await ring.pass(5000)
    assert.deepEqual(await found(ring), [['x', there]])
  })

  it('are told once by a find that meets them twice, and found though they step back behind it', async () => {
    const ring = new FakeRing({ boundaries: quarters, init: { messageRowsMax: 1 } })
    const order = [...corners].sort((a, b) => indexOf(lonLat, a) - indexOf(lonLat, b))
    for (const [i, point] of order.entries()) await ring.run(put(ring, `still ${i}`, point))
    await ring.run(put(ring, 'back', order[3]!))
    await ring.run(put(ring, 'forth', order[0]!))
    const { rows } = ring.any.findStream(world, deadline)
    const told: string[] = []
    await ring.run((async () => {
      for await (const { key } of rows) {
        told.push(toString(key))
        if (told.length !== 2) continue
        await put(ring, 'back', order[0]!)
        await put(ring, 'forth', order[3]!)
      }
    })())
    assert.deepEqual(told.sort(), ['back', 'forth', 'still 0', 'still 1', 'still 2', 'still 3'])
  })

  for (const skewMs of [-3_600_000, 3_600_000]) {
    it(`are found though they step back behind a find, when the clocks of the owners are ${skewMs} ms off`, async () => {
      const ring = new FakeRing({ boundaries: quarters, init: { messageRowsMax: 1 } })
      const order = [...corners].sort((a, b) => indexOf(lonLat, a) - indexOf(lonLat, b))
      for (const [i, point] of order.entries()) await ring.run(put(ring, `still ${i}`, point))
      const id = idAt(ring, 1)
      await ring.run(put(ring, id, order[3]!))
      await ring.pass(60_000)
      for (const node of [1, 2, 3]) ring.world.jumpWallClock(`node ${node}`, skewMs)
      const told: string[] = []
      await ring.run((async () => {
        for await (const { key } of ring.any.findStream(world, deadline).rows) {
          told.push(toString(key))
          if (told.length === 2) await put(ring, id, order[0]!)
        }
      })())
      assert.deepEqual(told.sort(), [id, 'still 0', 'still 1', 'still 2', 'still 3'])
    })
  }

  it('go on moving while the owners of their ids and places change', async () => {
    const ring = new FakeRing({ boundaries: quarters, init: { frameBytesMax: 300, scanPageRows: 5 } })
    const last = new Map<string, Point>()
    let isOver = false
    const failed: string[] = []
    const drive = async (id: string, node: number): Promise<void> => {
      const { host } = ring.nodes[node]!
      while (!isOver) {
        const point: Point = [Math.floor(host.random() * 360) - 180, Math.floor(host.random() * 180) - 90]
        await put(ring, id, point, { node }).then(() => { last.set(id, point) }, error => { failed.push(String(error)) })
      }
    }
    const driving = Array.from({ length: 12 }, async (_, i) => { await drive(`bus ${i}`, i % 4) })
    for (const [low, high, to] of [[0, 1, 1], [4, 6, 3], [8, 12, 0], [0, 1, 2], [12, 16, 1], [4, 6, 0]] as Array<[number, number, number]>) {
      await ring.run(ring.move({ low: curveKey('places', low * 2 ** 48), high: curveKey('places', high * 2 ** 48) }, to))
      const ids = (await found(ring)).map(([id]) => id)
      assert.equal(new Set(ids).size, ids.length)
    }
    isOver = true
    await ring.run(Promise.all(driving))
    assert.deepEqual(failed, [])
    assert.deepEqual(await found(ring), [...last].sort(([a], [b]) => a < b ? -1 : 1))
    await ring.pass(200_000)
    assert.deepEqual(await found(ring), [...last].sort(([a], [b]) => a < b ? -1 : 1))
    const rows = await rowsOf(ring)
    assert.deepEqual([rows.filter(row => row.kind === 'id').length, rows.filter(row => row.kind === 'place').length], [12, 12])
    assert.deepEqual(rows.filter(row => row.kind === 'id' && row.open.length > 0), [])
  })

  it('end as the last acknowledged update says, whatever runs at once and whoever is silent for a while', async () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('put' as const), id: fc.nat(3), corner: fc.nat(3), node: fc.nat(3) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), id: fc.nat(3), corner: fc.nat(3), node: fc.nat(3) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('silent' as const), id: fc.nat(3), corner: fc.nat(3), node: fc.nat(3) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('heal' as const), id: fc.nat(3), corner: fc.nat(3), node: fc.nat(3) }) }
    )
    await fc.assert(fc.asyncProperty(fc.array(fc.tuple(step, fc.nat(30)), { maxLength: 30 }), fc.nat(), async (steps, seed) => {
      const ring = new FakeRing({ seed, boundaries: quarters, init: { updateMsMax: 500 } })
      const running: Array<Promise<unknown>> = []
      for (const [{ kind, id, corner, node }, pauseMs] of steps) {
        if (kind === 'put') running.push(put(ring, `${id}`, corners[corner]!, { node }).catch(() => {}))
        else if (kind === 'delete') running.push(ring.nodes[node]!.storage.delete({ collection: 'places', key: fromString(`${id}`) }, deadline).catch(() => {}))
        else if (kind === 'silent') ring.silent.add(node)
        else ring.silent.clear()
        await ring.pass(pauseMs)
      }
      await ring.run(Promise.all(running))
      ring.silent.clear()
      await ring.pass(200_000)
      const wanted: Array<[string, Point]> = []
      for (let id = 0; id < 4; id++) {
        const { record } = await ring.run(ring.any.get({ collection: 'places', key: fromString(`${id}`) }, deadline))
        if (record?.point !== undefined) wanted.push([`${id}`, record.point])
      }
      assert.deepEqual(await found(ring), wanted)
      const rows = await rowsOf(ring)
      assert.deepEqual(rows.filter(row => row.kind === 'id' && row.open.length > 0), [])
      assert.equal(rows.filter(row => row.kind === 'place').length, wanted.length)
    }), { numRuns: 60 })
  })
})
