// A client: asks a random node that serves, thinks, and asks again. What it did and what it was told goes into the history.
// Each value that it writes is written once in the whole run, so a read tells which write it saw.

import { fromString } from 'uint8arrays/from-string'
import type { History } from '../checkers/history.ts'
import type { SimNode } from '../cluster.ts'
import { exponential, integer, pick } from '../draw.ts'
import { Random } from '../random.ts'
import { anyNode, ask, type AskComponents } from './asking.ts'
import { recordText, rowText } from './row-text.ts'
import { findAll, rangeAll } from './scanning.ts'
import { drawPlace, ordered, spatial, type Deed, type Workload } from './workload.ts'

export interface ClientComponents extends AskComponents {
  readonly history: History
  readonly workload: Workload
}

export interface ClientInit {
  readonly seed: number
  readonly name: string
  readonly thinkMs: number
}

type One = Extract<Deed, { key: string }>

const deadlinesMs = [1000, 3000, 10_000]
/** Of one solo write with one request id. */
const triesMax = 5
const noNodePauseMs = 250

export class Client {
  readonly #components: ClientComponents
  readonly #init: ClientInit
  readonly #random: Random
  #values = 0

  constructor (components: ClientComponents, init: ClientInit) {
    this.#components = components
    this.#init = init
    this.#random = new Random(init.seed, init.name)
  }

