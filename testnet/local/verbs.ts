// What a second terminal can have a running testnet do; the other end is remote.ts.

import { Failure, exitCodes } from '../../node/cli/failure.ts'
import type { Verbs } from './control.ts'
import { ringOf, type RingFields } from './peer-fields.ts'
import type { PeerProcess } from './peer-process.ts'
import type { Testnet } from './testnet.ts'

export interface ProcessFields {
  readonly number: number
  readonly pid: number
  readonly rpc: string
  readonly running: boolean
  readonly dataDir: string
}

export interface PsAnswer {
  readonly processes: readonly ProcessFields[]
  /** Null when no peer answers. */
  readonly ring: RingFields | null
}

export function verbsOf (testnet: Testnet, down: () => void): Verbs {
  return {
    ps: async (): Promise<PsAnswer> => ({ processes: testnet.peers.map(fieldsOf), ring: await ringOf(testnet.peers) ?? null }),
    add: async () => fieldsOf(await testnet.add()),
    start: async ({ number }) => fieldsOf(await testnet.startAgain(numberOf(number))),
    kill: async ({ number, force }) => fieldsOf(await testnet.kill(numberOf(number), force === true ? 'SIGKILL' : 'SIGTERM')),
    down: async () => {
      setImmediate(down)
      return {}
    }
  }
}

function fieldsOf (peer: PeerProcess): ProcessFields {
  return { number: peer.init.number, pid: peer.pid, rpc: peer.rpc, running: peer.exit === undefined, dataDir: peer.init.dataDir }
}

function numberOf (value: unknown): number {
  if (typeof value !== 'number') throw new Failure(exitCodes.usage, 'which peer? give its number')
  return value
}
