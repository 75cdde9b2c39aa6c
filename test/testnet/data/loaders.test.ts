// The loaders against figures counted over the raw files, by plain comparisons here and not by isobar's space or word rule.
// Longitudes of a box that crosses the antimeridian run from west up to 180 and from -180 up to east.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { airports } from '../../../testnet/data/airports.ts'
import { cities } from '../../../testnet/data/cities.ts'
import { quakes } from '../../../testnet/data/quakes.ts'
import { requirePackage } from '../../../testnet/data/source.ts'
import { words } from '../../../testnet/data/words.ts'
import { queryWords, matches, wordsOf } from '../../../storage/words.ts'
import type { LocatedRow } from '../../../testnet/data/row.ts'

type Box = [west: number, south: number, east: number, north: number]

async function all<Row> (rows: AsyncIterable<Row>): Promise<Row[]> {
  const list: Row[] = []
  for await (const row of rows) list.push(row)
  return list
}

function inside ({ point: [longitude, latitude] }: LocatedRow, [west, south, east, north]: Box): boolean {
  if (latitude < south || latitude > north) return false
  return west <= east ? longitude >= west && longitude <= east : longitude >= west || longitude <= east
}

function assertLocated (rows: LocatedRow[], count: number) {
  assert.equal(rows.length, count)
  assert.equal(new Set(rows.map(row => row.key)).size, count, 'keys are distinct')
  for (const { key, point, text } of rows) {
    assert(key.length > 0 && text.trim().length > 0, key)
    assert(point.length === 2 && Math.abs(point[0]) <= 180 && Math.abs(point[1]) <= 90, key)
  }
}

describe('earthquakes', () => {
  let rows: LocatedRow[]
  before(async () => { rows = await all(quakes()) })

  const within = (box: Box) => rows.filter(row => inside(row, box))
  const saying = (word: string) => (row: LocatedRow) => row.text.toLowerCase().split(/[^a-z]+/).includes(word)

  it('are 1,707 places with distinct USGS ids', () => assertLocated(rows, 1707))

  it('keep magnitude, depth and time of an event that is known otherwise', () => {
    // The Hualien earthquake of 2018-02-06, 15:50:42 UTC.
    const hualien = rows.find(row => row.key === 'us1000chhc')
    assert(hualien !== undefined)
    assert.deepEqual(hualien.point, [121.653, 24.1737])
    assert.equal(hualien.text, '22km NNE of Hualian, Taiwan')
    const { mag, depth, time } = hualien.value as Record<string, number>
    assert.deepEqual({ mag, depth, time }, { mag: 6.4, depth: 10.64, time: Date.UTC(2018, 1, 6, 15, 50, 42, 400) })
  })

  it('lie on both sides of the antimeridian', () => {
    const aleutians = within([165, 50, -165, 60])
    assert.equal(aleutians.length, 8)
    assert.equal(aleutians.filter(saying('alaska')).length, 8)
    assert.equal(aleutians.filter(row => row.point[0] > 0).length, 1)
    assert.equal(within([160, -40, -160, 60]).length, 26)
    assert.equal(within([170, -30, -170, -10]).filter(saying('fiji')).length, 3)
  })

  it('crowd in California', () => {
    const california = within([-125, 32, -114, 42])
    assert.equal(california.length, 1014)
    assert.equal(california.filter(saying('aguanga')).length, 122)
    assert.equal(california.filter(saying('geysers')).length, 88)
    assert.equal(within([-180, -90, 180, 90]).length, 1707)
  })

  it('have by the word rule the words that plain splitting finds', () => {
    for (const word of ['aguanga', 'geysers', 'alaska', 'fiji']) {
      const asked = queryWords([word.toUpperCase()], 'words')
      assert.deepEqual(rows.filter(row => matches(wordsOf(row.text), asked, 'all')), rows.filter(saying(word)))
    }
  })

  it('are read from the file that SOURCES.md names by its hash', async () => {
    const folder = new URL('../../../testnet/data/', import.meta.url)
    const hash = createHash('sha256').update(await readFile(new URL('earthquakes.json', folder))).digest('hex')
    assert((await readFile(new URL('SOURCES.md', folder), 'utf8')).includes(hash))
  })
})

describe('cities', () => {
  let rows: LocatedRow[]
  before(async () => { rows = await all(cities()) })

  it('are 135,233 places with distinct GeoNames ids', () => assertLocated(rows, 135233))

  it('lie on both sides of the antimeridian', () => {
    const fiji = rows.filter(row => (row.value as { country: string }).country === 'FJ')
    assert.equal(fiji.length, 8)
    assert.deepEqual(fiji.filter(row => row.point[0] < 0).map(row => row.text), ['Tubou, FJ'])
    const around = rows.filter(row => inside(row, [176, -20, -170, -12]))
    assert.equal(around.length, 48)
    assert.equal(around.filter(row => row.point[0] > 0).length, 7)
  })
})

describe('airports', () => {
  it('are 7,184 places, one of them the South Pole', async () => {
    const rows = await all(airports())
    assertLocated(rows, 7184)
    const polar = rows.filter(row => row.point[1] <= -89)
    assert.deepEqual(polar.map(row => row.point), [[0, -90]])
    assert(polar[0]?.text.startsWith('South Pole Station Airport'))
  })
})

describe('words', () => {
  it('are 274,937 keys in ascending order, each with its place', async () => {
    const rows = await all(words())
    assert.equal(rows.length, 274937)
    for (const [index, row] of rows.entries()) {
      assert(index === 0 || (rows[index - 1]?.key as string) < row.key, row.key)
      assert.equal(row.value, index)
    }
    const beginning = (letter: string) => rows.filter(row => row.key.startsWith(letter)).length
    assert.deepEqual([beginning('s'), beginning('x')], [31208, 306])
  })
})

describe('data that is missing', () => {
  const oneLine = (includes: RegExp) => (error: Error) => {
    assert.equal(error.name, 'DataError')
    assert(!error.message.includes('\n'))
    assert.match(error.message, includes)
    return true
  }

  it('is told in one line, with the command that brings the package', () => {
    assert.throws(() => requirePackage('isobar-has-no-such-set', '1.2.3'), oneLine(/not installed: run npm install --no-save isobar-has-no-such-set@1\.2\.3$/))
  })

  it('is told in one line, with the place where the file was looked for', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'isobar-data-'))
    try {
      await assert.rejects(all(quakes({ folder })), oneLine(/earthquakes\.json not found .* restore it/))
      await writeFile(join(folder, 'earthquakes.json'), '{"features"')
      await assert.rejects(all(quakes({ folder })), oneLine(/is not JSON: restore it/))
      await writeFile(join(folder, 'earthquakes.json'), 'null')
      await assert.rejects(all(quakes({ folder })), oneLine(/no GeoJSON features/))
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('is not waited for after the caller has given up', async () => {
    const signal = AbortSignal.abort(new Error('stopped'))
    await assert.rejects(all(quakes({ signal })), /stopped/)
    await assert.rejects(all(words({ signal })), /stopped/)
  })
})
