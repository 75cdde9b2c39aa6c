// Settings of the overlay with their defaults, each with its source or "guess". Durations in ms of Host.now().

import type { MeetInit } from './contact/meet.ts'
import type { GraphInit } from './graph/graph.ts'
import type { JoinInit } from './join.ts'
import type { LeaveInit } from './leave.ts'
import type { ChangeInit } from './ownership/change.ts'
import type { KeeperInit } from './ownership/keeper.ts'
import type { OwnershipInit } from './ownership/ownership.ts'
import type { AtlasInit } from './routing/atlas.ts'
import type { NearInit } from './routing/near.ts'
import type { RouterInit } from './routing/router.ts'

export interface OverlayInit extends AtlasInit, NearInit, RouterInit, GraphInit, ChangeInit, OwnershipInit, MeetInit, JoinInit, LeaveInit, KeeperInit {
  /** Members whose contacts are remembered at most. */
  readonly bookEntriesMax: number
}

export const overlayDefaults: OverlayInit = {
  atlasEntriesMax: 8192, // the size that the route benchmark is stated for
  nearEachSide: 4, // guess: wide enough to step over dead nodes, small enough for one frame
  bookEntriesMax: 16_384, // twice the atlas

  hopsMax: 128, // guess: ten times what a lookup takes among 4,096 nodes
  attemptMs: 2000, // guess: above a slow flush or a long pause of garbage collection
  probeMs: 500, // guess: far above a round trip
  backoffMs: 20, // guess: about one change of hands on a local network
  backoffMsMax: 500, // guess
  silentMs: 1000, // guess: rides over one reconnect
  redirectsMax: 16, // guess

  neighborMs: 2000, // as attemptMs
  levelStepsMax: 64, // two are expected; 64 coin tosses in a row do not fail
  refreshIntervalMs: 5000, // guess

  frozenRequestsMax: 10_000, // guess: two seconds of requests at 5,000 a second
  fillMsMax: 600_000, // guess: 10 GiB at 20 MiB/s
  drainMs: 1000, // guess: a write that its members take ends in a few round trips
  tailMs: 3000, // guess: a hundred rows and a slow flush
  voteMs: 2000, // as attemptMs
  ballotsMax: 8, // guess
  ballotBackoffMs: 50, // guess
  owedTellsMax: 16, // guess
  tellsMax: 12, // with doubling waits about twenty seconds; then it is told at refreshes

  helloMs: 2000, // as attemptMs
  meetIntervalMs: 500, // guess
  settledMs: 2500, // guess: five rounds in which the same nodes met
  foundAfterMs: 60_000, // guess; docs/ownership.md, "Founding"
  metMax: 64, // guess

  surveyNodesMax: 16, // guess: sees small rings whole
  joinMs: 600_000, // as fillMsMax
  giverCheckMs: 5000, // guess
  missedMax: 2, // guess
  joinBackoffMs: 100, // guess
  joinAttemptsMax: 64, // guess; then the operator is told, and it begins anew
  heavyShare: 0.7, // guess: above the half that a giver is left with

  copies: 3, // two disks may be lost at once
  leaseMs: 12_000, // docs/ownership.md, "Leases": the values to start from
  leaseDrift: 0.05, // guess: far above what clocks of machines drift apart in twelve seconds
  leaseRenewMs: 5000, // two may be lost before a lease ends
  ceilingStepMs: 10_000, // guess: a flush each ten seconds
  pingIntervalMs: 5000, // one message each five seconds tells who is silent
  pingMs: 1000, // far above a round trip and a pause of garbage collection
  pingsMax: 4, // by chance all four are lost once in 160,000 at a loss of 5 %
  evictPings: 1, // with the write that was not answered that is two seconds
  takeoverMs: 1000, // guess: a few times what a takeover takes
  regainMs: 2000, // guess: above a change of another
  retireMs: 60_000, // guess: the time that a leave has
  tendMs: 300, // guess: lets several joins settle

  leaveBackoffMs: 100, // guess
  piecesMax: 8 // guess; docs/ownership.md, "Pieces"
}
