// Lines of a text that may be larger than memory, with their numbers; blank ones are left out.

import { objectCharactersMax, type FilePart } from './json-objects.ts'

/**
 * @param chunks - text, cut anywhere
 * @throws SyntaxError for a line without end
 */
export async function * textLines (chunks: AsyncIterable<string>): AsyncGenerator<FilePart> {
  let rest = ''
  let line = 0
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const text of lines) {
      line++
      if (text.trim() !== '') yield { text, line }
    }
    if (rest.length > objectCharactersMax) throw new SyntaxError(`line ${line + 1}: it is longer than ${objectCharactersMax} characters`)
  }
  if (rest.trim() !== '') yield { text: rest, line: line + 1 }
}
