// Telling what is decided. The claimer owes it to old and new members: until the new owner has heard it nobody serves
// the part, and nobody else can tell. So the debt is written down before anything else is done with a decision, is paid
// again and again until it is acknowledged, and after a restart is worked out anew from the registers.

import { errorName } from '../errors.ts'
import type { Host } from '../host.ts'
import type { Member, MemberId } from '../member.ts'
import { claimName, sameClaim, type Piece } from './claim.ts'
import { decidedMethod } from './messages.ts'
import type { Registers } from './register.ts'

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
  readonly ownership: { readonly owed: Set<News>, readonly registers: Registers }
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
  const { owed, registers } = components.ownership
  for (const news of owed) if (news.pieces.every(piece => isSuperseded(piece, registers))) owed.delete(news)
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
    // others hear it from the owner, or when they ask for what they believe to have
    if (!isTheOwner(news)) ownership.owed.delete(news)
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

function isTheOwner ({ member, pieces }: News): boolean {
  return pieces.some(({ claim }) => claim.owner === member.id)
}

/** Has a later claim been decided? Then nobody needs this one any more. */
function isSuperseded ({ interval, claim }: Piece, registers: Registers): boolean {
  return registers.stretches(interval).every(({ value }) => value !== undefined && !sameClaim(value.claim, claim) && value.claim.epoch > claim.epoch)
}

/** Of news, those that must be heard before this node may go: neither the owner of a piece has heard, nor a majority of its members, who could take over. */
export function unheard (owed: Iterable<News>): News[] {
  const news = [...owed]
  const deaf = new Map<string, Set<MemberId>>()
  for (const { member, pieces } of news) {
    for (const { claim } of pieces) deaf.set(claimName(claim), (deaf.get(claimName(claim)) ?? new Set()).add(member.id))
  }
  return news.filter(({ pieces }) => pieces.some(({ claim }) => {
    const missing = deaf.get(claimName(claim))!
    return missing.has(claim.owner) && 2 * claim.members.filter(member => !missing.has(member)).length <= claim.members.length
  }))
}
