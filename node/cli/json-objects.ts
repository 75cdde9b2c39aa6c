// The objects of a JSON text that may be larger than memory: the Features of a FeatureCollection one by one, those of a
// list, or objects that follow each other (also with the record separators of RFC 8142). It finds where an object begins
// and ends, and leaves what is within to JSON.parse. Outside of objects only white space, commas, the brackets of a list
// and the collection around Features may stand; all else is an error with its line, so nothing is passed over in silence.

/** A part of a file and the line that it begins on, from 1. */
export interface FilePart {
  readonly text: string
  readonly line: number
}

/** Characters of one object. A guess: a Feature with a large polygon has a few MiB. */
export const objectCharactersMax = 64 << 20
/** Characters that a message shows of what it complains about. */
const shownCharactersMax = 40

/**
 * @param chunks - text, cut anywhere
 * @returns each object, in order
 * @throws SyntaxError with the line of what is no object, and for what has no end
 */
export async function * jsonObjects (chunks: AsyncIterable<string>): AsyncGenerator<FilePart> {
  const scanner = new Scanner()
  for await (const chunk of chunks) yield * scanner.take(chunk)
  scanner.end()
}

/** What stands in a line, for a message about it. */
export function shownText (text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? ''
  return JSON.stringify(line.length > shownCharactersMax ? `${line.slice(0, shownCharactersMax)}…` : line)
}

/** What an object stands in, `collection` being the part of a FeatureCollection behind its Features. */
type Around = 'text' | 'list' | 'features' | 'collection'

class Scanner {
  #line = 1
  #around: Around = 'text'
  /** What must close the open brackets of an object, the innermost last; empty outside of objects. */
  readonly #closers: string[] = []
  #inString = false
  #escaped = false
  /** Of the object so far. */
  #text = ''
  /** Line on which the object began. */
  #objectLine = 1
  /** Line on which the list or the collection began. */
  #aroundLine = 1
  /** Text of the collection before its Features. */
  #collection = ''

  end (): void {
    if (this.#closers.length > 0) throw fault(this.#objectLine, 'the file ends within the object that begins here; is it cut off?')
    if (this.#around !== 'text') throw fault(this.#aroundLine, 'the file ends within the list that begins here; is it cut off?')
  }

  /** The objects that end in chunk. */
  * take (chunk: string): Generator<FilePart> {
    let from = 0
    for (let at = 0; at < chunk.length; at++) {
      const character = chunk[at] as string
      if (this.#closers.length === 0) {
        if (this.#begins(character, chunk, at)) from = at
      } else if (this.#inString) {
        this.#string(character)
      } else if (character === '"') {
        this.#inString = true
      } else if (character === '{' || character === '[') {
        this.#open(character, chunk.slice(from, at))
      } else if (character === '}' || character === ']') {
        this.#close(character)
        if (this.#closers.length === 0) yield * this.#whole(chunk.slice(from, at + 1))
      }
      if (character === '\n') this.#line++
    }
    if (this.#closers.length > 0) this.#text += chunk.slice(from)
    if (this.#text.length > objectCharactersMax) throw fault(this.#objectLine, `an object is longer than ${objectCharactersMax} characters`)
  }

  /** Outside of objects. @returns does one begin here, or a collection go on behind its Features? */
  #begins (character: string, chunk: string, at: number): boolean {
    switch (character) {
      case ' ': case '\t': case '\r': case '\n': case '\x1e': case ',':
        return false
      case '{':
        this.#text = ''
        this.#objectLine = this.#line
        this.#closers.push('}')
        return true
      case '[':
        if (this.#around !== 'text') break
        this.#around = 'list'
        this.#aroundLine = this.#line
        return false
      case ']':
        if (this.#around === 'list') {
          this.#around = 'text'
          return false
        }
        if (this.#around !== 'features') break
        this.#around = 'collection'
        this.#objectLine = this.#aroundLine
        this.#text = `${this.#collection}[`
        this.#closers.push('}')
        return true
    }
    throw fault(this.#line, `expected an object, found ${shownText(chunk.slice(at, at + 2 * shownCharactersMax))}`)
  }

  /** @param before - what this chunk holds of the object before the bracket */
  #open (bracket: '{' | '[', before: string): void {
    if (bracket === '[' && this.#around === 'text' && this.#closers.length === 1) {
      const text = this.#text + before
      if (/(?<!\\)"features"\s*:\s*$/.test(text)) {
        this.#collection = text
        this.#text = ''
        this.#closers.length = 0
        this.#around = 'features'
        this.#aroundLine = this.#objectLine
        return
      }
    }
    this.#closers.push(bracket === '{' ? '}' : ']')
  }

  #close (bracket: string): void {
    const expected = this.#closers.pop()
    if (bracket !== expected) throw fault(this.#line, `expected ${expected}, found ${bracket}`)
  }

  #string (character: string): void {
    if (this.#escaped) this.#escaped = false
    else if (character === '\\') this.#escaped = true
    else if (character === '"') this.#inString = false
    else if (character === '\n') throw fault(this.#line, 'a text has no closing quote; a line break within a text is written \\n')
  }

  /** @param rest - what this chunk holds of the object */
  * #whole (rest: string): Generator<FilePart> {
    const text = this.#text + rest
    this.#text = ''
    if (this.#around !== 'collection') {
      yield { text, line: this.#objectLine }
      return
    }
    this.#around = 'text'
    if (!isFeatureCollection(text)) throw fault(this.#objectLine, 'the object around "features" is no FeatureCollection')
  }
}

/** @param text - without the Features */
function isFeatureCollection (text: string): boolean {
  try {
    return (JSON.parse(text) as { type?: unknown }).type === 'FeatureCollection'
  } catch {
    return false
  }
}

function fault (line: number, what: string): SyntaxError {
  return new SyntaxError(`line ${line}: ${what}`)
}
