// Who reads a LevelDB database at the moment: snapshots and the cursors over them. LevelDB ends them all when it is
// closed, so whoever closes it waits for them first, for a bounded time.

export class LevelReaders {
  readonly #readers = new Set<object>()
  readonly #waiting = new Set<() => void>()

  enter (reader: object): void {
    this.#readers.add(reader)
  }

  leave (reader: object): void {
    this.#readers.delete(reader)
    if (this.#readers.size === 0) for (const resolve of this.#waiting) resolve()
  }

  has (reader: object): boolean {
    return this.#readers.has(reader)
  }

  /** Resolves when nobody reads, or after msMax. */
  async gone (msMax: number): Promise<void> {
    if (this.#readers.size === 0) return
    await new Promise<void>(resolve => {
      const end = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(end)
        resolve()
      }
      const timer = setTimeout(end, msMax)
      this.#waiting.add(end)
    })
  }
}