  /** Resolves when it is untilMs of virtual time and nothing is asked any more. */
  async run (untilMs: number): Promise<void> {
    const { cluster, workload } = this.#components
    for (;;) {
      await this.pause(exponential(this.#random, this.#init.thinkMs))
      if (cluster.world.now() >= untilMs) return
      await this.do(workload.next(this.#random))
    }
  }

  /** One deed through any node; waits a little where there is none. @returns whether it was answered */
  async do (deed: Deed): Promise<boolean> {
    const node = anyNode(this.#components.cluster, this.#random)
    if (node === undefined) {
      await this.pause(noNodePauseMs)
      return false
    }
    switch (deed.kind) {
      case 'put': return await this.#put(node, deed)
      case 'delete': return await this.#delete(node, deed)
      case 'get': return await this.#get(node, deed)
      case 'burst': return (await Promise.all(deed.deeds.map(async one => one.kind === 'put' ? await this.#put(node, one) : await this.#get(node, one)))).every(ok => ok)
      case 'solo put': return await this.#putSolo()
      case 'solo delete': return await this.#deleteSolo(node)
      case 'range': return await rangeAll(this.#components, this.#label(node), node, deed, this.#deadlineMs())
      case 'find': return await findAll(this.#components, this.#label(node), node, deed, this.#deadlineMs())
    }
  }

  async #put (node: SimNode, { collection, key }: One): Promise<boolean> {
    const text = this.#newValue()
    const place = collection === spatial ? drawPlace(this.#random) : undefined
    const value = rowText(text, place)
    const end = this.#components.history.operation({ key: `${collection}/${key}`, kind: 'put', value, had: undefined, label: this.#label(node) })
    const request = { collection, key: fromString(key), value: fromString(text), ...(place !== undefined && { point: place.point, text: place.word }) }
    const asked = await ask(this.#components, node, this.#deadlineMs(), async (storage, deadlineMs) => await storage.put(request, { deadlineMs }))
    end(asked.outcome === 'ok' ? { outcome: 'ok', had: !asked.answer.created } : asked)
    return asked.outcome === 'ok'
  }

  async #delete (node: SimNode, { collection, key }: One): Promise<boolean> {
    const end = this.#components.history.operation({ key: `${collection}/${key}`, kind: 'delete', value: undefined, had: undefined, label: this.#label(node) })
    const asked = await ask(this.#components, node, this.#deadlineMs(), async (storage, deadlineMs) => await storage.delete({ collection, key: fromString(key) }, { deadlineMs }))
    end(asked.outcome === 'ok' ? { outcome: 'ok', had: asked.answer.deleted } : asked)
    return asked.outcome === 'ok'
  }

  async #get (node: SimNode, { collection, key }: One): Promise<boolean> {
    const end = this.#components.history.operation({ key: `${collection}/${key}`, kind: 'get', value: undefined, had: undefined, label: this.#label(node) })
    const asked = await ask(this.#components, node, this.#deadlineMs(), async (storage, deadlineMs) => await storage.get({ collection, key: fromString(key) }, { deadlineMs }))
    // an answer that says that it is not complete promises nothing
    const isPromised = asked.outcome === 'ok' && (asked.answer as { complete?: boolean }).complete !== false
    end(isPromised ? { outcome: 'ok', value: asked.answer.record && recordText(asked.answer.record) } : { outcome: 'failed' })
    return isPromised
  }

  /** Each with a key of its own: a repeat is one with the first try only while nothing else has written the key, and tries may come late. */
  async #putSolo (): Promise<boolean> {
    const [key, text] = [this.#newSolo(), this.#newValue()]
    return await this.#repeat('put', key, text, async (node, requestId) => {
      const request = { collection: ordered, key: fromString(key), value: fromString(text), requestId }
      const asked = await ask(this.#components, node, this.#deadlineMs(), async (storage, deadlineMs) => await storage.put(request, { deadlineMs }))
      return asked.outcome === 'ok' ? { outcome: 'ok', had: !asked.answer.created } : asked
    })
  }

  async #deleteSolo (node: SimNode): Promise<boolean> {
    const key = this.#newSolo()
    if (!await this.#put(node, { kind: 'put', collection: ordered, key })) return false
    return await this.#repeat('delete', key, undefined, async (node, requestId) => {
      const asked = await ask(this.#components, node, this.#deadlineMs(), async (storage, deadlineMs) => await storage.delete({ collection: ordered, key: fromString(key), requestId }, { deadlineMs }))
      return asked.outcome === 'ok' ? { outcome: 'ok', had: asked.answer.deleted } : asked
    })
  }

  /** One operation of some tries with one request id, through one node after another. */
  async #repeat (kind: 'put' | 'delete', key: string, value: string | undefined, tryOnce: (node: SimNode, requestId: string) => Promise<Parameters<ReturnType<History['operation']>>[0]>): Promise<boolean> {
    const { cluster, history } = this.#components
    const requestId = `${this.#init.name}/${++this.#values}`
    const end = history.operation({ key: `${ordered}/${key}`, kind, value, had: undefined, label: `${this.#init.name} with request id ${requestId}` })
    let isInDoubt = false
    for (let tries = 0; tries < triesMax; tries++) {
      const node = anyNode(cluster, this.#random)
      const result = node === undefined ? { outcome: 'failed' as const } : await tryOnce(node, requestId)
      if (result.outcome === 'ok') {
        end(result)
        return true
      }
      isInDoubt ||= result.outcome === 'indefinite'
      await this.pause(noNodePauseMs)
    }
    end({ outcome: isInDoubt ? 'indefinite' : 'failed' })
    return false
  }

  #newSolo (): string {
    const letters = Array.from({ length: 2 }, () => String.fromCharCode(integer(this.#random, 97, 122))).join('')
    return `${letters}-${this.#init.name}-${++this.#values}`
  }

  #newValue (): string {
    return `${this.#init.name}.${++this.#values}`
  }

  #deadlineMs (): number {
    return pick(this.#random, deadlinesMs)
  }

  #label (node: SimNode): string {
    return `${this.#init.name} at ${node.name}, ${Math.round(this.#components.cluster.world.now())} ms`
  }

  /** Resolves after ms of virtual time. */
  async pause (ms: number): Promise<void> {
    await new Promise<void>(resolve => { this.#components.cluster.world.clock.schedule(ms, { run: resolve }) })
  }
}
