// A version: the one absolute time in what peers keep, given by the owner of a key. Later wins; equal is the same write.
// Order is [ms, counter, member]. Counters of records are even and grow by 2, so the expiry of v can be v with
// counter + 1, whoever gives it. A clock is never raised by a message: only by what the key itself holds, and by the
// floor of the owner's claim (docs/ownership.md, "Versions").

import { BusyError } from '../../overlay/errors.ts'
import type { Version } from '../storage-api.ts'
import type { ByteReader, ByteWriter } from './bytes.ts'
import { bytesOfHex, hexOf } from './hex.ts'

/** Bytes of an encoded version: u48, u32, and a member id of 16. */
export const versionBytes = 26
const memberIdBytes = 16
const msMax = 2 ** 48 - 1
/** The greatest even u32. */
const counterMax = 2 ** 32 - 2

/** Negative when a is before b, 0 when they are the same. */
export function compareVersions (a: Version, b: Version): number {
  return a.ms - b.ms || a.counter - b.counter || (a.member < b.member ? -1 : a.member > b.member ? 1 : 0)
}

/** The least version after all of a version's millisecond and counter, whatever the member. */
export function nextVersion (version: Version, member: string): Version {
  const counter = version.counter + 2 - version.counter % 2
  return counter <= counterMax ? { ms: version.ms, counter, member } : { ms: version.ms + 1, counter: 0, member }
}

export interface VersionInit {
  readonly clockMs: number
  readonly floorMs: number
  /** Versions are below it, whatever the clock says; Infinity by default. */
  readonly ceilingMs?: number
  /** Told which millisecond lies beyond the ceiling. */
  readonly onShort?: (ms: number) => void
  readonly stored: Version | undefined
  readonly member: string
}

/**
 * The version of a write: max(clock, next(stored), floor), with the clock held below the ceiling.
 *
 * @throws BusyError when floor or stored version leave no room below the ceiling, which is being raised
 */
export function giveVersion ({ clockMs, floorMs, ceilingMs = Infinity, onShort, stored, member }: VersionInit): Version {
  const ms = Math.max(Math.min(Math.floor(clockMs), ceilingMs - 1), floorMs, 0)
  if (!(ms <= msMax)) throw new RangeError(`clock ${ms} is beyond the last version`)
  const fresh: Version = { ms, counter: 0, member }
  const next = stored === undefined ? fresh : nextVersion(stored, member)
  const version = compareVersions(fresh, next) >= 0 ? fresh : next
  if (version.ms < ceilingMs) return version
  onShort?.(version.ms)
  throw new BusyError('the owner of this key waits for its members to let versions go on; try again')
}

/** `<ms>-<counter>-<member>` */
export function versionText (version: Version): string {
  return `${version.ms}-${version.counter}-${version.member}`
}

export function writeVersion (writer: ByteWriter, version: Version): void {
  const member = bytesOfHex(version.member)
  if (member?.length !== memberIdBytes) throw new RangeError(`member id ${version.member} does not have ${memberIdBytes * 2} hex digits`)
  writer.u48(version.ms).u32(version.counter).raw(member)
}

/** @throws UnreadableRowError */
export function readVersion (reader: ByteReader): Version {
  const ms = reader.u48()
  const counter = reader.u32()
  return { ms, counter, member: hexOf(reader.raw(memberIdBytes)) }
}
