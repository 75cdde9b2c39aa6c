// How much room the disk of a directory has, and how much of that is kept free. A store that writes until nothing is left
// stands in the middle of something then, with no room to clear up; so it stops while there is some. What the file system
// does not tell by free blocks, a quota or a disk that others fill in the meantime, is met by level-store.ts.

import { statfs } from 'node:fs/promises'

/** Kept free on a large disk. Guess: LevelDB may have twice 16 MiB unwritten, and needs as much again to put it in order. */
const reservedBytesMax = 64 << 20
/** On a small one: this part of it. A guess. */
const reservedPart = 1 / 8
/** A look is good for that time, */
const lookMs = 500
/** and for that part of what was free beyond the reserve. Guesses. */
const lookPart = 1 / 4

export interface Space {
  /** Free for this user. */
  readonly freeBytes: number
  readonly totalBytes: number
  /** No write is taken that would begin with less free. */
  readonly reservedBytes: number
}

export function isFull ({ freeBytes, reservedBytes }: Space): boolean {
  return freeBytes < reservedBytes
}

/** `3.2 GB`, in powers of 1000 as disks are sold. */
export function bytesText (bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const power = bytes < 1_000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1)
  const value = bytes / 1_000 ** power
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${units[power] ?? ''}`
}

/** @throws what node:fs throws */
export async function spaceOf (directory: string): Promise<Space> {
  const { bavail, blocks, bsize } = await statfs(directory)
  const totalBytes = blocks * bsize
  return { freeBytes: bavail * bsize, totalBytes, reservedBytes: Math.min(reservedBytesMax, Math.floor(totalBytes * reservedPart)) }
}

export interface DiskSpaceInit {
  readonly look?: (directory: string) => Promise<Space>
  /** Milliseconds that never go back. */
  readonly now?: () => number
}

/** The space of one directory, not looked at more often than needed. */
export class DiskSpace {
  readonly #directory: string
  readonly #look: (directory: string) => Promise<Space>
  readonly #now: () => number
  #last: { readonly space: Space, readonly untilMs: number } | undefined
  #bytesLeft = 0

  constructor (directory: string, init: DiskSpaceInit = {}) {
    this.#directory = directory
    this.#look = init.look ?? spaceOf
    this.#now = init.now ?? (() => performance.now())
  }

  /** The last look where it is still good, else a new one. */
  async now (): Promise<Space> {
    const last = this.#last
    return last !== undefined && this.#bytesLeft > 0 && this.#now() < last.untilMs ? last.space : await this.look()
  }

  /** Look anew. */
  async look (): Promise<Space> {
    const space = await this.#look(this.#directory)
    this.#last = { space, untilMs: this.#now() + lookMs }
    this.#bytesLeft = (space.freeBytes - space.reservedBytes) * lookPart
    return space
  }

  /** So many bytes were written since. */
  wrote (bytes: number): void {
    this.#bytesLeft -= bytes
  }
}
