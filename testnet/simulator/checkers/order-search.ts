// The search for an order of one key's operations: Wing and Gong's ("Testing and verifying concurrent objects", JPDC 1993, section
// 3) with the memo of Lowe ("Testing for linearizability", 2017, section 3). Of what may come first, one is placed, then one of what
// may come next, and so on; a dead end takes the last one back. What was placed, with the state after it, is tried once.
//
// Two indefinite writes that nobody ever saw are alike, so of these only the earliest that is left is tried: an order that uses
// a later one instead is still an order with the two exchanged. Without this, each of them would double the search.

import { textOf, type Operation } from './history.ts'

/** An invocation or a return, in a list by time from which placed operations are taken out. */
interface Moment {
  readonly at: number
  readonly index: number
  /** The return of an invocation; undefined where it has none, and for returns. */
  readonly end: Moment | undefined
  readonly isReturn: boolean
  previous: Moment | undefined
  next: Moment | undefined
}

type State = string | undefined

const impossible = Symbol('this operation cannot come next')
/** Stands for each value that nobody ever saw. */
const unseenValue = '?'

export class OrderSearch {
  /** By invocation. */
  readonly #operations: readonly Operation[]
  readonly #head: Moment = { at: -Infinity, index: -1, end: undefined, isReturn: false, previous: undefined, next: undefined }
  /** Indefinite, and nobody ever saw what it wrote. */
  readonly #isUnseen: readonly boolean[]
  /** A bit for each operation. */
  readonly #placed: Uint32Array
  readonly #path: Array<{ readonly call: Moment, readonly before: State }> = []
  readonly #tried = new Set<string>()
  #returnsLeft = 0

  /** @param operations - those of one key that took effect or may have */
  constructor (operations: readonly Operation[]) {
    this.#operations = [...operations].sort((a, b) => a.invoked - b.invoked)
    this.#placed = new Uint32Array(Math.ceil(operations.length / 32))
    const seen = new Set(operations.filter(({ kind }) => kind === 'get').map(({ value }) => value))
    this.#isUnseen = this.#operations.map(({ kind, value, outcome }) => outcome === 'indefinite' && (kind === 'delete' || !seen.has(value)))
    this.#link()
  }

  /** Why there is no order; undefined where there is one. */
  run (statesMax: number): string | undefined {
    let state: State
    let moment = this.#head.next
    let deepest = { length: -1, text: '' }
    while (this.#returnsLeft > 0) {
      if (moment === undefined || moment.isReturn) {
        if (this.#path.length > deepest.length) deepest = { length: this.#path.length, text: this.#stuckAt(moment, state) }
        if (this.#tried.size > statesMax) return `no order was found in ${statesMax} states of the search; the longest one cannot explain ${deepest.text}`
        const last = this.#path.pop()
        if (last === undefined) return `no order explains ${deepest.text}`
        this.#takeBack(last.call)
        state = last.before
        moment = last.call.next
        continue
      }
      const after = this.#stateAfter(moment, state)
      if (after !== impossible && this.#place(moment, after)) {
        this.#path.push({ call: moment, before: state })
        state = after
        moment = this.#head.next
      } else {
        moment = moment.next
      }
    }
    return undefined
  }

  /** At one moment invocations come before returns: such operations overlap. */
  #link (): void {
    const moments = this.#operations.flatMap(({ invoked, returned, outcome }, index): Moment[] => {
      const place = { index, previous: undefined, next: undefined }
      const end: Moment | undefined = outcome === 'indefinite' ? undefined : { at: returned, end: undefined, isReturn: true, ...place }
      const call: Moment = { at: invoked, end, isReturn: false, ...place }
      return end === undefined ? [call] : [call, end]
    })
    moments.sort((a, b) => a.at - b.at || Number(a.isReturn) - Number(b.isReturn))
    let last = this.#head
    for (const moment of moments) {
      moment.previous = last
      last.next = moment
      last = moment
      if (moment.isReturn) this.#returnsLeft++
    }
  }

  #stateAfter ({ index }: Moment, state: State): State | typeof impossible {
    const { kind, value, had, outcome } = this.#operations[index]!
    if (kind === 'get') return value === state ? state : impossible
    if (outcome === 'ok' && had !== undefined && had !== (state !== undefined)) return impossible
    if (this.#isUnseen[index] === true && this.#isBehindAlike(index, kind)) return impossible
    if (kind === 'delete') return undefined
    return this.#isUnseen[index] === true ? unseenValue : value
  }

  #isBehindAlike (index: number, kind: Operation['kind']): boolean {
    for (let earlier = 0; earlier < index; earlier++) {
      if (this.#isUnseen[earlier] === true && this.#operations[earlier]!.kind === kind && !this.#isPlaced(earlier)) return true
    }
    return false
  }

  /** False where this was tried before, with the same state after it: then nothing changes. */
  #place (call: Moment, after: State): boolean {
    this.#flip(call.index)
    const name = this.#nameOf(after)
    if (this.#tried.has(name)) {
      this.#flip(call.index)
      return false
    }
    this.#tried.add(name)
    unlink(call)
    if (call.end !== undefined) {
      unlink(call.end)
      this.#returnsLeft--
    }
    return true
  }

  #takeBack (call: Moment): void {
    if (call.end !== undefined) {
      relink(call.end)
      this.#returnsLeft++
    }
    relink(call)
    this.#flip(call.index)
  }

  /** What is placed, without the full words at the start and the empty ones at the end, and the state. */
  #nameOf (state: State): string {
    const words = this.#placed
    let from = 0
    while (words[from] === 0xffffffff) from++
    let to = words.length
    while (to > from && words[to - 1] === 0) to--
    return `${from}:${words.subarray(from, to).join()}:${state ?? ''}`
  }

  #isPlaced (index: number): boolean {
    return (this.#placed[index >>> 5]! & (1 << (index & 31))) !== 0
  }

  #flip (index: number): void {
    this.#placed[index >>> 5]! ^= 1 << (index & 31)
  }

  #stuckAt (moment: Moment | undefined, state: State): string {
    const operation = moment === undefined ? 'what is left' : textOf(this.#operations[moment.index]!)
    return `${operation}, with ${state === undefined ? 'nothing' : state === unseenValue ? 'something' : state} there before it`
  }
}

function unlink (moment: Moment): void {
  moment.previous!.next = moment.next
  if (moment.next !== undefined) moment.next.previous = moment.previous
}

function relink (moment: Moment): void {
  moment.previous!.next = moment
  if (moment.next !== undefined) moment.next.previous = moment
}
