// The programs as users have them: dist/, built once where a source is younger.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))
/** For hooks that build or start several daemons on a machine that has much else to do. */
export const slowMs = 120_000

/** For a `before` hook. */
export function build (): void {
  const { status, stderr } = spawnSync(process.execPath, ['testnet/build.mjs', '--if-stale'], { cwd: root, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
}
