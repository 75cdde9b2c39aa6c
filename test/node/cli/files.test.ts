// What files hold, as it is read piece by piece: objects, lines and rows with their places, and nothing passed over.

import assert from 'node:assert/strict'
import { csvRows } from '../../../node/cli/csv.ts'
import { jsonObjects } from '../../../node/cli/json-objects.ts'
import { textLines } from '../../../node/cli/text-lines.ts'

describe('files cut anywhere', () => {
  async function * cut (text: string, size: number): AsyncGenerator<string> {
    for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
  }
  const collect = async <T>(source: AsyncIterable<T>): Promise<T[]> => {
    const all: T[] = []
    for await (const one of source) all.push(one)
    return all
  }

  it('give the same JSON objects: lines, sequences, lists, and Features of a collection', async () => {
    const objects = [{ a: 1, s: '}{"\\"' }, { b: [{ c: {} }], '"features': [1] }, {}]
    const lines = objects.map(object => JSON.stringify(object)).join('\n')
    const sequence = objects.map(object => `\x1e${JSON.stringify(object, null, 1)}\n`).join('')
    const collection = JSON.stringify({ type: 'FeatureCollection', meta: { features: 'no', x: [[{ y: 1 }]] }, features: objects, after: { z: [1] } }, null, 2)
    const list = JSON.stringify([...objects, { features: [1] }])
    for (const size of [1, 2, 7, 10_000]) {
      for (const text of [lines, sequence, collection]) {
        assert.deepEqual((await collect(jsonObjects(cut(text, size)))).map(({ text }) => JSON.parse(text)), objects, `${size} ${text.slice(0, 30)}`)
      }
      assert.deepEqual((await collect(jsonObjects(cut(list, size)))).map(({ text }) => JSON.parse(text)), [...objects, { features: [1] }], String(size))
      assert.deepEqual((await collect(textLines(cut(`\n${lines}\r\n \n7`, size)))).map(({ text, line }) => [JSON.parse(text), line]), [[objects[0], 2], [objects[1], 3], [objects[2], 4], [7, 6]], String(size))
    }
  })

  it('give the line on which each object begins', async () => {
    const text = '{"type": "FeatureCollection",\n "features": [\n  {"a":\n 1},\n\n{}\n, {}]\n, "x": [\n]}\n{"b":2} {}\n[{}\n,{}]'
    for (const size of [1, 3, 10_000]) assert.deepEqual((await collect(jsonObjects(cut(text, size)))).map(({ line }) => line), [3, 6, 7, 10, 10, 11, 12], String(size))
  })

  it('pass over nothing that is no object, and name its line', async () => {
    const cases: Array<[string, RegExp]> = [
      ['not json', /^line 1: expected an object, found "not json"$/],
      ['{}\n\n<html>\n{}', /^line 3: expected an object, found "<html>"$/],
      ['[1,2]', /^line 1: expected an object, found "1,2\]"$/],
      ['[{}\n,null]', /^line 2: expected an object, found "null\]"$/],
      ['[[{}]]', /^line 1: expected an object, found "\[\{\}\]\]"$/],
      ['{}\noops "\n{}', /^line 2: expected an object, found "oops \\""$/],
      ['{}\n"text"\n', /^line 2: expected an object/],
      ['{}]', /^line 1: expected an object, found "\]"$/],
      ['{}}', /^line 1: expected an object, found "}"$/],
      ['\n{"a": "b}\n{"c": "d"}', /^line 2: a text has no closing quote/],
      ['{"a": [}\n{}]', /^line 1: expected \], found }$/],
      ['{}\n{"a": {}\n', /^line 2: the file ends within the object that begins here; is it cut off\?$/],
      ['\n[{},', /^line 2: the file ends within the list that begins here; is it cut off\?$/],
      ['{"type":"FeatureCollection",\n"features":[{}', /^line 1: the file ends within the list/],
      ['{"type":"FeatureCollection",\n"features":[{}]', /^line 1: the file ends within the object/],
      ['{"type":"FeatureCollection","features":[{},\noops]}', /^line 2: expected an object, found "oops\]\}"$/],
      ['{"type":"FeatureCollection","features":[{}] oops}', /^line 1: the object around "features" is no FeatureCollection$/],
      ['\n{"type":"Other","features":[{}]}', /^line 2: the object around "features" is no FeatureCollection$/]
    ]
    for (const [text, expected] of cases) {
      await assert.rejects(collect(jsonObjects(cut(text, 10_000))), { name: 'SyntaxError', message: expected }, text)
      // Cut into characters, what a message can show is only one of them; the line stays.
      const [line = ''] = /line \d+: /.exec(expected.source) ?? []
      await assert.rejects(collect(jsonObjects(cut(text, 1))), { name: 'SyntaxError', message: new RegExp(`^${line}`) }, text)
    }
  })

  it('give the same CSV rows, with quotes, commas and line breaks in cells', async () => {
    const text = 'a, b\r\n"x, ""y""\nz",1\r\n\r\n"",\n'
    for (const size of [1, 2, 3, 1_000]) assert.deepEqual(await collect(csvRows(cut(text, size))), [{ number: 2, cells: { a: 'x, "y"\nz', b: '1' } }, { number: 4, cells: { a: '', b: '' } }], String(size))
    await assert.rejects(collect(csvRows(cut('a,b\n1\n', 2))), /row 2 has 1 cells, the header 2/)
    await assert.rejects(collect(csvRows(cut('a\n"1\n', 2))), /row 2 has a quote that is not closed/)
    await assert.rejects(collect(csvRows(cut('a\n1\n"2\n3\n"4"\n', 2))), /row 3 has "4" behind a closing quote/)
    assert.deepEqual((await collect(csvRows(cut('a\n5" pipe\n', 2)))).map(({ cells }) => cells), [{ a: '5" pipe' }])
  })
})
