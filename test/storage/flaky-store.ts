// A store in memory that can be made full.

import { StoreFullError } from '../../overlay/errors.ts'
import type { Operation } from '../../overlay/store.ts'
import { MemoryStore } from '../../storage/memory-store.ts'

export class FlakyStore extends MemoryStore {
  isFull = false

  override async batch (operations: readonly Operation[]): Promise<void> {
    if (this.isFull) throw new StoreFullError('full')
    await super.batch(operations)
  }
}
