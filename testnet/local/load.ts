// Fill a ring by POST /v1/objects:batch through several peers at once. Rows that a peer had no time for (503) are sent
// again after a while; a peer that is gone leaves its batch to the next. All other refusals are counted and shown.

import { setTimeout as sleep } from 'node:timers/promises'
import { Client, linesOfResponse } from '../../node/cli/client.ts'
import { Failure, exitCodes } from '../../node/cli/failure.ts'
import { batchRows, loadPeersMax, problemsShownMax, retriesMax, retryMsMin } from './init.ts'

export interface LoadInit {
  readonly rows: AsyncIterable<{ readonly key: string }>
  readonly collection: string
  /** Base URLs of the peers. */
  readonly rpcs: readonly string[]
  readonly signal: AbortSignal
  /** Told of rows that have been stored. */
  readonly onProgress: (rows: number) => void
}

export interface Loaded {
  stored: number
  failed: number
  /** The first refusals. */
  readonly problems: string[]
}

interface Result {
  readonly end?: object
  readonly line?: number
  readonly status?: number
  readonly detail?: string
}

/** @throws Failure when a batch found no peer that takes it; the reason of signal */
export async function load (init: LoadInit): Promise<Loaded> {
  const loaded: Loaded = { stored: 0, failed: 0, problems: [] }
  const batches = batchesOf(init.rows)
  const clients = init.rpcs.map(url => new Client({ url, token: undefined, found: 'the testnet' }))
  const writer = async (at: number): Promise<void> => {
    for (let batch = await batches.next(); batch.done !== true; batch = await batches.next()) await store(batch.value, clients, at, init, loaded)
  }
  await Promise.all(Array.from({ length: Math.min(loadPeersMax, clients.length) }, async (_, at) => { await writer(at) }))
  return loaded
}

async function * batchesOf (rows: LoadInit['rows']): AsyncGenerator<string[], undefined> {
  let batch: string[] = []
  for await (const row of rows) {
    if (batch.push(JSON.stringify(row)) < batchRows) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

async function store (batch: readonly string[], clients: readonly Client[], at: number, init: LoadInit, loaded: Loaded): Promise<void> {
  let left = batch
  let failure: unknown
  for (let round = 0; left.length > 0 && round <= retriesMax; round++) {
    if (round > 0) await sleep(retryMsMin * 2 ** (round - 1), undefined, { signal: init.signal })
    init.signal.throwIfAborted()
    const client = clients[(at + round) % clients.length] as Client
    try {
      left = await send(client, left, init, loaded)
    } catch (error) {
      failure = error
    }
  }
  if (left.length === 0) return
  throw failure ?? new Failure(exitCodes.failed, `${left.length} rows were refused ${retriesMax + 1} times because peers had no time; try fewer --peers`)
}

/** @returns the lines to be sent again */
async function send (client: Client, lines: readonly string[], { collection, onProgress }: LoadInit, loaded: Loaded): Promise<string[]> {
  const response = await client.call('/v1/objects:batch', {
    method: 'POST',
    query: { collection },
    headers: { 'content-type': 'application/x-ndjson' },
    body: lines.join('\n') + '\n'
  })
  const again: string[] = []
  let answered = 0
  for await (const text of linesOfResponse(response)) {
    const { end, line = 0, status = 500, detail = `status ${status}` } = JSON.parse(text) as Result
    // Not left here: an answer that is not read to its end costs its connection.
    if (end !== undefined) continue
    answered++
    if (status < 400) {
      loaded.stored++
      onProgress(1)
    } else if (status === 503) {
      again.push(lines[line - 1] as string)
    } else {
      loaded.failed++
      if (loaded.problems.length < problemsShownMax) loaded.problems.push(detail)
    }
  }
  // What was not answered may be stored or not; to store it again does no harm.
  return [...again, ...lines.slice(answered)]
}
