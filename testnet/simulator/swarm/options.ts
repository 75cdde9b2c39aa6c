// Settings of the protocol as a seed draws them: most stay as they are, some become small, so that bounds are met and pages,
// rounds and redirects are many. Waits stay above a round trip of the slowest network that is drawn (scenario.ts).

import { overlayDefaults, type OverlayInit } from '../../../overlay/init.ts'
import { storageDefaults } from '../../../storage/init.ts'
import { chance, pick } from '../draw.ts'
import type { Random } from '../random.ts'

type Choices<Init> = { readonly [Name in keyof Init]?: ReadonlyArray<Init[Name]> }

/** Of a ring that is there; a node that cannot reach it must not found another, for rings do not merge yet. */
const neverMs = 1e12
/** A request to join that is lost here would be resent by TCP; the joiner asks again after joinMs, which is ten minutes else. */
const always: Partial<OverlayInit> = { settledMs: neverMs, foundAfterMs: neverMs, joinMs: 30_000 }

const overlayChoices: Choices<OverlayInit> = {
  atlasEntriesMax: [16],
  attemptMs: [1000],
  refreshIntervalMs: [1000, 20_000],
  frozenRequestsMax: [1, 3],
  voteMs: [1000],
  ballotBackoffMs: [5],
  tailMs: [1500],
  giverCheckMs: [2000],
  copies: [1, 2],
  surveyNodesMax: [1, 3],
  piecesMax: [2]
}

const storageChoices: Choices<typeof storageDefaults> = {
  messageRowsMax: [1, 3],
  scannedRowsMax: [2],
  scanPageRows: [1, 4],
  updatesWaitingMax: [1],
  updateMsMax: [3000],
  closeDelayMs: [0, 5000],
  drivenMax: [1],
  frameBytesMax: [1],
  tailKeysMax: [1],
  callMs: [2000],
  strayCheckMs: [2000],
  curveWeightBytes: [64]
}

/** Together, for each is bound to the others: the dead are found and taken over from within seconds, so that a run has more of that. */
const hasty: Partial<OverlayInit> = { leaseMs: 3000, leaseRenewMs: 1000, pingIntervalMs: 1000 }

const changedShare = 0.2
const hastyShare = 0.3

export function drawOverlay (random: Random): Partial<OverlayInit> {
  return { ...drawn(random, overlayDefaults, overlayChoices), ...(chance(random, hastyShare) ? hasty : {}), ...always }
}

export function drawStorage (random: Random): Partial<typeof storageDefaults> {
  return drawn(random, storageDefaults, storageChoices)
}

/** @param defaults - a choice of a setting that is not there any more is left out */
function drawn<Init extends object> (random: Random, defaults: Init, choices: Choices<Init>): Partial<Init> {
  const changed: Partial<Init> = {}
  for (const name of Object.keys(choices) as Array<keyof Init>) {
    const values = choices[name]!
    if (chance(random, changedShare) && name in defaults) changed[name] = pick(random, values)
  }
  return changed
}
