// A small disk of its own for a test: a tmpfs, where this machine lets us mount one (Linux, as root). Elsewhere the tests
// that need it are not registered, which one line says.

import { spawnSync } from 'node:child_process'
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, rmdirSync, statfsSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const chunkBytes = 1 << 16

export class MountedDisk {
  readonly path: string

  /** @throws Error where it cannot be mounted */
  constructor (mebibytes: number) {
    this.path = mkdtempSync(join(tmpdir(), 'isobar-disk-'))
    const { status, stderr, error } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'isobar-test', this.path], { encoding: 'utf8' })
    if (status === 0) return
    rmdirSync(this.path)
    throw error ?? new Error(stderr.trim())
  }

  get freeBytes (): number {
    const { bavail, bsize } = statfsSync(this.path)
    return bavail * bsize
  }

  /** As another program would, until so many bytes are free or nothing more can be written. */
  fill (leaveBytes: number): void {
    const file = openSync(join(this.path, 'ballast'), 'w')
    try {
      const chunk = Buffer.alloc(chunkBytes, 1)
      for (let bytes = 0; this.freeBytes > leaveBytes; bytes += chunkBytes) writeSync(file, chunk, 0, chunkBytes, bytes)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    } finally {
      closeSync(file)
    }
  }

  empty (): void {
    const file = openSync(join(this.path, 'ballast'), 'w')
    ftruncateSync(file)
    closeSync(file)
  }

  /** Nothing may have it open any more. */
  unmount (): void {
    const { status, stderr } = spawnSync('umount', [this.path], { encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
    rmSync(this.path, { recursive: true })
  }
}

/** Why no disk can be mounted here; undefined where one can. */
export function whyNoMount (): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'it takes Linux and root'
  try {
    new MountedDisk(1).unmount()
  } catch (error) {
    return (error as Error).message
  }
}
