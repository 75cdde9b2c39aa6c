// What a benchmark is: a seeded run that says its setup and gives rows of figures. testnet/bench/main.ts prints them.

export interface BenchOptions {
  /** End within 20 s, with fewer rounds. */
  readonly quick: boolean
  /** Told what is being measured; goes to stderr. */
  readonly progress: (line: string) => void
}

export interface BenchResult {
  /** Seeds, sizes and other settings that the figures rest on. */
  readonly setup: Readonly<Record<string, unknown>>
  readonly rows: ReadonlyArray<Readonly<Record<string, unknown>>>
}

export interface Bench {
  run (options: BenchOptions): Promise<BenchResult>
}
