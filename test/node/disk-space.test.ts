// How much of a disk is kept free, and how often it is looked at.

import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { DiskSpace, bytesText, isFull, spaceOf, type Space } from '../../node/disk-space.ts'

describe('the space of a disk', () => {
  it('is full below what is kept free: 64 MiB, or an eighth of a small disk', async () => {
    const space = await spaceOf(tmpdir())
    assert.equal(space.reservedBytes, Math.min(64 << 20, Math.floor(space.totalBytes / 8)))
    assert(space.freeBytes >= 0 && space.freeBytes <= space.totalBytes)
    const small: Space = { freeBytes: 12_500_000, totalBytes: 100_000_000, reservedBytes: 12_500_000 }
    assert.deepEqual([isFull(small), isFull({ ...small, freeBytes: 12_499_999 })], [false, true])
  })

  it('is looked at again after half a second, or when a quarter of what was left may be gone, or when asked', async () => {
    let looks = 0
    let now = 1_000
    const space = new DiskSpace('/', { now: () => now, look: async () => ({ freeBytes: 5_000 - looks++, totalBytes: 10_000, reservedBytes: 1_000 }) })
    assert.equal((await space.now()).freeBytes, 5_000)
    now += 499
    space.wrote(999)
    assert.equal((await space.now()).freeBytes, 5_000)
    space.wrote(1)
    assert.equal((await space.now()).freeBytes, 4_999)
    now += 500
    assert.equal((await space.now()).freeBytes, 4_998)
    assert.equal((await space.look()).freeBytes, 4_997)
    assert.equal((await space.now()).freeBytes, 4_997)
  })

  it('is looked at each time while it is full', async () => {
    let looks = 0
    const space = new DiskSpace('/', { now: () => 0, look: async () => ({ freeBytes: looks++, totalBytes: 10_000, reservedBytes: 1_000 }) })
    await space.now()
    await space.now()
    assert.equal(looks, 2)
  })

  it('is written as disks are sold', () => {
    const texts = [0, 999, 1_000, 2_990_080, 20_971_520, 999_949_999_999, 1e12, 7e15].map(bytesText)
    assert.deepEqual(texts, ['0 bytes', '999 bytes', '1.0 kB', '3.0 MB', '21 MB', '1000 GB', '1.0 TB', '7000 TB'])
  })
})
