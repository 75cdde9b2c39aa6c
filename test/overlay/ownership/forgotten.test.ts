// A small story told step by step, as no search of bearable size comes upon it: b decides a's claim to b, passes the
// key on to c and forgets it; a, which heard of nothing, finds the accepted value, decides it again and tells b. When b
// takes that old decision as news, it has no memory of its own promise and lets a second successor of it be decided.

import assert from 'node:assert/strict'
import { handle } from '../../../testnet/simulator/search/handle.ts'
import { Violation } from '../../../testnet/simulator/search/oracle.ts'
import { goodHabits, ownershipRules } from '../../../testnet/simulator/search/rules.ts'
import { beginChange, forget } from '../../../testnet/simulator/search/steps.ts'
import { World } from '../../../testnet/simulator/search/world.ts'
import type { Rules } from '../../../testnet/simulator/search/rules.ts'
import type { Message } from '../../../testnet/simulator/search/world.ts'

/** Bring all messages, in the order in which they were sent, but for those that keep a in the dark. */
function deliverAll (world: World, lost: (message: Message) => boolean): void {
  for (let message = world.messages[0]; message !== undefined; message = world.messages[0]) {
    world.messages = world.messages.slice(1)
    if (!lost(message)) handle(world, message)
  }
}

function tell (rules: Rules): World {
  const first = [{ from: 0, epoch: 1, owner: 'a', members: ['a'] }]
  const world = new World({ members: ['a', 'b', 'c'], keysCount: 1, first, leases: false, fills: false, clocks: undefined, messagesStay: false }, rules, goodHabits)
  function change (by: string, owner: string, source: string, lost: (message: Message) => boolean): void {
    assert.ok(beginChange(world, world.node(by), { from: 0, to: 1, owner, members: [owner] }, source))
    deliverAll(world, lost)
  }
  function toldToA (message: Message): boolean {
    return message.kind === 'decided' && message.to === 'a'
  }
  change('b', 'b', 'a', toldToA)
  change('b', 'c', 'b', toldToA)
  assert.ok(forget(world, world.node('b'), 0))
  change('a', 'a', 'a', () => false) // refused by the ballot that a itself had promised to b
  change('a', 'a', 'a', () => false) // adopts what a had accepted: owner b
  change('a', 'a', world.register(world.node('a'), 0)!.claim.owner, () => false)
  return world
}

describe('a store that has forgotten a claim', () => {
  it('does not take it from an old decision that is told again', () => {
    const world = tell(ownershipRules)
    assert.equal(world.register(world.node('b'), 0), undefined)
    assert.equal(world.oracle.newest[0]!.owner, 'c')
  })

  it('would let two successors be decided if it did', () => {
    assert.throws(() => tell({ ...ownershipRules, catchUp: ownershipRules.learn }), new Violation('two successors decided for one base'))
  })
})
