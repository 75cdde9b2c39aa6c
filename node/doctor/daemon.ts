// The checks of a daemon that runs: does it answer and serve, are its peers there, and do their clocks agree.

import type { RpcTarget } from '../cli/rpc-address.ts'
import { openFilesAdvised, openFilesLimit } from '../open-files.ts'
import { version } from '../version.ts'
import { ok, problem, warning, type Finding } from './finding.ts'
import { answerMsMax, ask, causeOf, type Answer } from './rpc.ts'

/** Peers whose clocks are asked for. A guess. */
const clocksMax = 8
/** Clocks further apart than this are worth a word, and than that are wrong. Guesses: HTTP tells seconds; NTP keeps to milliseconds. */
const clockAheadMsAdvised = 2_000
const clockAheadMsMax = 60_000

/** What is known without asking. */
export interface Surroundings {
  /** Does a process have the store of the data directory open? */
  readonly inUse: boolean
  /** The pid of rpc.json, where there is one. */
  readonly pid: number | undefined
  /** The peer of the data directory, where the target was found by it. */
  readonly peerId: string | undefined
}

interface PeerFields {
  readonly peerId: string
  readonly rpc: string | null
  readonly state: string
  readonly rttMs: number | null
}

/** All that can be found out from the daemon at target; its first finding is whether there is one. */
export async function checkDaemon (target: RpcTarget, surroundings: Surroundings): Promise<Finding[]> {
  let first: Answer
  try {
    first = await ask(target, '/version')
  } catch (error) {
    return [unreachable(target, causeOf(error), surroundings)]
  }
  const status = await ask(target, '/v1/status').catch(() => undefined)
  const findings = [await checkServing(target, first, status, surroundings)]
  if (status?.status !== 200) return findings
  const { body: { peers = [], complete = false } } = await ask(target, `/v1/peers?deadlineMs=${answerMsMax}`, 2 * answerMsMax).catch(() => ({ body: {} as Record<string, unknown> }))
  return [...findings, checkPeers(peers as PeerFields[], complete === true), await checkClock(target, first, peers as PeerFields[])]
}

export function checkOpenFiles (pid: number | undefined): Finding {
  const limit = openFilesLimit(pid ?? 'self')
  if (limit === undefined) return ok('files', 'this system does not tell how many a process may have open')
  const text = `${pid === undefined ? 'a process started here' : `process ${pid}`} may have ${limit} open`
  return limit < openFilesAdvised ? warning('files', text, `at least ${openFilesAdvised} are advised; raise it with ulimit -n, or LimitNOFILE= of systemd`) : ok('files', text)
}

function unreachable ({ url, found }: RpcTarget, cause: string, { inUse, pid }: Surroundings): Finding {
  const text = `nothing answers at ${url} (from ${found}, ${cause})`
  if (inUse) return problem('daemon', `${text}, though a process has the store`, 'see the log of that process; it may be starting, or hang')
  if (pid === undefined) return problem('daemon', text, 'start one with `isobar daemon`, or name another address')
  return warning('daemon', `not running; rpc.json is left of process ${pid}, which was killed`, 'start it again, which writes the file anew')
}

async function checkServing (target: RpcTarget, { body }: Answer, status: Answer | undefined, { peerId }: Surroundings): Promise<Finding> {
  const check = 'daemon'
  const { url, found } = target
  if (status === undefined) return problem(check, `${url} does not tell its status within ${answerMsMax / 1_000} s`, 'see its log; it may have too much to do')
  if (status.status === 401) return problem(check, `${url} wants a token`, 'give --rpc-token-file')
  if (status.status !== 200 || typeof status.body['peerId'] !== 'string') return problem(check, `what answers at ${url} (from ${found}) is no isobar that can be understood`, 'look which program has that port')
  if (peerId !== undefined && status.body['peerId'] !== peerId) return problem(check, `at ${url} (from ${found}) answers another peer, ${String(status.body['peerId'])}`, 'name the right one with --rpc')
  const { state, disk } = status.body as { state: string, disk?: { state: string, reason?: string } | null }
  if (disk != null && disk.state !== 'ok') return problem(check, `${url} is ${state}, but its disk is ${disk.state}: ${disk.reason ?? ''}`, 'other peers go on')
  if (state !== 'serving') return warning(check, `${url} is ${state}`, 'wait, or see its log')
  if (body['version'] !== version) return warning(check, `${url} is serving, as version ${String(body['version'])}; this program is ${version}`, 'start it again to run the same')
  return ok(check, `${url} is serving, version ${version}`)
}

function checkPeers (peers: readonly PeerFields[], complete: boolean): Finding {
  const check = 'peers'
  const silent = peers.filter(peer => peer.state === 'unreachable').map(peer => peer.peerId).filter(id => id !== '')
  if (peers.length === 0 || !complete) {
    const who = silent.length === 0 ? '' : `: ${silent.join(', ')}`
    return problem(check, `for some keys no peer answers${who}`, 'start those that are missing; `isobar ranges` tells which keys')
  }
  const rtts = peers.flatMap(peer => peer.rttMs ?? [])
  if (rtts.length === 0) return ok(check, 'the only one of its ring')
  return ok(check, `all ${peers.length} of the ring answer, the slowest in ${Math.max(...rtts).toFixed(1)} ms`)
}

/** Peers that can be asked from here; a loopback address of another machine leads to somebody else, and does not count. */
async function checkClock (target: RpcTarget, own: Answer, peers: readonly PeerFields[]): Promise<Finding> {
  const check = 'clock'
  const others = peers.filter(peer => peer.rpc !== null && peer.rttMs !== null).slice(0, clocksMax)
  const answers = await Promise.all(others.map(async ({ rpc, peerId }) => {
    const answer = await ask({ url: rpc ?? '', token: target.token }, '/v1/status').catch(() => undefined)
    return answer?.body['peerId'] === peerId ? answer.clockAheadMs : undefined
  }))
  const ahead = [own.clockAheadMs, ...answers].filter(ms => ms !== undefined)
  // Seen from the daemon, whose clock gives the versions; it may be of another machine than this program.
  const furthest = ahead.map(ms => ms - (own.clockAheadMs ?? 0)).reduce((a, b) => Math.abs(b) > Math.abs(a) ? b : a, 0)
  const text = `${ahead.length - 1} other ${ahead.length === 2 ? 'daemon was' : 'daemons were'} compared`
  if (ahead.length < 2) return ok(check, 'no other daemon can be asked from here')
  if (Math.abs(furthest) <= clockAheadMsAdvised) return ok(check, `${text}, none differs by more than ${clockAheadMsAdvised / 1_000} s`)
  const apart = `${text}, one is ${Math.abs(Math.round(furthest / 1_000))} s ${furthest > 0 ? 'ahead of' : 'behind'} this one`
  const remedy = 'set the clocks, best by NTP; the later of two writes wins by its clock'
  return Math.abs(furthest) > clockAheadMsMax ? problem(check, apart, remedy) : warning(check, apart, remedy)
}
