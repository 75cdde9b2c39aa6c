// The owner of an object's place: keeps the entry that finds meet, as the object's orderer tells it. An entry changes only
// to a greater version, and one that left stays as a mark for as long as messages live, so an old arrival that was
// delayed cannot bring it back, and says where the object went (docs/places.md, "Marks").
// Versions are the orderer's; this owner gives none.

import type { Host } from '../../overlay/host.ts'
import type { Key } from '../../overlay/interval.ts'
import type { Routing } from '../../overlay/routing/routing.ts'
import type { Writer } from '../holdings/writer.ts'
import { arriveMethod, leftMethod } from '../messages.ts'
import type { ArriveMessage, LeftMessage } from '../messages.ts'
import type { Version } from '../storage-api.ts'
import { wordRule, wordsOf } from '../words.ts'
import { keyName } from './key-layout.ts'
import { decodeHeld, encodeHeld, isLive, kindOf, versionOf } from './record.ts'
import type { PlaceEntry, StampedWords } from './record.ts'
import { compareVersions } from './version.ts'

export interface PlacesComponents {
  readonly host: Host
  readonly writer: Writer
  /** Told of each request that this node answers as owner. */
  readonly onTouch: (key: Key, verb: string) => void
  /** Does this node own key, with its newest row? */
  readonly owns: (key: Key) => boolean
}

export interface PlacesInit {
  readonly unicodeVersion: string
  readonly markMs: number
  readonly marksMax: number
}

export class Places {
  readonly #host: Host
  readonly #writer: Writer
  readonly #init: PlacesInit
  readonly #onTouch: (key: Key, verb: string) => void
  readonly #owns: (key: Key) => boolean
  /** Marks by age, to be deleted when their time is over. */
  readonly #marks = new Map<string, { readonly key: Key, readonly version: Version, readonly endMs: number }>()
  #isSweeping = false
  #isStopped = false

  constructor ({ host, writer, onTouch, owns }: PlacesComponents, init: PlacesInit) {
    this.#host = host
    this.#writer = writer
    this.#onTouch = onTouch
    this.#owns = owns
    this.#init = init
  }

  start (routing: Routing): void {
    routing.handle(arriveMethod, ({ place }) => ({ key: place, below: false }), message => this.#arrive(message))
    routing.handle(leftMethod, ({ place }) => ({ key: place, below: false }), message => this.#left(message))
  }

  stop (): void {
    this.#isStopped = true
  }

  /** Delete the mark under key when its time is over. Beyond the bound the oldest is given up: it stays on disk. */
  expireMark (key: Key, version: Version): void {
    const name = keyName(key)
    this.#marks.delete(name)
    this.#marks.set(name, { key, version, endMs: this.#host.now() + this.#init.markMs })
    if (this.#marks.size > this.#init.marksMax) this.#marks.delete(this.#marks.keys().next().value!)
    this.#sweepLater()
  }

  /** Ms since the mark of this version was written, or found, here; undefined where that is not remembered. */
  markAgeMs (key: Key, version: Version): number | undefined {
    const mark = this.#marks.get(keyName(key))
    return mark === undefined || compareVersions(mark.version, version) !== 0 ? undefined : this.#host.now() - (mark.endMs - this.#init.markMs)
  }

  async #arrive ({ place, state, version }: ArriveMessage): Promise<object> {
    this.#onTouch(place, 'arrive')
    if (this.#isNewer(place, version)) {
      const entry: PlaceEntry = { kind: 'place', version, state, words: stampedWords(state.text, this.#init.unicodeVersion), movedTo: undefined }
      await this.#writer.write([{ key: place, value: encodeHeld(entry) }])
    } else {
      await this.#writer.flushed(place)
    }
    return {}
  }

  async #left ({ place, version, movedTo }: LeftMessage): Promise<object> {
    this.#onTouch(place, 'left')
    if (this.#isNewer(place, version)) {
      this.expireMark(place, version)
      const mark: PlaceEntry = { kind: 'place', version, state: undefined, words: undefined, movedTo }
      await this.#writer.write([{ key: place, value: encodeHeld(mark) }])
    } else {
      await this.#writer.flushed(place)
    }
    return {}
  }

  #isNewer (place: Key, version: Version): boolean {
    const stored = this.#writer.latest(place)
    return stored === undefined || compareVersions(version, versionOf(stored)) > 0
  }

  #sweepLater (): void {
    const first = this.#marks.values().next().value
    if (this.#isSweeping || this.#isStopped || first === undefined) return
    this.#isSweeping = true
    this.#host.after(Math.max(0, first.endMs - this.#host.now()), () => {
      this.#isSweeping = false
      this.#sweep()
    })
  }

  /**
   * A mark that has gone to another owner in the meantime is swept there, when that one finds it; and here, when it comes
   * back. The row of a former owner who is being filled again is an old one until the fill's rows are in.
   */
  #sweep (): void {
    const over: Key[] = []
    for (const [name, { key, version, endMs }] of this.#marks) {
      if (endMs > this.#host.now()) break
      this.#marks.delete(name)
      const stored = this.#owns(key) ? this.#writer.latest(key) : undefined
      if (stored !== undefined && !isLive(stored) && compareVersions(versionOf(stored), version) === 0) over.push(key)
    }
    if (over.length > 0 && !this.#isStopped) {
      this.#writer.write(over.map(key => ({ key, value: undefined }))).catch((error: unknown) => {
        this.#host.log.debug({ error: String(error) }, 'old marks were not deleted')
      })
    }
    this.#sweepLater()
  }
}

/** The words of an entry: those stored, or made anew where another rule or Unicode version made them. */
export function wordsAt (entry: PlaceEntry, unicodeVersion: string): readonly string[] {
  const { words, state } = entry
  if (words !== undefined && words.rule === wordRule && words.unicode === unicodeVersion) return words.words
  return state?.text === undefined ? [] : wordsOf(state.text)
}

/** Is this row a mark, and of which version? */
export function markVersion (row: Uint8Array): Version | undefined {
  if (kindOf(row) !== 'place' || isLive(row)) return undefined
  return decodeHeld(row).version
}

function stampedWords (text: string | undefined, unicode: string): StampedWords {
  return { rule: wordRule, unicode, words: text === undefined ? [] : wordsOf(text) }
}
