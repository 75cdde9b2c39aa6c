// The objects of a JSON text that may be larger than memory: the Features of a FeatureCollection one by one, those of a
// list, or objects that follow each other (lines, or the record-separated texts of RFC 8142). It finds where an object begins and ends,
// and leaves the rest to JSON.parse.

/** Characters of one object. A guess: a Feature with a large polygon has a few MiB. */
const objectCharactersMax = 64 << 20

/**
 * @param chunks - text, cut anywhere
 * @param within - 'features': those in "features" of an object are meant, not that object
 * @returns each object's text, in order
 * @throws SyntaxError for an object without end
 */
export async function * jsonObjects (chunks: AsyncIterable<string>, within: 'features' | 'top'): AsyncGenerator<string> {
  const scanner = new Scanner(within)
  for await (const chunk of chunks) yield * scanner.take(chunk)
  scanner.end()
}

class Scanner {
  /** Open brackets. An object at depth 0 is one of ours, unless it turns out to hold them in "features". */
  #depth = 0
  /** Depth at which our objects begin: 0, 1 within a list, 2 within {"features": [; -1 behind that. */
  #base = 0
  #inString = false
  #escaped = false
  /** Text of the object so far, or of the collection's head. */
  #text = ''

  constructor (private readonly within: 'features' | 'top') {}

  /** The objects that end in chunk. */
  take (chunk: string): string[] {
    const objects: string[] = []
    let from = 0
    for (let at = 0; at < chunk.length; at++) {
      const character = chunk[at]
      if (this.#inString) {
        this.#string(character)
        continue
      }
      switch (character) {
        case '"': this.#inString = true; break
        case '{': case '[':
          if (this.#depth === this.#base) from = this.#restart(at)
          if (character === '[') this.#openList(chunk, from, at)
          this.#depth++
          break
        case '}': case ']':
          this.#depth--
          if (this.#depth === this.#base && character === '}') {
            objects.push(this.#text + chunk.slice(from, at + 1))
            from = this.#restart(at + 1)
          } else if (this.#depth < this.#base) {
            this.#base = this.#base === 1 ? 0 : -1
            from = this.#restart(at + 1)
          }
      }
    }
    this.#text = this.#base >= 0 ? this.#text + chunk.slice(from) : ''
    if (this.#text.length > objectCharactersMax) throw new SyntaxError(`an object is longer than ${objectCharactersMax} characters`)
    return objects
  }

  end (): void {
    if (this.#depth > 0) throw new SyntaxError('the file ends within an object; is it cut off?')
  }

  #string (character: string | undefined): void {
    if (this.#escaped) this.#escaped = false
    else if (character === '\\') this.#escaped = true
    else if (character === '"') this.#inString = false
  }

  #restart (at: number): number {
    this.#text = ''
    return at
  }

  /** Does our list begin here? chunk.slice(from, at) is the rest of the text before it. */
  #openList (chunk: string, from: number, at: number): void {
    if (this.#base !== 0) return
    if (this.#depth === 0) this.#base = 1
    else if (this.#depth === 1 && this.within === 'features' && /"features"\s*:\s*$/.test(this.#text + chunk.slice(from, at))) this.#base = 2
  }
}
