// A gate is closed while a part of the key line changes hands: requests for it wait here, so they are delayed by one
// change and never failed. It opens once, for all. Bounded: beyond its places a request is told `busy`.

import { BusyError } from './errors.ts'

export class Gate {
  readonly #places: number
  #waiting: Array<() => void> = []
  #open = false

  constructor (placesMax: number) {
    this.#places = placesMax
  }

  get isOpen (): boolean {
    return this.#open
  }

  /** @throws BusyError when all places are taken */
  wait (): Promise<void> {
    if (this.#open) return Promise.resolve()
    if (this.#waiting.length >= this.#places) return Promise.reject(new BusyError(`more than ${this.#places} requests wait for this key while it changes hands; try again`))
    return new Promise(resolve => { this.#waiting.push(resolve) })
  }

  open (): void {
    this.#open = true
    const waiting = this.#waiting
    this.#waiting = []
    for (const go of waiting) go()
  }
}
