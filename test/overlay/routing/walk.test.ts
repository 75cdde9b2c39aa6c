// A walk against owners in a list, which may change between two steps.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { OwnerUnreachableError, TimeoutError } from '../../../overlay/errors.ts'
import type { Interval } from '../../../overlay/interval.ts'
import type { Asked, Target } from '../../../overlay/routing/routing.ts'
import { walk, type Direction } from '../../../overlay/routing/walk.ts'
import { ends, lineEnd, span, view } from '../views.ts'

interface Owner { readonly id: string, readonly from: number, readonly to: number, readonly isSilent?: boolean }

const ring = (...bounds: number[]): Owner[] => bounds.slice(0, -1).map((from, index) => ({ id: `n${index}`, from, to: bounds[index + 1]! }))

function ownerOf (owners: readonly Owner[], { key, below }: Target): Owner {
  // the walk down from the end of the line asks below a key above all others
  const at = key.length > 1 ? lineEnd : key[0] ?? 0
  return owners.find(({ from, to }) => below ? from < at && at <= to : from <= at && at < to)!
}

type Told = [string, number, number]

/** Walk; `between` may change the owners after each step. */
async function course (given: readonly Owner[], interval: Interval, direction: Direction, between: (owners: readonly Owner[], step: number) => readonly Owner[] = owners => owners): Promise<Told[]> {
  let owners = given
  const steps: Told[] = []
  const ask = async (target: Target): Promise<Asked<string>> => {
    const owner = ownerOf(owners, target)
    const held = span(owner.from, owner.to)
    if (owner.isSilent === true) throw new OwnerUnreachableError('silent', { interval: held, ownerId: owner.id, definite: true })
    return { answer: owner.id, interval: held, owner: view(owner.id, 0, 1).owner }
  }
  for await (const step of walk(interval, direction, ask)) {
    if (step.kind === 'owner') steps.push([step.asked.answer, ...ends(step.covered)])
    else steps.push([`missing ${step.error.ownerId}`, ...ends(step.interval)])
    owners = between(owners, steps.length)
    assert(steps.length <= lineEnd)
  }
  return steps
}

describe('a walk', () => {
  const owners = ring(0, 40, 80, lineEnd)

  it('visits the owners of an interval in order, clipped to it', async () => {
    assert.deepEqual(await course(owners, span(10, 90), 'up'), [['n0', 10, 40], ['n1', 40, 80], ['n2', 80, 90]])
    assert.deepEqual(await course(owners, span(10, 90), 'down'), [['n2', 80, 90], ['n1', 40, 80], ['n0', 10, 40]])
    assert.deepEqual(await course(owners, span(0, lineEnd), 'up'), [['n0', 0, 40], ['n1', 40, 80], ['n2', 80, lineEnd]])
    assert.deepEqual(await course(owners, span(0, lineEnd), 'down'), [['n2', 80, lineEnd], ['n1', 40, 80], ['n0', 0, 40]])
  })

  it('visits nobody for no keys, and one for an interval that ends at its boundary', async () => {
    assert.deepEqual(await course(owners, span(50, 50), 'up'), [])
    assert.deepEqual(await course(owners, span(40, 80), 'up'), [['n1', 40, 80]])
    assert.deepEqual(await course(owners, span(40, 80), 'down'), [['n1', 40, 80]])
  })

  it('names what nobody answers for and steps over it, also at both ends', async () => {
    const silent = (...which: number[]): Owner[] => owners.map((owner, index) => ({ ...owner, isSilent: which.includes(index) }))
    assert.deepEqual(await course(silent(1), span(10, 90), 'up'), [['n0', 10, 40], ['missing n1', 40, 80], ['n2', 80, 90]])
    assert.deepEqual(await course(silent(1), span(10, 90), 'down'), [['n2', 80, 90], ['missing n1', 40, 80], ['n0', 10, 40]])
    assert.deepEqual(await course(silent(0, 2), span(10, lineEnd), 'up'), [['missing n0', 10, 40], ['n1', 40, 80], ['missing n2', 80, lineEnd]])
    assert.deepEqual(await course(silent(0, 2), span(0, lineEnd), 'down'), [['missing n2', 80, lineEnd], ['n1', 40, 80], ['missing n0', 0, 40]])
  })

  it('goes on by key when a boundary moves under it', async () => {
    // after the first step n1's lower half goes to n0, or n0's upper half to n1
    const shrunk = ring(0, 60, 80, lineEnd)
    const grown = ring(0, 20, 80, lineEnd)
    assert.deepEqual(await course(owners, span(0, 100), 'up', () => shrunk), [['n0', 0, 40], ['n0', 40, 60], ['n1', 60, 80], ['n2', 80, 100]])
    assert.deepEqual(await course(owners, span(0, 100), 'up', () => grown), [['n0', 0, 40], ['n1', 40, 80], ['n2', 80, 100]])
    assert.deepEqual(await course(owners, span(0, 100), 'down', (now, step) => step < 2 ? now : grown), [['n2', 80, 100], ['n1', 40, 80], ['n1', 20, 40], ['n0', 0, 20]])
  })

  it('covers each key once in order, whatever changes hands between its steps', async () => {
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: 255 }), { maxLength: 8 }).map(list => list.sort((a, b) => a - b))
    const scenario = fc.record({ from: fc.nat(254), length: fc.integer({ min: 1, max: 255 }), isUp: fc.boolean(), rings: fc.array(cuts, { minLength: 1, maxLength: 6 }) })
    await fc.assert(fc.asyncProperty(scenario, async ({ from, length, isUp, rings }) => {
      const to = Math.min(from + length, lineEnd)
      const at = (step: number): Owner[] => ring(0, ...rings[step % rings.length]!, lineEnd)
      const steps = await course(at(0), span(from, to), isUp ? 'up' : 'down', (_, step) => at(step))
      const ordered = isUp ? steps : [...steps].reverse()
      assert.deepEqual([ordered[0]![1], ordered.at(-1)![2]], [from, to])
      ordered.forEach(([, low, high], index) => {
        assert(low < high)
        if (index > 0) assert.equal(low, ordered[index - 1]![2])
      })
    }), { numRuns: 300 })
  })

  it('throws what is not about a silent owner', async () => {
    const steps = walk(span(0, 9), 'up', async () => { throw new TimeoutError('late') })
    await assert.rejects(steps.next(), { name: 'TimeoutError' })
  })
})
