// Work of which one piece runs at a time, in the order of asking.

export class OneAtATime {
  #last: Promise<void> = Promise.resolve()

  /** Resolves when it is the caller's turn, which lasts until release. */
  async turn (): Promise<{ release: () => void }> {
    const before = this.#last
    const mine = Promise.withResolvers<void>()
    this.#last = mine.promise
    await before
    return { release: () => { mine.resolve() } }
  }
}
