// Loaded by mocha before any test: what Node 20 lacks, and the seed of every random test, printed once.
import '../node/promise-with-resolvers.ts'
import fc from 'fast-check'

/** ISOBAR_SEED=n repeats a run; without it the seed is the same every time, so CI is reproducible. */
const seed = Number(process.env['ISOBAR_SEED'] ?? 42)
process.stdout.write(`seed ${seed}\n`)
fc.configureGlobal({ seed })
