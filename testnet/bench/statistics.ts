// The few statistics of benchmarks. Medians, because other programs on the machine make some rounds slow, never fast.

export function median (values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export function rounded (value: number, digits: number): number {
  return Number(value.toFixed(digits))
}

/** The least value that `percent` of the values do not exceed (nearest rank). */
export function percentile (values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(percent / 100 * sorted.length) - 1)]!
}
