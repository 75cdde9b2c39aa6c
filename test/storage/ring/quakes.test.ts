// A week of real earthquakes on eight simulated peers. The figures were counted over the file apart from this code
// (boxes by plain comparison of coordinates, words by splitting the place's text), and are asked of every peer.

import assert from 'node:assert/strict'
import { fromString } from 'uint8arrays/from-string'
import type { Extent } from '../../../overlay/space/extent.ts'
import { quakes } from '../../../testnet/data/quakes.ts'
import { box, deadline, find, names, Ring, world } from './ring.ts'

const truths: Array<[Extent, string[], number]> = [
  [box(165, 50, -165, 60), [], 8],
  [box(165, 50, -165, 60), ['Alaska'], 8],
  [box(160, -40, -160, 60), [], 26],
  [box(170, -30, -170, -10), ['fiji'], 3],
  [box(-125, 32, -114, 42), [], 1014],
  [box(-125, 32, -114, 42), ['aguanga'], 122],
  [box(-125, 32, -114, 42), ['geysers'], 88],
  [world, [], 1707]
]

describe('a week of earthquakes on eight peers', () => {
  it('gives the counts of the file from every peer, as pages and as counts, also when more have joined', async () => {
    const ring = await Ring.joined(8, { seed: 1 })
    const rows: Array<{ key: string, point: readonly [number, number], text: string }> = []
    for await (const { key, point, text } of quakes()) rows.push({ key, point: point as [number, number], text: text ?? '' })
    assert.equal(rows.length, 1707)
    await ring.load(rows, async ({ key, point, text }) => { await ring.putObject(key, point, text) })

    const askAll = async (): Promise<void> => {
      for (const { name, node } of ring.nodes) {
        for (const [extent, words, count] of truths) {
          const counted = await ring.settle(node.storage.count(find(extent, { words }), deadline))
          assert.deepEqual([counted.complete, counted.count], [true, count], `${name} ${JSON.stringify({ extent, words })}`)
        }
      }
    }
    await askAll()
    const aleutians = await ring.settle(ring.asker().node.storage.find(find(box(165, 50, -165, 60)), deadline))
    const longitudes = aleutians.records.map(({ point }) => point![0])
    assert.deepEqual([longitudes.filter(x => x > 0).length, longitudes.filter(x => x < 0).length], [1, 7], 'on both sides of the antimeridian')
    const everywhere = names(await ring.settle(ring.asker().node.storage.find(find(world), deadline)))
    assert.deepEqual(everywhere.sort(), rows.map(({ key }) => key).sort())

    for (let index = 0; index < 4; index++) await ring.settle(ring.cluster.join(`j${index}`, { bootstrap: ['n0'] }))
    await askAll()
    const one = rows[0]!
    const { record } = await ring.settle(ring.asker().node.storage.get({ collection: 'places', key: fromString(one.key) }, deadline))
    assert.deepEqual([record?.point, record?.text], [one.point, one.text])
  })
})
