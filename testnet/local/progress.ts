// A progress bar on stderr, for people on a terminal; nothing elsewhere.

import { SingleBar } from 'cli-progress'

export interface Progress {
  increment (by: number): void
  stop (): void
}

export function createProgress (text: string, total: number): Progress {
  if (!process.stderr.isTTY) return { increment: () => {}, stop: () => {} }
  const bar = new SingleBar({ format: `${text} {bar} {value}/{total}`, stream: process.stderr, clearOnComplete: true, hideCursor: true, gracefulExit: false })
  bar.start(total, 0)
  return { increment: by => { bar.increment(by) }, stop: () => { bar.stop() } }
}
