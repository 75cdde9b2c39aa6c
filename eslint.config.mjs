// The house style (neostandard) and the two walls of the design: the arrows between folders, and the fence around protocol code.
import neostandard from 'neostandard'

const order = ['overlay', 'storage', 'balancing', 'node', 'testnet', 'test']

/** A folder may import any folder to its left. */
const arrows = order.slice(0, -1).map((folder, index) => ({
  files: [`${folder}/**/*.ts`],
  rules: {
    'no-restricted-imports': ['error', {
      patterns: [
        { group: order.slice(index + 1).map(later => `**/../${later}/**`), message: `${folder}/ may only import folders to its left: ${order.join(' <- ')}` },
        ...(index < 3 ? [{ group: ['node:*', '@libp2p/*', 'libp2p', 'classic-level', 'fastify'], message: 'protocol code reaches the outside by overlay/host.ts and overlay/store.ts only' }] : [])
      ]
    }]
  }
}))

const fence = {
  files: ['overlay/**/*.ts', 'storage/**/*.ts', 'balancing/**/*.ts'],
  rules: {
    'no-restricted-globals': ['error', 'Date', 'performance', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'process', 'crypto', 'Buffer'],
    'no-restricted-properties': ['error',
      { object: 'Math', property: 'random', message: 'use Host.random()' },
      { object: 'AbortSignal', property: 'timeout', message: 'use Host.deadline()' },
      { property: 'localeCompare', message: 'order is byte order' }]
  }
}

export default [
  ...neostandard({ ts: true, ignores: ['dist/**', 'node_modules/**', 'overlay/wire/*.ts', 'storage/wire/storage.ts', 'node/wire/node.ts'] }),
  ...arrows,
  fence,
  { rules: { '@stylistic/max-len': 'off', 'no-labels': 'off', 'no-void': ['error', { allowAsStatement: true }], 'no-unmodified-loop-condition': 'off' } }
]
