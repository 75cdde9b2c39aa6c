// What simulations draw from a random stream: integers, choices, and the distributions of waiting times.

import assert from 'node:assert/strict'
import type { Random } from './random.ts'

/** Uniform in [low, high). */
export function between (random: Random, low: number, high: number): number {
  return low + (high - low) * random.next()
}

/** Uniform integer in [low, high], both included. */
export function integer (random: Random, low: number, high: number): number {
  assert(low <= high, `there is no integer from ${low} to ${high}`)
  return low + Math.floor(random.next() * (high - low + 1))
}

export function chance (random: Random, share: number): boolean {
  return random.next() < share
}

export function pick<T> (random: Random, items: readonly T[]): T {
  assert(items.length > 0, 'nothing to pick from')
  return items[Math.floor(random.next() * items.length)]!
}

/** One of the names, each as likely as its weight says. */
export function pickWeighted<Name extends string> (random: Random, weights: Readonly<Record<Name, number>>): Name {
  const entries = Object.entries<number>(weights) as Array<[Name, number]>
  let left = random.next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [name, weight] of entries) {
    left -= weight
    if (left < 0) return name
  }
  return entries.at(-1)![0]
}

/** The same items in another order (Fisher and Yates, in Durstenfeld's form, 1964). */
export function shuffled<T> (random: Random, items: readonly T[]): T[] {
  const order = [...items]
  for (let last = order.length - 1; last > 0; last--) {
    const other = integer(random, 0, last)
    const kept = order[last]!
    order[last] = order[other]!
    order[other] = kept
  }
  return order
}

/** A time between events that happen at a steady rate. */
export function exponential (random: Random, mean: number): number {
  return -Math.log(1 - random.next()) * mean
}

/** Many short times and a few very long ones: Pareto's distribution with this mean, cut at 100 means. @param shape - above 1; the nearer to 1, the heavier the tail */
export function pareto (random: Random, mean: number, shape: number): number {
  assert(shape > 1, `a Pareto distribution has a mean only for a shape above 1, not ${shape}`)
  const scale = mean * (shape - 1) / shape
  return Math.min(scale / (1 - random.next()) ** (1 / shape), 100 * mean)
}
