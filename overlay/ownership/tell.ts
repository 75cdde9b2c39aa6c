// Telling what is decided. The claimer owes it to old and new members: until the new owner has heard it nobody serves
// the part, and nobody else can tell. So the debt is written down before anything else is done with a decision, is paid
// again and again until it is acknowledged, and after a restart is worked out anew from the registers.

import { errorName } from '../errors.ts'
import type { Host } from '../host.ts'
import type { Member } from '../member.ts'
import type { Piece } from './claim.ts'
import { decidedMethod } from './messages.ts'

/** Decided claims that a member has yet to hear. */
export interface News {
  readonly member: Member
  readonly pieces: readonly Piece[]
  /** How to call those whom the pieces name. */
  readonly members: readonly Member[]
  /** Worked out from the registers at boot: it may have been heard long ago, and its member may be gone for good. */
  readonly isFromBoot: boolean
}

export interface TellComponents {
  readonly host: Host
  readonly ownership: { readonly owed: Set<News> }
}

export interface TellInit {
  /** Milliseconds that a member has to acknowledge. */
  readonly voteMs: number
  /** Quick attempts to tell one member; after them it is told at refreshes. */
  readonly tellsMax: number
  /** Members told at once at a refresh. */
  readonly owedTellsMax: number
  readonly ballotBackoffMs: number
}

/** Tell each once; who did not answer is told again in the background. */
export async function tell (components: TellComponents, news: readonly News[], init: TellInit): Promise<void> {
  await Promise.all(news.map(async one => {
    if (!await tellOnce(components, one, init)) void tellAgain(components, one, init)
  }))
}

/** At a refresh: try once each that is owed something, a bounded number of them; the others come next time. */
export async function tellOwed (components: TellComponents, init: TellInit): Promise<void> {
  const { owed } = components.ownership
  await Promise.all([...owed].slice(0, init.owedTellsMax).map(async news => {
    if (await tellOnce(components, news, init) || !owed.has(news)) return
    // to the end of the line
    owed.delete(news)
    owed.add(news)
  }))
}

async function tellAgain (components: TellComponents, news: News, init: TellInit): Promise<void> {
  const { host, ownership } = components
  try {
    for (let attempt = 0; attempt < init.tellsMax && ownership.owed.has(news); attempt++) {
      await host.sleep(init.ballotBackoffMs * 2 ** Math.min(attempt, 6) * (0.5 + host.random()))
      if (await tellOnce(components, news, init)) return
    }
  } catch (error) {
    host.log.debug({ error: errorName(error) }, 'this node stops before all was told')
  }
}

async function tellOnce ({ host, ownership }: TellComponents, news: News, init: TellInit): Promise<boolean> {
  try {
    await host.call(news.member.contact, decidedMethod, news, { deadlineMs: init.voteMs })
    ownership.owed.delete(news)
    return true
  } catch (error) {
    host.log.debug({ member: news.member.id, error: errorName(error) }, 'decided claim not told yet')
    return false
  }
}
