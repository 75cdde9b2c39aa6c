// `npm run testnet|bench|simulate`: install what is missing, build what is stale, then run that program with the rest of
// the arguments. It needs no package itself. The program is a child in our process group: on a terminal Ctrl-C reaches
// it by itself and by us, and the testnet takes signals so close together for one. When we are gone, it ends too.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const programs = ['testnet', 'bench', 'simulate']
/** Exit code of a process that a signal ended, as shells give it. */
const signalBase = 128
const signalNumbers = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }
/** Between looks whether npm, which started us, is still there (guess). */
const parentLookMs = 500

const [program, ...args] = process.argv.slice(2)
if (!programs.includes(program)) fail(`expected ${programs.join(', ')}; got ${program ?? 'nothing'}`, 2)
if (!isInstalled()) {
  say('installing packages (npm ci)…')
  const { status, error } = spawnSync('npm', ['ci', '--no-fund', '--no-audit', '--loglevel=error'], { cwd: root, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' })
  if (status !== 0) fail(`npm ci failed${error === undefined ? '' : ` (${error.message})`}; run it by itself to see why`, 1)
}
const { buildAll, isFresh } = await import('./build.mjs')
if (!isFresh()) {
  say('building dist/…')
  await buildAll()
}
const file = join(root, 'dist', `${program}.js`)
if (!existsSync(file)) fail(`there is no program ${program} in this version`, 1)
process.exitCode = await run(file, args)

/** Every package that package.json names is there, and no lock file has come since they were installed. */
function isInstalled () {
  const modules = join(root, 'node_modules')
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const names = Object.keys({ ...dependencies, ...devDependencies })
  if (!names.every(name => existsSync(join(modules, name, 'package.json')))) return false
  const installed = statSync(join(modules, '.package-lock.json'), { throwIfNoEntry: false })
  return installed !== undefined && (isSameLock(modules) || statSync(join(root, 'package-lock.json')).mtimeMs <= installed.mtimeMs)
}

/** A lock file that was only touched, by a checkout, asks for nothing new. */
function isSameLock (modules) {
  const packagesOf = path => JSON.parse(readFileSync(path, 'utf8')).packages
  const wanted = packagesOf(join(root, 'package-lock.json'))
  const found = packagesOf(join(modules, '.package-lock.json'))
  return Object.entries(wanted).every(([path, { version, optional }]) => path === '' || optional === true || found[path]?.version === version)
}

async function run (file, args) {
  const child = spawn(process.execPath, [file, ...args], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  const asked = new Set()
  const forward = signal => {
    // The second of a kind is a person who insists; on a terminal it reaches the child by itself.
    if (!asked.has(signal) || !process.stdin.isTTY) child.kill(signal)
    asked.add(signal)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, forward)
  const parent = process.ppid
  // A shell between npm and us may die of a signal without passing it on.
  const timer = process.env.npm_lifecycle_event === undefined ? undefined : setInterval(() => { if (process.ppid !== parent) child.kill('SIGTERM') }, parentLookMs)
  const { code, signal } = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => { resolve({ code, signal }) })
  })
  clearInterval(timer)
  return code ?? signalBase + (signalNumbers[signal] ?? 0)
}

function say (text) {
  process.stderr.write(`isobar: ${text}\n`)
}

function fail (text, code) {
  say(text)
  process.exit(code)
}
