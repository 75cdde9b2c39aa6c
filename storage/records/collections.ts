// Which collections there are. Definitions never change once made, so what was looked up is believed for a while; that a
// name is unknown is not remembered, for it may be defined the next moment. Defining is one step at the owner of the
// name's key: the first definition stands, and another one for the same name is refused.

import type { Host } from '../../overlay/host.ts'
import type { Routing } from '../../overlay/routing/routing.ts'
import { CollectionConflictError, UnknownCollectionError } from '../errors.ts'
import type { Writer } from '../holdings/writer.ts'
import { defineMethod, getMethod } from '../messages.ts'
import type { VerbOptions } from '../storage-api.ts'
import { Course } from './ask.ts'
import { builtInCollections, checkCollectionName, checkDefinition, decodeDefinition, encodeDefinition, sameDefinition } from './collection.ts'
import type { CollectionDefinition } from './collection.ts'
import { definitionKey } from './key-layout.ts'
import { decodeHeld, encodeHeld } from './record.ts'
import type { OrderedRecord } from './record.ts'
import { giveVersion } from './version.ts'

export interface CollectionsComponents {
  readonly host: Host
  readonly routing: Routing
  readonly writer: Writer
}

export interface CollectionsInit {
  readonly memberId: string
  readonly definitionMs: number
  readonly definitionsMax: number
}

export class Collections {
  readonly #components: CollectionsComponents
  readonly #init: CollectionsInit
  readonly #known = new Map<string, { readonly definition: CollectionDefinition, readonly endMs: number }>()

  constructor (components: CollectionsComponents, init: CollectionsInit) {
    this.#components = components
    this.#init = init
  }

  start (): void {
    const { routing, host, writer } = this.#components
    routing.handle(defineMethod, ({ key }) => ({ key, below: false }), async ({ key, definition }, owned) => {
      const row = writer.latest(key)
      const stored = row === undefined ? undefined : decodeHeld(row)
      if (stored?.state !== undefined) {
        await writer.flushed(key)
        return { definition: stored.state.value }
      }
      const version = giveVersion({ clockMs: host.wallClock(), floorMs: Math.max(owned.floorMs, writer.floorMs), ceilingMs: owned.ceilingMs, onShort: writer.wantCeiling, stored: stored?.version, member: this.#init.memberId })
      const state = { value: definition, contentType: 'application/json', point: undefined, text: undefined }
      const record: OrderedRecord = { kind: 'ordered', version, state, requested: undefined }
      await writer.write([{ key, value: encodeHeld(record) }])
      return { definition }
    })
  }

  /** Those from the start and those looked up lately, ascending by name. */
  known (): CollectionDefinition[] {
    const looked = [...this.#known.values()].map(({ definition }) => definition)
    return [...builtInCollections, ...looked].sort((a, b) => a.name < b.name ? -1 : 1)
  }

  /** @throws InvalidRequestError for a bad name; errors of Routing.ask */
  async lookup (given: string, options: VerbOptions): Promise<CollectionDefinition | undefined> {
    const name = checkCollectionName(given, 'collection')
    const { host, routing } = this.#components
    const known = builtInCollections.find(definition => definition.name === name) ?? this.#remembered(name)
    if (known !== undefined) return known
    const key = definitionKey(name)
    const { answer } = await routing.ask({ key, below: false }, getMethod, { key }, new Course(host, options).ask({ repeatable: true }))
    const state = answer.row === undefined ? undefined : decodeHeld(answer.row).state
    return state === undefined ? undefined : this.#remember(decodeDefinition(state.value))
  }

  /** As lookup. @throws UnknownCollectionError */
  async mustLookup (name: string, options: VerbOptions): Promise<CollectionDefinition> {
    const definition = await this.lookup(name, options)
    if (definition === undefined) throw new UnknownCollectionError(`collection ${JSON.stringify(name)} is not defined; define it first, or use ${builtInCollections.map(({ name }) => name).join(' or ')}`)
    return definition
  }

  /** Define a collection; again with the same definition is no error. @throws InvalidRequestError, CollectionConflictError */
  async define (given: CollectionDefinition, options: VerbOptions): Promise<CollectionDefinition> {
    const definition = checkDefinition(given)
    const { host, routing } = this.#components
    const key = definitionKey(definition.name)
    let standing = builtInCollections.find(({ name }) => name === definition.name)
    if (standing === undefined) {
      const request = { key, definition: encodeDefinition(definition) }
      const { answer } = await routing.ask({ key, below: false }, defineMethod, request, new Course(host, options).ask({ repeatable: true }))
      standing = this.#remember(decodeDefinition(answer.definition))
    }
    if (!sameDefinition(standing, definition)) {
      throw new CollectionConflictError(`collection ${JSON.stringify(definition.name)} is defined already as ${JSON.stringify(standing)}; a definition cannot be changed`)
    }
    return standing
  }

  #remembered (name: string): CollectionDefinition | undefined {
    const known = this.#known.get(name)
    return known !== undefined && known.endMs > this.#components.host.now() ? known.definition : undefined
  }

  #remember (definition: CollectionDefinition): CollectionDefinition {
    this.#known.delete(definition.name)
    this.#known.set(definition.name, { definition, endMs: this.#components.host.now() + this.#init.definitionMs })
    if (this.#known.size > this.#init.definitionsMax) this.#known.delete(this.#known.keys().next().value!)
    return definition
  }
}
