// What a node of the search does with each message: the plain work of the procedures around the rules, in the order
// that docs/ownership.md, "Change, step by step" gives. A message to itself is handled at once, as the claimer's own
// promise must come first.

import { compareBallots, sameBallot } from '../../../overlay/ownership/ballot.ts'
import { sameClaim } from '../../../overlay/ownership/claim.ts'
import { ownIntervals, votersOf } from '../../../overlay/ownership/proposal.ts'
import type { MemberId } from '../../../overlay/member.ts'
import type { Piece } from '../../../overlay/ownership/claim.ts'
import type { LearnStep } from '../../../overlay/ownership/register.ts'
import { claimName } from './oracle.ts'
import { messageNumber, withAt } from './world.ts'
import type { Body, Message, Node, World } from './world.ts'

export function send (world: World, from: MemberId, to: MemberId, body: Body): void {
  const message = { from, to, ...body }
  if (from === to) {
    handle(world, message)
  } else if (!world.init.messagesStay || !world.messages.some(other => messageNumber(other) === messageNumber(message))) {
    world.messages = [...world.messages, message]
  }
}

/** False when the message finds nobody at home, or nobody who waits for it. */
export function handle (world: World, message: Message): boolean {
  const node = world.node(message.to)
  if (!node.up) return false
  switch (message.kind) {
    case 'fill': return onFill(world, node, message)
    case 'snapshot': return onSnapshot(world, node, message)
    case 'filled': return onFilled(world, node, message)
    case 'prepare': return onPrepare(world, node, message)
    case 'promise': return onPromise(world, node, message)
    case 'askTail': return onAskTail(world, node, message)
    case 'tail': return onTail(world, node, message)
    case 'full': return onFull(world, node, message)
    case 'accept': return onAccept(world, node, message)
    case 'accepted': return onAccepted(world, node, message)
    case 'decided': return onDecided(world, node, message)
    case 'lease': return onLease(world, node, message)
    case 'grant': return onGrant(world, node, message)
    case 'write': return onWrite(world, node, message)
    case 'written': return onWritten(world, node, message)
  }
}

type On<K extends Body['kind']> = (world: World, node: Node, message: Extract<Message, { kind: K }>) => boolean

/** Flush a version of key at node, and note it for the fills that run from here. */
export function put (node: Node, key: number, version: number): void {
  if (version <= node.versions[key]!) return
  node.versions = withAt(node.versions, key, version)
  node.sessions = node.sessions.map(session => session.dirty.includes(key) ? session : { ...session, dirty: [...session.dirty, key].sort() })
}

export function takeIn (world: World, node: Node, step: Pick<LearnStep, 'registers' | 'learned'>): void {
  node.registers = step.registers
  for (const { interval, after } of step.learned) {
    for (const key of world.keysIn(interval)) {
      world.oracle.learned(key, after)
      node.heldFrom = withAt(node.heldFrom, key, [])
      node.ceilings = withAt(node.ceilings, key, [])
      node.bootFloors = withAt(node.bootFloors, key, 0)
      node.synced = withAt(node.synced, key, false)
      if (after.owner !== node.id) node.writes = withAt(node.writes, key, undefined)
      node.expects = node.expects.filter(name => name !== claimName(after))
    }
  }
}

const onFill: On<'fill'> = (world, node, { from, plan, session, learners }) => {
  node.sessions = [...node.sessions, { name: session, dirty: [] }]
  const rows = rowsOf(node, world.keysIn(world.span(plan.from, plan.to)))
  for (const learner of learners) send(world, node.id, learner, { kind: 'snapshot', rows, session, claimer: from })
  return true
}

const onSnapshot: On<'snapshot'> = (world, node, { rows, session, claimer }) => {
  for (const [key, version] of rows) put(node, key, version)
  send(world, node.id, claimer, { kind: 'filled', session })
  return true
}

const onFilled: On<'filled'> = (world, node, { from, session }) => {
  const { change } = node
  if (change?.phase !== 'fill' || change.session !== session) return false
  node.change = { ...change, filled: withMember(change.filled, from) }
  if (change.learners.every(learner => node.change!.filled.includes(learner))) prepare(world, node)
  return true
}

/** Begin a ballot for the change of node, which has filled its learners. */
export function prepare (world: World, node: Node): void {
  const { rules } = world
  const { plan, source, bases } = node.change!
  node.counter++
  const proposal = rules.beginProposal({ ballot: { counter: node.counter, member: node.id }, bases, wish: { owner: plan.owner, members: plan.members }, source })
  node.change = { ...node.change!, phase: 'prepare', proposal }
  for (const voter of selfFirst(votersOf(proposal), node.id)) {
    if (node.change !== undefined) send(world, node.id, voter, { kind: 'prepare', request: { ballot: proposal.ballot, base: bases } })
  }
}

