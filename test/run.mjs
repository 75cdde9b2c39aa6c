// `npm test`: install what is missing, then typecheck, lint and mocha, each with its output shown; the first failure ends it.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

function run (command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

if (!existsSync(join(root, 'node_modules', 'mocha'))) run('npm', ['ci', '--no-fund', '--no-audit', '--loglevel=error'])
const bin = name => join(root, 'node_modules', '.bin', name)
/** Files to test and other options of mocha; all tests by default. */
const mochaArgs = process.argv.length > 2 ? process.argv.slice(2) : ['test/**/*.test.ts']
run(bin('tsc'), ['--noEmit'])
run(bin('eslint'), ['.'])
run(process.execPath, [join(root, 'node_modules', 'mocha', 'bin', 'mocha.js'), ...mochaArgs])
