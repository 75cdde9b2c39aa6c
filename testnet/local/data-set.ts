// The sets that a testnet can be filled with: their rows, the collection they go into, and queries over each whose right
// answers were counted by brute force over the files that testnet/data/SOURCES.md names.

import { cities } from '../data/cities.ts'
import { quakes } from '../data/quakes.ts'
import type { LocatedRow, OrderedRow } from '../data/row.ts'
import { words } from '../data/words.ts'

export interface ExampleQuery {
  /** What is asked, for people. */
  readonly what: string
  /** Words of the command line behind `isobar`, without --rpc. */
  readonly command: readonly string[]
  /** The same by HTTP. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly expected: number
  /** The number in what the command writes, and in the answer by HTTP. */
  readonly inOutput: (stdout: string) => number
  readonly inAnswer: (answer: { count?: number, returned?: number }) => number
}

export interface DataSet {
  /** As it is called in prose: "1,707 earthquakes". */
  readonly noun: string
  readonly rowsCount: number
  readonly collection: 'kv' | 'places'
  rows (): AsyncIterable<LocatedRow | OrderedRow>
  readonly examples: readonly ExampleQuery[]
}

export const dataSets: Readonly<Record<string, DataSet>> = {
  quakes: {
    noun: 'earthquakes',
    rowsCount: 1_707,
    collection: 'places',
    rows: () => quakes(),
    examples: [
      find('earthquakes of the Aleutians, on both sides of the antimeridian', '165,50,-165,60', undefined, 8),
      find('those around Aguanga, California', '-125,32,-114,42', 'aguanga', 122)
    ]
  },
  cities: {
    noun: 'cities',
    rowsCount: 135_233,
    collection: 'places',
    rows: () => cities(),
    examples: [
      find('cities around Fiji, on both sides of the antimeridian', '176,-20,-170,-12', undefined, 48),
      find('cities of the whole world', '-180,-90,180,90', undefined, 135_233)
    ]
  },
  words: {
    noun: 'words',
    rowsCount: 274_937,
    collection: 'kv',
    rows: () => words(),
    examples: [
      range('words that begin with x', 'x', 306),
      range('words that begin with zebra', 'zebra', 11)
    ]
  }
}

function find (what: string, bbox: string, word: string | undefined, expected: number): ExampleQuery {
  const words = word === undefined ? {} : { words: word }
  return {
    what,
    command: ['find', '--bbox', bbox, ...(word === undefined ? [] : ['--words', word]), '--count'],
    path: '/v1/find',
    query: { bbox, ...words, count: 'true' },
    expected,
    inOutput: stdout => Number(stdout.trim()),
    inAnswer: ({ count }) => count ?? NaN
  }
}

function range (what: string, prefix: string, expected: number): ExampleQuery {
  return {
    what,
    command: ['range', '--prefix', prefix, '--keys-only', '-o', 'ndjson'],
    path: '/v1/range',
    query: { prefix, keysOnly: 'true' },
    expected,
    inOutput: stdout => stdout.split('\n').filter(line => line.startsWith('{"key":')).length,
    inAnswer: ({ returned }) => returned ?? NaN
  }
}
