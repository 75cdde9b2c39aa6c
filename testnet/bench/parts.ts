// The parts of benchmarks that run in processes of their own, by name, each loaded only where it runs.

import type { Tasks } from './part.ts'

export const parts: Readonly<Record<string, () => Promise<Tasks>>> = {
  load: async () => (await import('./parts/load.ts')).tasks,
  handler: async () => (await import('./parts/handler.ts')).tasks,
  scan: async () => (await import('./parts/scan.ts')).tasks,
  stream: async () => (await import('./parts/stream.ts')).tasks
}
