// What can go wrong in a simulation, as data: when it begins, whom it meets, and how long it lasts. A fault carries its own
// end (a heal, a resume, a restart), so each can be left out of a plan by itself. A fault that meets a node in no state for
// it (to crash one that is down) does nothing. faults/inject.ts carries them out.

import type { Latency } from '../network.ts'

/** What a crash leaves of the disk. `lost`: the node comes back with an empty one, as a new member. */
export type DiskLeft = 'kept' | 'lost'

export type Fault =
  /** The process ends between two events, and starts again after downMs. Of the batches given to the disk and not flushed, the first `writtenShare` are on it. */
  | { readonly kind: 'crash', readonly atMs: number, readonly node: string, readonly downMs: number, readonly disk: DiskLeft, readonly writtenShare: number }
  /** An orderly end: all that was given is flushed. */
  | { readonly kind: 'stop', readonly atMs: number, readonly node: string, readonly downMs: number }
  /** SIGSTOP and SIGCONT: what is sent to it waits. */
  | { readonly kind: 'pause', readonly atMs: number, readonly node: string, readonly forMs: number }
  /** The lid of a laptop: what is sent to it is lost. */
  | { readonly kind: 'suspend', readonly atMs: number, readonly node: string, readonly forMs: number }
  | { readonly kind: 'partition', readonly atMs: number, readonly from: readonly string[], readonly to: readonly string[], readonly direction: 'both' | 'out', readonly forMs: number }
  /** Packets are lost, notices come twice, and latency spreads, so that packets overtake each other. */
  | { readonly kind: 'network', readonly atMs: number, readonly lossShare: number, readonly duplicateShare: number, readonly latencyMs: Latency, readonly forMs: number }
  /** Each flush takes so long. */
  | { readonly kind: 'slow disk', readonly atMs: number, readonly node: string, readonly flushMs: number, readonly forMs: number }
  /** A new node, or one that has left and comes back with its disk. */
  | { readonly kind: 'join', readonly atMs: number, readonly node: string }
  /** Hands over and goes, if it can within deadlineMs. */
  | { readonly kind: 'leave', readonly atMs: number, readonly node: string, readonly deadlineMs: number }
  | { readonly kind: 'clock', readonly atMs: number, readonly node: string, readonly byMs: number }

export type FaultKind = Fault['kind']

export const faultKinds: readonly FaultKind[] = ['crash', 'stop', 'pause', 'suspend', 'partition', 'network', 'slow disk', 'join', 'leave', 'clock']

/** In order of time; equal times in the order given. */
export function inOrder (faults: readonly Fault[]): Fault[] {
  return [...faults].sort((a, b) => a.atMs - b.atMs)
}
