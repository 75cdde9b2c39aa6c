// The word rule against hand-worked words and one hash over a file of place names. The hash was made by a second program
// with block ranges in place of \p{Script} and the tables of Unicode 14, so it does not merely repeat what the code says.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import {
  InvalidWordError, compareCodePoints, matches, objectWordsMax, queryWords, queryWordsMax, wordBytesMax, wordRule, wordsOf
} from '../../storage/words.ts'

const goldenHash = '562291d04038bcb601e7084038d6f1400f6b639c68b97c3cc69b8a9d68f38853'
const sample = readFileSync(new URL('./place-names.txt', import.meta.url), 'utf8')
  .split('\n').filter(line => line !== '' && !line.startsWith('#'))

/** Text, and its words in order of code points. */
const handWorked: Array<[string, string[]]> = [
  ['', []],
  ['  !!! -- ', []],
  ['2km NNE of The Geysers, CA', ['2km', 'ca', 'geysers', 'nne', 'of', 'the']],
  ["can't foo_bar 3.5km", ['3', '5km', 'bar', 'can', 'foo', 't']],
  ['Straße STRASSE', ['strasse']],
  ['İstanbul ISTANBUL', ['istanbul']],
  ['ΟΔΟΣ οδός', ['οδοσ', 'οδόσ']],
  ['Caf\u00e9 Cafe\u0301', ['caf\u00e9']],
  ['ＰＩＺＺＡ', ['pizza']],
  ['ﬁsh x² ③', ['3', 'fish', 'x2']],
  ['𐐔𐐇𐐝', ['𐐼𐐯𐑅']],
  ['𝐏𝐚𝐫𝐢𝐬', ['paris']],
  ['东京塔', ['东', '东京', '京', '京塔', '塔']],
  ['ラーメン', ['メ', 'メン', 'ラ', 'ラー', 'ン', 'ー', 'ーメ']],
  ['か\u3099', ['が']],
  ['กรุง', ['ก', 'กร', 'ง', 'ร', 'รุ', 'ุ', 'ุง']],
  ['東京Tower3月', ['tower3', '京', '月', '東', '東京']],
  ['𠮷野', ['野', '𠮷', '𠮷野']],
  ['हिन्दी में', ['में', 'हिन्दी']],
  ['القاهرة', ['القاهرة']],
  ['❤\ufe0fParis🗼', ['paris']],
  ['\ud800a\udc00', ['a']],
  ['constructor __proto__ hasOwnProperty', ['constructor', 'hasownproperty', 'proto']]
]

function refusal (act: () => unknown): InvalidWordError {
  try {
    act()
  } catch (error) {
    assert(error instanceof InvalidWordError)
    return error
  }
  return assert.fail('was not refused')
}

/** Distinct words w0, w1, ... of the given number. */
const many = (count: number) => Array.from({ length: count }, (_, i) => `w${i}`)

describe('the word rule', () => {
  for (const [text, words] of handWorked) {
    it(`finds ${words.length} words in ${JSON.stringify(text)}`, () => assert.deepEqual(wordsOf(text), words))
  }

  it('has number 1, under which a file of place names in many scripts always gives the same words', () => {
    const hash = createHash('sha256')
    for (const row of sample) {
      const asked = wordsOf(row).length === 0 ? [] : queryWords([row], 'words')
      hash.update(`${wordsOf(row).join(' ')}\t${asked.join(' ')}\n`)
    }
    assert.equal(wordRule, 1)
    assert.equal(sample.length, 368)
    assert.equal(hash.digest('hex'), goldenHash)
  })

  it('gives the same words for composed, decomposed, upper and lower case forms', () => {
    for (const row of sample) {
      const words = wordsOf(row)
      for (const form of [row.normalize('NFC'), row.normalize('NFD'), row.toUpperCase(), row.toLowerCase(), row.normalize('NFKD').toUpperCase()]) {
        assert.deepEqual(wordsOf(form), words, `${JSON.stringify(row)} as ${JSON.stringify(form)}`)
      }
    }
  })

  it('leaves words that it has made as they are', () => {
    for (const word of sample.flatMap(row => queryWords(wordsOf(row).slice(0, queryWordsMax), 'words'))) {
      assert(wordsOf(word).includes(word), JSON.stringify(word))
    }
  })

  it('orders words as their UTF-8 bytes', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 4 }), fc.string({ unit: 'binary', maxLength: 4 }), (a, b) => {
      assert.equal(Math.sign(compareCodePoints(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)))
    }))
    // The first is U+FA0E, the second U+20BB7, whose first UTF-16 unit is U+D842.
    assert.deepEqual(wordsOf('\u{20bb7} \ufa0e'), ['\ufa0e', '\u{20bb7}'])
  })
})

