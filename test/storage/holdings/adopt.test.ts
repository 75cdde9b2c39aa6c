// Rows of objects that an old disk offers: an entry at a place is kept only where its id record says that the object is,
// and an id record that comes to stand brings its entry with it.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { holdsKey } from '../../../overlay/interval.ts'
import type { Key } from '../../../overlay/interval.ts'
import type { Point } from '../../../overlay/space/point.ts'
import { indexOf, lonLat } from '../../../overlay/space/space.ts'
import { offerMethod } from '../../../storage/messages.ts'
import { curveKey, idKey, placeKey } from '../../../storage/records/key-layout.ts'
import { isLive } from '../../../storage/records/record.ts'
import type { FindRequest } from '../../../storage/storage-api.ts'
import { deadline, FakeRing } from '../fake-ring.ts'

const world: FindRequest = { collection: 'places', extent: { kind: 'box', west: -180, south: -90, east: 180, north: 90 }, words: [], match: 'all', limit: 10_000 }
const quarters = [1, 2, 3].map(quarter => curveKey('places', quarter * 2 ** 50))
const west: Point = [-90, -45]
const east: Point = [90, 45]
/** Marks are swept after two minutes. */
const sweptMs = 150_000
const placeOf = (point: Point, id = 'bus'): Key => placeKey('places', indexOf(lonLat, point), fromString(id))
const idKeyOf = (id = 'bus'): Key => idKey('places', fromString(id))

async function put (ring: FakeRing, point: Point, id = 'bus'): Promise<void> {
  await ring.run(ring.any.put({ collection: 'places', key: fromString(id), value: fromString('v'), point }, deadline))
}

async function remove (ring: FakeRing): Promise<void> {
  await ring.run(ring.any.delete({ collection: 'places', key: fromString('bus') }, deadline))
}

function rowAt (ring: FakeRing, key: Key): Uint8Array | undefined {
  const { node } = ring.owners.find(({ interval }) => holdsKey(interval, key))!
  return ring.nodes[node]!.store.getSync(key)
}

/** Lies a live entry there? A find of the world would hide one that is older than another. */
function isAt (ring: FakeRing, point: Point): boolean {
  const row = rowAt(ring, placeOf(point))
  return row !== undefined && isLive(row)
}

/** As one who holds the row and does not own it. */
async function offer (ring: FakeRing, key: Key, value: Uint8Array): Promise<number> {
  const owner = ring.nodes[ring.ownerOf({ key, below: false }).node]!
  const { accepted } = await ring.run(ring.nodes[0]!.host.call(owner.member.contact, offerMethod, { rows: [{ key, value }] }, deadline))
  return accepted
}

async function found (ring: FakeRing): Promise<Array<[string, Point]>> {
  const answer = await ring.run(ring.any.find(world, deadline))
  assert.equal(answer.complete, true)
  return answer.records.map(({ key, point }): [string, Point] => [toString(key), point!])
}

