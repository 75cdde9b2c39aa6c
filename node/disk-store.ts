// A Store that has a disk, and how that disk is: what an operator is shown by /readyz, /v1/status and `isobar status`.

import type { Store } from '../overlay/store.ts'
import type { Space } from './disk-space.ts'

/** Can it write? `full`: no, for want of room; `failing`: no, and `reason` says why. It reads in any case, as far as it can. */
export interface StoreHealth {
  readonly state: 'ok' | 'full' | 'failing'
  /** One line with the remedy, unless it is ok. */
  readonly reason: string | undefined
  /** Undefined where the system does not tell. */
  readonly space: Space | undefined
}

export interface DiskStore extends Store {
  health (): Promise<StoreHealth>
}
