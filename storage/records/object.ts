// The orderer of an object: the owner of its id record, which alone gives the object's versions. An update is written
// there with its open intent first, then told to the new place (arrive) and the old one (left), wherever they live by
// then; answered when both have. One update at a time per id, so nobody sees them out of order.
// See docs/places.md, "One orderer an object" and "Intents". Matching of live queries comes into arrive and left later.

import { BusyError } from '../../overlay/errors.ts'
import type { Host, Method } from '../../overlay/host.ts'
import type { Key } from '../../overlay/interval.ts'
import type { Owned, Routing } from '../../overlay/routing/routing.ts'
import type { Writer } from '../holdings/writer.ts'
import type { Intents, OpenIntent, Primary } from '../intent.ts'
import { arriveMethod, closeMethod, leftMethod } from '../messages.ts'
import type { CloseMessage, WriteMessage } from '../messages.ts'
import type { Version } from '../storage-api.ts'
import type { Turns } from '../turns.ts'
import { keyName } from './key-layout.ts'
import { inheritIntents } from './merge.ts'
import { decodeHeld, encodeHeld } from './record.ts'
import type { IdRecord, Intent, Spot, State } from './record.ts'
import { compareVersions, giveVersion } from './version.ts'

export interface ObjectsComponents {
  readonly host: Host
  readonly writer: Writer
  readonly routing: Routing
  readonly turns: Turns
  /** Does this node own key, with its newest row? */
  readonly owns: (key: Key) => boolean
}

/** What an object becomes: a state, at a place or at none; or nothing. */
export interface Becomes {
  readonly state: State | undefined
  readonly place: Key | undefined
}

export interface Updated {
  readonly version: Version
  /** Was a live object there before? */
  readonly had: boolean
}

export interface Update<Message extends WriteMessage, Reply> {
  readonly method: Method<Message, Reply>
  readonly message: Message
  readonly owned: Owned
  readonly becomes: Becomes
  readonly replyOf: (updated: Updated) => Reply
}

export class Objects implements Primary {
  readonly #host: Host
  readonly #writer: Writer
  readonly #routing: Routing
  readonly #turns: Turns
  readonly #owns: (key: Key) => boolean
  readonly #memberId: string
  readonly #askMs: number
  #intents: Intents | undefined

  constructor ({ host, writer, routing, turns, owns }: ObjectsComponents, { memberId, updateMsMax }: { memberId: string, updateMsMax: number }) {
    this.#host = host
    this.#writer = writer
    this.#routing = routing
    this.#turns = turns
    this.#owns = owns
    this.#memberId = memberId
    this.#askMs = updateMsMax
  }

  start (intents: Intents): void {
    this.#intents = intents
    this.#routing.handle(closeMethod, ({ key }) => ({ key, below: false }), message => this.#closed(message))
  }

