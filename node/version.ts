// The version of this program, from its package.json; the bundle carries the text within.

import manifest from '../package.json' with { type: 'json' }

export const version: string = manifest.version