const onPrepare: On<'prepare'> = (world, node, { from, request }) => {
  const step = world.rules.promise(node.registers, node.id, request, {
    leaseBlocks: (interval, claim) => world.keysIn(interval).some(key => {
      const grant = node.grants[key]
      return grant !== undefined && sameClaim(grant.claim, claim)
    })
  })
  takeIn(world, node, step)
  if (step.reply.answer === 'promised' && world.habits.promiseFlushesAfterWrites) {
    for (const key of world.keys()) flush(world, node, key)
  }
  send(world, node.id, from, { kind: 'promise', reply: step.reply })
  return true
}

const onPromise: On<'promise'> = (world, node, { from, reply }) => {
  const { rules } = world
  if (reply.answer === 'refused') {
    takeIn(world, node, rules.catchUp(node.registers, reply.held))
    node.counter = Math.max(node.counter, reply.above?.counter ?? 0)
  }
  const { change } = node
  if (change?.phase !== 'prepare' || !sameBallot(change.proposal!.ballot, reply.ballot)) return false
  const proposal = rules.countPromise(change.proposal!, from, reply)
  node.change = { ...change, proposal }
  if (reply.answer === 'refused' && reply.above !== undefined && compareBallots(reply.above, reply.ballot) > 0) {
    node.change = undefined
    return true
  }
  const settling = rules.settle(proposal)
  if (settling.state === 'superseded') node.change = undefined
  if (settling.state !== 'settled') return true
  node.change = { ...change, proposal: settling.proposal, phase: 'tail' }
  const { own } = settling.proposal
  if (own === undefined) return sendAccept(world, node)
  send(world, node.id, change.source, { kind: 'askTail', claim: own, intervals: ownIntervals(settling.proposal), session: change.session, learners: change.learners })
  return sendAccept(world, node)
}

const onAskTail: On<'askTail'> = (world, node, { from, claim, intervals, session, learners }) => {
  const keys = intervals.flatMap(interval => world.keysIn(interval))
  const known = node.sessions.find(({ name }) => name === session)
  if (world.init.fills && learners.length > 0 && known === undefined && world.habits.tailNeedsSession) return false
  for (const member of claim.members.filter(member => member !== node.id)) {
    const behind = world.init.fills && learners.includes(member) ? keys.filter(key => known?.dirty.includes(key)) : keys
    send(world, node.id, member, { kind: 'tail', claim, rows: rowsOf(node, behind), claimer: from })
  }
  return true
}

const onTail: On<'tail'> = (world, node, { claim, rows, claimer }) => {
  for (const [key, version] of rows) put(node, key, version)
  node.expects = withMember(node.expects, claimName(claim))
  send(world, node.id, claimer, { kind: 'full', claim })
  return true
}

const onFull: On<'full'> = (world, node, { from, claim }) => {
  const { change } = node
  if (change?.phase !== 'tail' || change.proposal!.own === undefined || !sameClaim(change.proposal!.own, claim)) return false
  node.change = { ...change, proposal: world.rules.countTail(change.proposal!, from) }
  return sendAccept(world, node)
}

function sendAccept (world: World, node: Node): boolean {
  const { change } = node
  if (change?.phase !== 'tail') return false
  const request = world.rules.acceptRequest(change.proposal!)
  if (request === undefined) return true
  if (change.proposal!.parts.entries().some(({ value }) => value.accepted !== undefined)) world.adoptionsCount++
  node.change = { ...change, phase: 'accept' }
  for (const voter of selfFirst(votersOf(change.proposal!), node.id)) send(world, node.id, voter, { kind: 'accept', request })
  return true
}

const onAccept: On<'accept'> = (world, node, { from, request }) => {
  const step = world.rules.accept(node.registers, node.id, request)
  takeIn(world, node, step)
  for (const interval of step.reply.accepted) {
    for (const key of world.keysIn(interval)) {
      const { base, value } = request.proposals.find(proposed => world.keysIn(proposed.interval).includes(key))!
      world.oracle.accepted(node.id, key, base, request.ballot, value)
    }
  }
  send(world, node.id, from, { kind: 'accepted', reply: step.reply })
  return true
}

