// What the writes of one key say of its state during a span of time, as far as that is sure without searching for an order.

import type { Operation } from './history.ts'

export interface Span { readonly invoked: number, readonly returned: number }

interface Put {
  readonly operation: Operation
  /** Its value is surely gone from here on: another write that was acknowledged began after this one took effect, and ended. */
  goneAt: number
}

export class KeyHistory {
  readonly #puts = new Map<string, Put>()
  readonly #deletes: Operation[] = []
  /** When a value was first read: its put has taken effect by then, even if nobody told its writer. */
  readonly #seenAt = new Map<string, number>()
  readonly #failed = new Set<string>()
  #isWorkedOut = false

  add (operation: Operation): void {
    const { kind, outcome, value, had, returned } = operation
    if (kind === 'get') {
      if (outcome === 'ok' && value !== undefined) this.seen(value, returned)
    } else if (outcome === 'failed') {
      if (value !== undefined) this.#failed.add(value)
    } else if (kind === 'put') {
      this.#puts.set(value!, { operation, goneAt: Infinity })
    } else if (outcome === 'indefinite' || had !== false) {
      this.#deletes.push(operation) // one that found nothing changed nothing
    }
  }

  seen (value: string, at: number): void {
    this.#seenAt.set(value, Math.min(at, this.#seenAt.get(value) ?? Infinity))
  }

  /** Why the record cannot have had this value at any time of span; undefined where it can. */
  whyNot (value: string, span: Span): string | undefined {
    if (this.#failed.has(value)) return 'that put had failed for sure'
    const put = this.#allPuts().get(value)
    if (put === undefined) return 'nobody wrote that'
    if (put.operation.invoked > span.returned) return 'that was written later'
    return put.goneAt < span.invoked ? 'that was over before' : undefined
  }

  /** The values that it may have had at some time of span. */
  possible ({ invoked, returned }: Span): string[] {
    const values: string[] = []
    for (const [value, { operation, goneAt }] of this.#allPuts()) if (operation.invoked < returned && goneAt >= invoked) values.push(value)
    return values
  }

  /** Put once only, by the end of span. */
  isSettled ({ returned }: Span): boolean {
    let count = 0
    for (const { operation } of this.#puts.values()) if (operation.invoked < returned) count++
    return count === 1
  }

  /** Surely there at each moment of span: put before it, and no delete can have come between. */
  isThereThroughout ({ invoked, returned }: Span): boolean {
    const deletedUntil = Math.max(...this.#deletes.filter(each => each.invoked < returned).map(each => each.returned))
    for (const { operation } of this.#puts.values()) if (operation.returned < invoked && operation.invoked > deletedUntil) return true
    return false
  }

  /** With goneAt: the earliest end of all writes that began after the put had taken effect. */
  #allPuts (): ReadonlyMap<string, Put> {
    if (this.#isWorkedOut) return this.#puts
    this.#isWorkedOut = true
    const writes = [...[...this.#puts.values()].map(({ operation }) => operation), ...this.#deletes].sort((a, b) => a.invoked - b.invoked)
    const earliestEnds: number[] = []
    for (let index = writes.length - 1, earliest = Infinity; index >= 0; index--) earliestEnds[index] = earliest = Math.min(earliest, writes[index]!.returned)
    for (const [value, put] of this.#puts) {
      const effectBy = Math.min(put.operation.returned, this.#seenAt.get(value) ?? Infinity)
      put.goneAt = earliestEnds[firstAfter(writes, effectBy)] ?? Infinity
    }
    return this.#puts
  }
}

/** The index of the first of writes, which are in order of their invocations, that was invoked after moment. */
function firstAfter (writes: readonly Operation[], moment: number): number {
  let [low, high] = [0, writes.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (writes[middle]!.invoked > moment) high = middle
    else low = middle + 1
  }
  return low
}
