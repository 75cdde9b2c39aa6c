// The word rule: the one way in which text turns into words, the same for objects and for queries, so that neither a
// composed accent, nor letter case, nor full-width letters keep the two apart. No platform segmenter takes part, because
// its dictionaries differ between machines; scripts that write without spaces give single characters and overlapping pairs.
// The rule has a number, because two nodes may compare words only if both made them alike. What can still differ is
// the Unicode version of the JavaScript engine (its letters, case pairs and decompositions), so that version travels beside the
// number, from node/; where either is unequal, words are made anew from the text. Any change below, even to a bound, is a new number.
// Only \p{} classes of that engine are used, and Script, not Script_Extensions, whose lists for marks change every few years.
// It does not stem, drop accents, or guess at dictionary words; and keys never go through it.
import { fromString } from 'uint8arrays/from-string'

/** Number of the rule in this file. Words made under another number are not comparable. */
export const wordRule = 1
/** Distinct words of one object. A guess: a page of prose has about 300, a page of Thai about 2,000. */
export const objectWordsMax = 4096
/** Distinct words of one query, all its keywords together. A guess: 30 characters of Japanese give 29 pairs. */
export const queryWordsMax = 64
/** Bytes of one word in UTF-8. A guess: room for a sentence in scripts without spaces that the rule does not name (Javanese). */
export const wordBytesMax = 512
/** UTF-16 units of a refused value that an error message shows. A guess. */
const shownUnitsMax = 60

/** A keyword or text that the word rule refuses. Nothing was stored or asked: correct the field and try again. */
export class InvalidWordError extends Error {
  override name = 'InvalidWordError'
  readonly definite = true

  /**
   * @param field - the name under which the user gave the value
   * @param value - the refused keyword, word or text
   * @param reason - what is wrong and what was expected
   */
  constructor (readonly field: string, readonly value: string, reason: string) {
    const shown = value.length > shownUnitsMax ? `${value.slice(0, shownUnitsMax)}…` : value
    super(`${field}: ${JSON.stringify(shown)} ${reason}`)
  }
}

/** The scripts written without spaces, and the letters that Unicode counts to no script although only these use them (ー 〆 〼 〱–〵). */
const unspacedScripts = '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}\\u3006\\u3031-\\u3035\\u303c\\u30fc'
const inRun = '(?=[\\p{L}\\p{M}\\p{N}])'
/**
 * One run of letters, marks and digits. It does not start at a mark that belongs to no script: else the invisible mark
 * after an emoji would be a word, and all emoji would share it. Such a mark goes with the run before it.
 */
const runs = new RegExp(
  `(?<unspaced>${inRun}[${unspacedScripts}](?:${inRun}[${unspacedScripts}\\p{sc=Inherited}])*)|` +
  `${inRun}[^${unspacedScripts}\\p{sc=Inherited}](?:${inRun}[^${unspacedScripts}])*`, 'gu')

/**
 * The words of an object's text.
 *
 * @param text - any string; half surrogates separate words
 * @param field - the name that an error gives to the text
 * @returns distinct words, ascending by code point, which is the order of their UTF-8 bytes
 * @throws InvalidWordError when the text has more than objectWordsMax words or one above wordBytesMax
 */
export function wordsOf (text: string, field = 'text'): string[] {
  const words = new Set<string>()
  for (const run of runsOf(text)) {
    if (run.unspaced) {
      const characters = [...run.text]
      for (const character of characters) words.add(character)
      for (const pair of pairsOf(characters)) words.add(pair)
    } else {
      words.add(checked(run.text, field))
    }
    if (words.size > objectWordsMax) {
      throw new InvalidWordError(field, text, `has more than ${objectWordsMax} distinct words; expected a shorter text`)
    }
  }
  return ascending(words)
}

/**
 * The words that a query asks for. A keyword gives all its words ("foo-bar" gives bar and foo); two or more characters of
 * a script without spaces give their pairs, which any text that holds them in a row has too; one character gives itself.
 *
 * @param keywords - as the user gave them; an empty list asks for any object and gives no words
 * @param field - the name under which the user gave them
 * @returns distinct words, ascending by code point
 * @throws InvalidWordError for a keyword that normalizes to nothing, a word above wordBytesMax, or more than queryWordsMax words
 */
export function queryWords (keywords: readonly string[], field: string): string[] {
  const words = new Set<string>()
  for (const keyword of keywords) {
    let empty = true
    for (const run of runsOf(keyword)) {
      empty = false
      for (const word of askedOf(run)) words.add(checked(word, field))
      if (words.size > queryWordsMax) {
        throw new InvalidWordError(field, keyword, `brings the query above ${queryWordsMax} distinct words; expected fewer`)
      }
    }
    if (empty) throw new InvalidWordError(field, keyword, 'holds no letter or digit; expected a word, or no keywords at all for any object')
  }
  return ascending(words)
}

/**
 * Whether an object with these words answers a query for those. A query without words takes any object.
 *
 * @param objectWords - a set, or the list that wordsOf returned
 * @param asked - the list that queryWords returned
 */
export function matches (objectWords: ReadonlySet<string> | readonly string[], asked: readonly string[], match: 'all' | 'any'): boolean {
  if (asked.length === 0) return true
  const has = (word: string) => includes(objectWords, word)
  return match === 'all' ? asked.every(has) : asked.some(has)
}

/** Negative, zero or positive as a is below, equal to or above b by code point. Unlike <, which compares UTF-16 units. */
export function compareCodePoints (a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i)
    const right = b.charCodeAt(i)
    if (left === right) continue
    // Only a surrogate stands for a code point above every 16-bit one.
    return isSurrogate(left) === isSurrogate(right) ? left - right : isSurrogate(left) ? 1 : -1
  }
  return a.length - b.length
}

interface Run { text: string, unspaced: boolean }

function * runsOf (text: string): Generator<Run> {
  for (const found of folded(text).matchAll(runs)) {
    yield { text: found[0], unspaced: found.groups?.['unspaced'] !== undefined }
  }
}

/** JavaScript has no case folding: lower, upper, lower makes ß, ẞ and ss equal, and the two replacements settle ς and İ. */
function folded (text: string): string {
  return text.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').replace(/i\u0307+/g, 'i').normalize('NFKC')
}

function askedOf (run: Run): Iterable<string> {
  if (!run.unspaced) return [run.text]
  const characters = [...run.text]
  return characters.length === 1 ? characters : pairsOf(characters)
}

function * pairsOf (characters: readonly string[]): Generator<string> {
  let before: string | undefined
  for (const character of characters) {
    if (before !== undefined) yield before + character
    before = character
  }
}

function checked (word: string, field: string): string {
  // A UTF-16 unit takes at most three bytes, so most words need no counting.
  if (word.length * 3 > wordBytesMax && fromString(word).length > wordBytesMax) {
    throw new InvalidWordError(field, word, `is a word of more than ${wordBytesMax} bytes; expected a shorter one`)
  }
  return word
}

function ascending (words: Iterable<string>): string[] {
  return [...words].sort(compareCodePoints)
}

function includes (words: ReadonlySet<string> | readonly string[], word: string): boolean {
  if ('has' in words) return words.has(word)
  let low = 0
  let high = words.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const order = compareCodePoints(words[middle] as string, word)
    if (order === 0) return true
    if (order < 0) low = middle + 1
    else high = middle
  }
  return false
}

function isSurrogate (unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff
}