const onAccepted: On<'accepted'> = (world, node, { from, reply }) => {
  takeIn(world, node, world.rules.catchUp(node.registers, reply.held))
  node.counter = Math.max(node.counter, reply.above?.counter ?? 0)
  const { change } = node
  if (change?.phase !== 'accept' || !sameBallot(change.proposal!.ballot, reply.ballot)) return false
  const proposal = world.rules.countAccept(change.proposal!, from, reply)
  const { state, own, adopted, superseded } = world.rules.outcome(proposal)
  node.change = { ...change, proposal }
  if (state === 'waiting') return true
  node.change = undefined
  const pieces = [...own, ...adopted, ...superseded]
  for (const other of selfFirst(world.init.members, node.id)) send(world, node.id, other, { kind: 'decided', pieces })
  return true
}

/** Where nothing is held, only a claim that this store was filled for is taken: an old decision may be told again long after. */
const onDecided: On<'decided'> = (world, node, { pieces }) => {
  const expected: Piece[] = pieces.filter(({ claim }) => node.expects.includes(claimName(claim)))
  takeIn(world, node, world.rules.catchUp(node.registers, pieces))
  takeIn(world, node, world.rules.learn(node.registers, expected))
  return true
}

const onLease: On<'lease'> = (world, node, { from, keys, boot }) => {
  const granted = keys.flatMap(({ key, claim, ceiling }) => {
    const interval = world.span(key, key + 1)
    takeIn(world, node, world.rules.catchUp(node.registers, [{ interval, claim }]))
    const step = world.rules.raiseCeiling(node.registers, node.id, { interval, under: claim, ceiling })
    node.registers = step.registers
    if (step.raised.length === 0) return []
    const round = node.grantRounds[key]!
    node.grants = withAt(node.grants, key, { claim, round })
    return [{ key, claim, ceiling, round }]
  })
  if (granted.length > 0) send(world, node.id, from, { kind: 'grant', keys: granted, boot })
  return true
}

const onGrant: On<'grant'> = (world, node, { from, keys, boot }) => {
  if (boot !== node.boot) return false
  for (const { key, claim, ceiling, round } of keys) {
    const register = world.register(node, key)
    if (register === undefined || !sameClaim(register.claim, claim)) continue
    node.ceilings = withAt(node.ceilings, key, [...node.ceilings[key]!.filter(([member]) => member !== from), [from, ceiling]])
    // A grant that the member has ended meanwhile is over for the owner too: its time runs from the send.
    if (world.node(from).grantRounds[key] === round) node.heldFrom = withAt(node.heldFrom, key, withMember(node.heldFrom[key]!, from))
  }
  return true
}

const onWrite: On<'write'> = (world, node, { from, key, claim, version }) => {
  takeIn(world, node, world.rules.catchUp(node.registers, [{ interval: world.span(key, key + 1), claim }]))
  const register = world.register(node, key)
  if (register === undefined || !world.rules.mayWrite(register, node.id, claim)) return false
  put(node, key, version)
  send(world, node.id, from, { kind: 'written', key, version })
  return true
}

const onWritten: On<'written'> = (world, node, { from, key, version }) => {
  const write = node.writes[key]
  if (write?.version !== version) return false
  node.writes = withAt(node.writes, key, { ...write, flushedBy: withMember(write.flushedBy, from) })
  acknowledge(world, node, key)
  return true
}

/** The owner's own flush of the write that is under way. */
export function flush (world: World, node: Node, key: number): boolean {
  const write = node.writes[key]
  if (write === undefined || write.flushed) return false
  put(node, key, write.version)
  node.writes = withAt(node.writes, key, { ...write, flushed: true, flushedBy: withMember(write.flushedBy, node.id) })
  acknowledge(world, node, key)
  return true
}

/** A write is acknowledged when all members of the present claim have flushed it. */
export function acknowledge (world: World, node: Node, key: number): void {
  const write = node.writes[key]
  const claim = world.register(node, key)?.claim
  if (write === undefined || !write.flushed || claim?.owner !== node.id) return
  if (!claim.members.every(member => write.flushedBy.includes(member))) return
  node.writes = withAt(node.writes, key, undefined)
  node.synced = withAt(node.synced, key, true)
  if (write.client) world.oracle.acknowledge(key, write.version, write.above)
}

function rowsOf (node: Node, keys: readonly number[]): Array<readonly [number, number]> {
  return keys.map(key => [key, node.versions[key]!])
}

function withMember (members: readonly string[], member: string): readonly string[] {
  return members.includes(member) ? members : [...members, member].sort()
}

function selfFirst (members: readonly MemberId[], self: MemberId): MemberId[] {
  return [...members].sort((a, b) => Number(b === self) - Number(a === self))
}