describe('an entry at a place that is offered', () => {
  it('does not bring back an object that was deleted, though its mark is swept', async () => {
    const ring = new FakeRing({ boundaries: quarters })
    await put(ring, west)
    const old = rowAt(ring, placeOf(west))!
    await remove(ring)
    await ring.pass(sweptMs)
    assert.equal(rowAt(ring, placeOf(west)), undefined)
    assert.equal(await offer(ring, placeOf(west), old), 1)
    assert.deepEqual(await found(ring), [])
  })

  it('does not bring an object back to where it was before', async () => {
    const ring = new FakeRing({ boundaries: quarters })
    await put(ring, west)
    const old = rowAt(ring, placeOf(west))!
    await put(ring, east)
    await ring.pass(sweptMs)
    await offer(ring, placeOf(west), old)
    assert.deepEqual(await found(ring), [['bus', east]])
    assert.equal(isAt(ring, west), false)
  })

  it('of an id that nobody knows is dropped by who holds it', async () => {
    const other = new FakeRing()
    await put(other, west)
    const ring = new FakeRing({ boundaries: quarters, init: { strayCheckMs: 1000 } })
    const stray = ring.nodes.find((_, node) => node !== ring.ownerOf({ key: placeOf(west), below: false }).node)!
    await ring.run(stray.store.batch([{ type: 'put', key: placeOf(west), value: rowAt(other, placeOf(west))! }]))
    await ring.pass(5000)
    assert.deepEqual(await found(ring), [])
    assert.equal(stray.store.getSync(placeOf(west)), undefined)
  })

  it('is restored, as the object is now, where the place has lost it', async () => {
    const ring = new FakeRing({ boundaries: quarters })
    await put(ring, west)
    const old = rowAt(ring, placeOf(west))!
    await put(ring, west)
    const { node } = ring.ownerOf({ key: placeOf(west), below: false })
    const current = rowAt(ring, placeOf(west))!
    await ring.run(ring.nodes[node]!.store.batch([{ type: 'delete', key: placeOf(west) }]))
    assert.deepEqual(await found(ring), [])
    await offer(ring, placeOf(west), old)
    assert.deepEqual(rowAt(ring, placeOf(west)), current)
  })

  it('stays with who offers it while its id record cannot be asked', async () => {
    const ring = new FakeRing({ boundaries: quarters })
    const names = Array.from({ length: 20 }, (_, i) => `id ${i}`)
    const id = names.find(name => ring.ownerOf({ key: idKeyOf(name), below: false }).node !== ring.ownerOf({ key: placeOf(west), below: false }).node)!
    await put(ring, west, id)
    const old = rowAt(ring, placeOf(west, id))!
    const { node } = ring.ownerOf({ key: placeOf(west, id), below: false })
    await ring.run(ring.nodes[node]!.store.batch([{ type: 'delete', key: placeOf(west, id) }]))
    ring.silent.add(ring.ownerOf({ key: idKeyOf(id), below: false }).node)
    await assert.rejects(offer(ring, placeOf(west, id), old), { remoteName: 'OwnerUnreachableError' })
  })
})

describe('an id record that is offered', () => {
  it('brings its entry to its place', async () => {
    const other = new FakeRing()
    await put(other, west)
    await other.pass(1000)
    const ring = new FakeRing({ boundaries: quarters })
    await offer(ring, idKeyOf(), rowAt(other, idKeyOf())!)
    await ring.pass(1000)
    assert.deepEqual(await found(ring), [['bus', west]])
  })

  it('that loses is taken from its place, though the one that stands was just carried out', async () => {
    const other = new FakeRing()
    await put(other, west)
    const ring = new FakeRing({ boundaries: quarters })
    const { node } = ring.ownerOf({ key: placeOf(west), below: false })
    await ring.run(ring.nodes[node]!.store.batch([{ type: 'put', key: placeOf(west), value: rowAt(other, placeOf(west))! }]))
    await ring.pass(1000)
    await put(ring, east)
    await offer(ring, idKeyOf(), rowAt(other, idKeyOf())!)
    await ring.pass(2000)
    assert.deepEqual(await found(ring), [['bus', east]])
    assert.equal(isAt(ring, west), false)
  })

  it('that loses is taken from its place, whenever it meets the updates of the one that stands', async () => {
    const other = new FakeRing()
    await put(other, west)
    for (let delayMs = 0; delayMs < 30; delayMs += 2) {
      const ring = new FakeRing({ boundaries: quarters })
      const { node } = ring.ownerOf({ key: placeOf(west), below: false })
      await ring.run(ring.nodes[node]!.store.batch([{ type: 'put', key: placeOf(west), value: rowAt(other, placeOf(west))! }]))
      await ring.pass(1000)
      const { host, storage } = ring.nodes[0]!
      const update = async (point: Point): Promise<unknown> => await storage.put({ collection: 'places', key: fromString('bus'), value: fromString('v'), point }, deadline)
      const offered = async (): Promise<void> => {
        await host.sleep(delayMs)
        const owner = ring.nodes[ring.ownerOf({ key: idKeyOf(), below: false }).node]!
        await host.call(owner.member.contact, offerMethod, { rows: [{ key: idKeyOf(), value: rowAt(other, idKeyOf())! }] }, deadline)
      }
      await ring.run(Promise.all([update(east), update([91, 45]), update([92, 45]), offered()]))
      await ring.pass(2000)
      assert.equal(isAt(ring, west), false, `offered after ${delayMs} ms`)
      assert.deepEqual((await found(ring)).length, 1)
    }
  })
})