  /**
   * Handle an update as orderer: at once if nobody else updates this id, else in turn. Who has waited comes again
   * through routing, for the id may have another owner by then.
   *
   * @throws BusyError when too many wait, or an earlier update cannot be finished; UnfinishedError when it is stored but a place does not answer
   */
  async update<Message extends WriteMessage, Reply> ({ method, message, owned, becomes, replyOf }: Update<Message, Reply>): Promise<Reply> {
    const name = keyName(message.key)
    if (this.#turns.holds(name, message.turn)) return replyOf(await this.#carryOut(message, owned, becomes))
    const now = this.#turns.takeNow(name)
    const turn = now ?? await this.#turns.take(name)
    try {
      if (now !== undefined && this.#intents!.isSettled(message.key)) return replyOf(await this.#carryOut(message, owned, becomes))
      await this.#finishEarlier(message.key)
      const asked = await this.#routing.ask({ key: message.key, below: false }, method, { ...message, turn: turn.id }, { deadlineMs: this.#askMs })
      return asked.answer
    } finally {
      turn.release()
    }
  }

  /** What is open from before, perhaps from another owner. If it cannot be finished now, the new update has not begun. */
  async #finishEarlier (key: Key): Promise<void> {
    try {
      await this.#writer.flushed(key)
      await this.#intents!.settle(key)
    } catch (error) {
      throw new BusyError(`an earlier update of this id has not reached its places yet (${String(error)}); try again`)
    }
  }

  open (key: Key): readonly OpenIntent[] {
    // What a former owner still holds may be older than what the present one has carried out.
    const record = this.#owns(key) ? this.#read(key) : undefined
    return record === undefined ? [] : this.#intentsOf(record)
  }

  async close (key: Key, version: Version, names: readonly Key[], options: { deadlineMs: number }): Promise<unknown> {
    return await this.#routing.ask({ key, below: false }, closeMethod, { key, version, from: names }, { ...options, repeatable: true })
  }

  /** Decide in this step, then flush, then tell the places. */
  async #carryOut (message: WriteMessage, owned: Owned, becomes: Becomes): Promise<Updated> {
    const { key, requestId } = message
    const stored = this.#read(key)
    const had = stored?.state !== undefined
    const repeated = requestId !== undefined && stored?.requested?.id === requestId && had === (becomes.state !== undefined)
    if (repeated) {
      await this.#writer.flushed(key)
      return { version: stored.version, had: stored.requested!.had }
    }
    if (becomes.state === undefined && !had && requestId === undefined) {
      await this.#writer.flushed(key)
      return { version: stored?.version ?? giveVersion({ clockMs: 0, floorMs: 0, stored: undefined, member: this.#memberId }), had }
    }
    const version = giveVersion({ clockMs: this.#host.wallClock(), floorMs: Math.max(owned.floorMs, this.#writer.floorMs), ceilingMs: owned.ceilingMs, onShort: this.#writer.wantCeiling, stored: stored?.version, member: this.#memberId })
    const from = stored === undefined ? undefined : spotOf(stored)
    const open: Intent[] = from === undefined && becomes.place === undefined ? [] : [{ version, from, to: becomes.place }]
    const requested = requestId === undefined ? undefined : { id: requestId, had }
    const record = this.#takeOver(key, stored, { kind: 'id', version, state: becomes.state, requested, place: becomes.place, open })
    await this.#writer.write([{ key, value: encodeHeld(record) }])
    await this.#intents!.settle(key, this.#intentsOf(record))
    return { version, had }
  }

  /** An update is told to what is open as of this step, too: a merge may have added to it since the earlier updates were finished. */
  #takeOver (key: Key, stored: IdRecord | undefined, record: IdRecord): IdRecord {
    if (stored === undefined) return record
    const left = this.#intents!.unanswered(key, stored.open.map(intent => ({ ...intent, name: intentName(intent) })))
    return { ...record, open: inheritIntents(record, { ...stored, open: left }) }
  }

  #intentsOf (record: IdRecord): OpenIntent[] {
    return record.open.map(intent => ({ version: intent.version, name: intentName(intent), effects: this.#effects(intent, record) }))
  }

  #effects ({ version, from, to }: Intent, record: IdRecord): Array<OpenIntent['effects'][number]> {
    const effects: Array<OpenIntent['effects'][number]> = []
    const isNewest = compareVersions(version, record.version) === 0
    if (to !== undefined && isNewest && record.state !== undefined) {
      const message = { place: to, state: record.state, version }
      effects.push(options => this.#routing.ask({ key: to, below: false }, arriveMethod, message, { ...options, repeatable: true }))
    }
    if (from !== undefined && (to === undefined || keyName(from.place) !== keyName(to))) {
      const message = { place: from.place, version, movedTo: to }
      effects.push(options => this.#routing.ask({ key: from.place, below: false }, leftMethod, message, { ...options, repeatable: true }))
    }
    return effects
  }

  async #closed ({ key, version, from }: CloseMessage): Promise<object> {
    const record = this.#read(key)
    if (record === undefined || compareVersions(record.version, version) !== 0) return {}
    const closed = new Set(from.map(keyName))
    const open = record.open.filter(intent => !closed.has(keyName(intentName(intent))))
    if (open.length < record.open.length) {
      await this.#writer.write([{ key, value: encodeHeld({ ...record, open }) }])
    }
    return {}
  }

  #read (key: Key): IdRecord | undefined {
    const row = this.#writer.latest(key)
    if (row === undefined) return undefined
    const held = decodeHeld(row)
    return held.kind === 'id' ? held : undefined
  }
}

/** Where it takes the object from; empty for one that only brings it. */
function intentName ({ from }: Intent): Key {
  return from?.place ?? new Uint8Array(0)
}

function spotOf ({ place, state }: IdRecord): Spot | undefined {
  return place === undefined || state?.point === undefined ? undefined : { place, point: state.point, text: state.text }
}