describe('words of a query', () => {
  it('are all words of each keyword, and pairs alone where characters follow each other without spaces', () => {
    assert.deepEqual(queryWords(['foo-bar', 'FOO'], 'words'), ['bar', 'foo'])
    assert.deepEqual(queryWords(['東京'], 'words'), ['東京'])
    assert.deepEqual(queryWords(['東京塔'], 'words'), ['京塔', '東京'])
    assert.deepEqual(queryWords(['東'], 'words'), ['東'])
    assert.deepEqual(queryWords(['3月'], 'words'), ['3', '月'])
  })

  it('are none for no keywords, which any object answers', () => {
    assert.deepEqual(queryWords([], 'words'), [])
    assert(matches([], [], 'all'))
    assert(matches([], [], 'any'))
    assert(matches(new Set(['a']), [], 'any'))
  })

  it('refuse a keyword that normalizes to nothing, by field and value, even beside good ones', () => {
    for (const keyword of ['', '   ', '!!!', '\u0301', '❤\ufe0f', '\ud800']) {
      const error = refusal(() => queryWords(['alaska', keyword], 'query.words'))
      assert.equal(error.name, 'InvalidWordError')
      assert.equal(error.field, 'query.words')
      assert.equal(error.value, keyword)
      assert.equal(error.definite, true)
      assert(error.message.startsWith(`query.words: ${JSON.stringify(keyword)} `), error.message)
    }
  })

  it('find every text that holds a run of two or more characters without spaces', () => {
    const character = fc.constantFrom(...'东京塔人々ラーメンがひらกรุเทพາຍ្កខမြန𠮷')
    const run = fc.array(character, { minLength: 1, maxLength: 6 }).map(characters => characters.join(''))
    fc.assert(fc.property(run, run, run, (before, asked, after) => {
      const words = wordsOf(`x ${before}${asked}${after}, y`)
      assert(matches(new Set(words), queryWords([asked], 'words'), 'all'))
      assert(matches(words, queryWords([asked], 'words'), 'all'))
    }))
  })
})

describe('matching', () => {
  const found = (text: string, keywords: string[], match: 'all' | 'any' = 'all') => matches(wordsOf(text), queryWords(keywords, 'words'), match)

  it('finds accents however they are composed, full-width letters, and a part of a Chinese name', () => {
    assert(found('Caf\u00e9', ['cafe\u0301']))
    assert(found('ＰＩＺＺＡ', ['pizza']))
    assert(found('东京塔', ['东京']))
    assert(!found('东京塔', ['京东']))
    assert(!found('Cafe', ['caf\u00e9']))
  })

  it('does not take names of JavaScript for words that are there', () => {
    const names = ['constructor', '__proto__', 'hasOwnProperty', 'toString', 'has', 'length', '0']
    for (const name of names) {
      assert(!found('', [name]), name)
      assert(!matches(new Set<string>(), queryWords([name], 'words'), 'any'), name)
    }
    for (const name of names) assert(found(names.join(' '), [name]), name)
  })

  it('wants all words or any of them, from a set as from a sorted list', () => {
    const vocabulary = ['a', 'b', 'c', 'd', 'e', '東', '𐐨', '\ufb50']
    const some = fc.uniqueArray(fc.constantFrom(...vocabulary))
    fc.assert(fc.property(some, some, (object, asked) => {
      const sorted = [...object].sort(compareCodePoints)
      for (const words of [new Set(object), sorted]) {
        assert.equal(matches(words, asked, 'all'), asked.every(word => object.includes(word)))
        assert.equal(matches(words, asked, 'any'), asked.length === 0 || asked.some(word => object.includes(word)))
      }
    }))
  })
})

describe('bounds of words', () => {
  it('hold for an object up to the last word', () => {
    assert.equal(wordsOf(many(objectWordsMax).join(' ')).length, objectWordsMax)
    const error = refusal(() => wordsOf(many(objectWordsMax + 1).join(' '), 'object.text'))
    assert.equal(error.field, 'object.text')
    assert(error.message.length < 200, 'the message does not repeat the whole text')
  })

  it('hold for a query, all its keywords together', () => {
    assert.equal(queryWords(many(queryWordsMax), 'words').length, queryWordsMax)
    assert.equal(refusal(() => queryWords(many(queryWordsMax + 1), 'words')).value, `w${queryWordsMax}`)
    assert.equal(queryWords([...many(queryWordsMax), 'W0'], 'words').length, queryWordsMax)
  })

  it('hold for the bytes of a word, not its letters', () => {
    assert.equal(wordsOf('a'.repeat(wordBytesMax)).length, 1)
    assert.equal(wordsOf('é'.repeat(wordBytesMax / 2)).length, 1)
    refusal(() => wordsOf('a'.repeat(wordBytesMax + 1)))
    refusal(() => wordsOf('é'.repeat(wordBytesMax / 2 + 1)))
    assert.equal(refusal(() => queryWords(['A'.repeat(wordBytesMax + 1)], 'words')).field, 'words')
    assert.equal(wordsOf('東'.repeat(wordBytesMax)).length, 2)
  })
})
