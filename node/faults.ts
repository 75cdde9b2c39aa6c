// Which errors that nobody caught end the daemon: those that show a fault of this program. A stream that closes at the
// moment of a send, and a store that cannot be read at the moment, are faults of what is around it; whoever waits for
// the outcome is told elsewhere, or comes again by a timer.

import { BusyError, StoreError, StoreFullError } from '../overlay/errors.ts'
import type { Logger } from '../overlay/host.ts'
import { isStreamStateFault } from './libp2p-host.ts'
import { LimitedLog } from './limited-log.ts'

export function kindOfFault (error: unknown): 'stream' | 'store' | 'own' {
  // libp2p rejects with the event of the close itself where it waits for another.
  if (isStreamStateFault(error) || (error instanceof Event && error.type === 'close')) return 'stream'
  if (error instanceof StoreError || error instanceof StoreFullError || error instanceof BusyError) return 'store'
  return 'own'
}

/** @returns what takes it back */
export function surviveOutsideFaults (log: Logger): () => void {
  const limited = new LimitedLog(log)
  const onFault = (error: unknown): void => {
    switch (kindOfFault(error)) {
      case 'stream':
        log.debug({ area: 'net', error }, 'a stream closed under a send')
        break
      case 'store':
        limited.error('store', { area: 'store', error }, 'the store could not be read or written; what wanted to tries again')
        break
      case 'own':
        log.error({ area: 'fault', error }, 'this program met a fault of its own and ends')
        process.exit(1)
    }
  }
  process.on('uncaughtException', onFault)
  process.on('unhandledRejection', onFault)
  return () => {
    process.off('uncaughtException', onFault)
    process.off('unhandledRejection', onFault)
  }
}
